#include "passes/layers/layer_rhythm.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

namespace tracedb {
namespace {

// ---- Where layers begin

bool alike(Traits a, Traits b) { return (a & b) != 0; }

class Cutter {
 public:
  Cutter(std::span<const Traits> sequence, std::vector<MixerRun> runs) : sequence_(sequence), runs_(std::move(runs)) {}

  LayerCuts cut() {
    const std::size_t lead = lead_of_mixers();
    LayerCuts cuts;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      cuts.begin.push_back(begin_of(i == 0 ? 0 : runs_[i - 1].last + 1, runs_[i].first, lead));
    }
    cuts.tail = end_of_last(cuts.begin);
    for (std::size_t i = 1; i < runs_.size(); ++i) cuts.begin[i] = with_addition(cuts.begin[i]);
    cuts.tail = with_addition(cuts.tail);
    return cuts;
  }

 private:
  [[nodiscard]] bool is_norm(std::size_t i) const { return (sequence_[i] & kNormTrait) != 0; }

  // How many kernels of a layer come before its mixers.
  [[nodiscard]] std::size_t lead_of_mixers() const {
    std::size_t lead = 0;
    // The first layer may differ from the others in its norm; the second and third then agree.
    for (std::size_t i = 0; i + 1 < runs_.size() && i < 3 && lead == 0; ++i) lead = common_lead(i, i + 1);
    return lead;
  }

  [[nodiscard]] std::size_t common_lead(std::size_t one, std::size_t other) const {
    const std::size_t room = std::min(runs_[one].first - (one == 0 ? 0 : runs_[one - 1].last + 1),
                                      runs_[other].first - runs_[other - 1].last - 1);
    std::size_t common = 0;
    while (common < room &&
           alike(sequence_[runs_[one].first - common - 1], sequence_[runs_[other].first - common - 1])) {
      ++common;
    }
    if (one > 0 && common == room) return nearest_lead(other);  // whole layers are alike: nothing to tell them apart
    for (std::size_t lead = common; lead > 0; --lead) {
      if (is_norm(runs_[other].first - lead)) return lead;
    }
    return 0;
  }

  // From the norm before the last products before the mixers.
  [[nodiscard]] std::size_t nearest_lead(std::size_t run) const {
    bool product = false;
    for (std::size_t i = runs_[run].first; i > runs_[run - 1].last + 1; --i) {
      if ((sequence_[i - 1] & kGemmTrait) != 0) product = true;
      if (product && is_norm(i - 1)) return runs_[run].first - (i - 1);
    }
    return 0;
  }

  [[nodiscard]] std::size_t with_addition(std::size_t norm) const {
    const bool fits = norm > 1 && norm < sequence_.size() && is_norm(norm) && sequence_[norm - 1] == kElementwiseTrait;
    return fits ? norm - 1 : norm;
  }

  // The norm in [from, mixer) whose distance from the mixer is nearest to the lead; without one, the lead itself.
  [[nodiscard]] std::size_t begin_of(std::size_t from, std::size_t mixer, std::size_t lead) const {
    const std::size_t wanted = mixer - std::min(lead, mixer - from);
    return nearest_norm(from, mixer, wanted).value_or(wanted);
  }

  [[nodiscard]] std::optional<std::size_t> nearest_norm(std::size_t from, std::size_t to, std::size_t wanted) const {
    constexpr std::size_t kReach = 8;
    for (std::size_t away = 0; away <= kReach; ++away) {
      if (wanted >= from + away && wanted - away < to && is_norm(wanted - away)) return wanted - away;
      if (wanted + away < to && is_norm(wanted + away)) return wanted + away;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::size_t end_of_last(const std::vector<std::size_t>& begin) const {
    std::vector<std::size_t> behind;  // kernels from the mixers to the next layer
    for (std::size_t i = 0; i + 1 < runs_.size(); ++i) behind.push_back(begin[i + 1] - runs_[i].last);
    // The last layers tell best: the first ones of some models have no experts.
    const std::size_t half = behind.size() / 2;
    std::sort(behind.begin() + static_cast<std::ptrdiff_t>(half), behind.end());
    const std::size_t usual = behind[half + (behind.size() - half) / 2];
    const std::size_t wanted = runs_.back().last + usual;
    const auto norm = nearest_norm(runs_.back().last + 1 + usual / 2, sequence_.size(), wanted);
    if (norm && wanted < sequence_.size()) return *norm;
    // Without a norm behind it there is no addition before that either.
    return std::min(wanted - (begin.back() - with_addition(begin.back())), sequence_.size());
  }

  std::span<const Traits> sequence_;
  std::vector<MixerRun> runs_;
};
}  // namespace

LayerCuts layer_cuts(std::span<const Traits> sequence, std::vector<MixerRun> runs) {
  if (runs.size() < 2) return {};
  return Cutter(sequence, std::move(runs)).cut();
}

std::vector<std::size_t> pass_begins(std::span<const Traits> sequence, const std::vector<MixerRun>& runs) {
  std::vector<std::size_t> begins = {0};
  for (std::size_t r = 0; r + 1 < runs.size(); ++r) {
    std::optional<std::size_t> begin;
    for (std::size_t i = runs[r].last + 1; i < runs[r + 1].first; ++i) {
      if ((sequence[i] & kSamplingTrait) != 0) begin = i + 1;
      if ((sequence[i] & kEmbeddingTrait) == 0) continue;
      begin = i;
      break;
    }
    if (begin) begins.push_back(*begin);
  }
  // An embedding in every layer is part of the layer.
  if (begins.size() * 2 > runs.size()) begins.resize(1);
  return begins;
}

namespace {

constexpr double kOtherForm = 0.3;  // difference of layers of two stacks
constexpr double kOtherPass = 0.5;  // of passes over one: a prompt's and a token's, say

constexpr Traits kPerceptronTraits = kActivationTrait | kMoeTrait;

bool any(std::span<const Traits> kernels, Traits wanted) {
  return std::ranges::any_of(kernels, [&](Traits traits) { return (traits & wanted) != 0; });
}

// ---- Which runs of mixers make a layer

class Chains {
 public:
  Chains(std::span<const Traits> sequence, const std::vector<MixerRun>& runs) : sequence_(sequence), runs_(runs) {}

  std::vector<LayerMixers> layers() {
    find_inner();
    std::vector<std::pair<std::size_t, std::size_t>> chains;  // [first, last + 1) of runs
    for (std::size_t i = 0; i < runs_.size();) {
      std::size_t end = i + 1;
      while (end < runs_.size() && inner_[end - 1]) ++end;
      chains.emplace_back(i, end);
      i = end;
    }
    std::vector<LayerMixers> out;
    for (std::size_t c = 0; c < chains.size(); ++c) {
      const auto size = [&](std::size_t at) {
        return at < chains.size() ? chains[at].second - chains[at].first : std::size_t{0};  // SIZE_MAX: none before
      };
      const std::size_t own = size(c);
      constexpr std::size_t kMostMixers = 4;
      const bool recurs = own > 1 && own <= kMostMixers && (size(c - 1) == own || size(c + 1) == own);
      if (recurs) {
        out.push_back({{runs_[chains[c].first].first, runs_[chains[c].second - 1].last}, own});
      } else {
        for (std::size_t i = chains[c].first; i < chains[c].second; ++i) out.push_back({runs_[i], 1});
      }
    }
    return out;
  }

 private:
  // What follows a run until the next one, or the end.
  [[nodiscard]] std::span<const Traits> between(std::size_t run) const {
    const std::size_t end = run + 1 < runs_.size() ? runs_[run + 1].first : sequence_.size();
    return sequence_.subspan(runs_[run].last + 1, end - runs_[run].last - 1);
  }
  [[nodiscard]] std::span<const Traits> mixers(std::size_t run) const {
    return sequence_.subspan(runs_[run].first, runs_[run].last + 1 - runs_[run].first);
  }

  // Whether what follows a run chooses experts that work behind the next run, which chooses, too: two micro-batches
  // that take turns.
  [[nodiscard]] bool only_routes(std::size_t run) const {
    const auto has_experts = [](std::span<const Traits> kernels) {
      constexpr Traits kExperts = kMoeTrait | kGemmTrait;
      return std::ranges::any_of(
          kernels, [](Traits traits) { return (traits & kActivationTrait) != 0 || (traits & kExperts) == kExperts; });
    };
    return !has_experts(between(run)) && has_experts(between(run + 1)) && any(between(run + 1), kMoeTrait);
  }

  // Which stretches between runs lie within a layer.
  void find_inner() {
    inner_.assign(runs_.size(), false);
    bool perceptrons = false;
    for (std::size_t i = 0; i + 1 < runs_.size(); ++i) perceptrons = perceptrons || any(between(i), kPerceptronTraits);
    if (!perceptrons) return find_inner_by_products();
    for (std::size_t i = 0; i + 1 < runs_.size(); ++i) {
      inner_[i] = any(between(i), kNormTrait) && (!any(between(i), kPerceptronTraits) || only_routes(i)) &&
                  !any(mixers(i), kSsmTrait) && !any(mixers(i + 1), kSsmTrait);
    }
  }

  // No name shows an activation: of stretches that take turns those with two products less, from the first one on.
  void find_inner_by_products() {
    if (runs_.size() < 4 || runs_.size() % 2 != 0) return;
    std::size_t most_inner = 0;
    std::size_t least_outer = SIZE_MAX;
    for (std::size_t i = 0; i + 1 < runs_.size(); ++i) {
      const auto kernels = between(i);
      const auto products = static_cast<std::size_t>(
          std::ranges::count_if(kernels, [](Traits traits) { return (traits & kGemmTrait) != 0; }));
      if (i % 2 == 1) least_outer = std::min(least_outer, products);
      if (i % 2 == 1) continue;
      most_inner = std::max(most_inner, products);
      if (!any(kernels, kNormTrait) || any(mixers(i), kSsmTrait) || any(mixers(i + 1), kSsmTrait)) return;
    }
    if (most_inner + 2 > least_outer) return;
    for (std::size_t i = 0; i + 1 < runs_.size(); i += 2) inner_[i] = true;
  }

  std::span<const Traits> sequence_;
  const std::vector<MixerRun>& runs_;
  std::vector<bool> inner_;  // by run: the stretch behind it
};

// ---- Where one stack or pass ends and the next begins, with nothing that marks it

class Borders {
 public:
  Borders(std::span<const Traits> sequence, std::span<const LayerMixers> layers, const LayerForms& forms)
      : sequence_(sequence), layers_(layers), forms_(forms) {}

  // Layers behind which a border is, ascending.
  std::vector<std::size_t> find() {
    by_mixers();
    by_form();
    const std::vector<std::size_t> coarse(borders_.begin(), borders_.end());
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= coarse.size(); ++i) {
      const std::size_t end = i < coarse.size() ? coarse[i] + 1 : layers_.size();
      by_excess(begin, end);
      begin = end;
    }
    return {borders_.begin(), borders_.end()};
  }

 private:
  void by_mixers() {
    for (std::size_t i = 1; i + 2 < layers_.size(); ++i) {
      const std::size_t before = layers_[i].mixers;
      const std::size_t after = layers_[i + 1].mixers;
      if (before != after && layers_[i - 1].mixers == before && layers_[i + 2].mixers == after) borders_.insert(i);
    }
  }

  struct Change {
    std::size_t layer, from, to;  // classes of forms
    bool excess;                  // work lies here that is of no layer
  };

  void by_form() {
    std::vector<Change> changes;
    for (std::size_t i = 2; i + 2 < forms_.size(); ++i) {
      const std::size_t from = forms_.of(i - 1);
      const std::size_t to = forms_.of(i + 1);
      if (from == to || forms_.of(i - 2) != from || forms_.of(i + 2) != to) continue;
      if (difference(forms_.form(from), forms_.form(to)) <= kOtherForm) continue;
      const Transition how = transition(i);
      if (how.both_change) changes.push_back({i, from, to, how.excess});
    }
    for (const Change& change : changes) {
      // There and back without anything in between: layers that take turns.
      const bool turns = std::ranges::any_of(changes, [&](const Change& other) {
        return other.from == change.to && other.to == change.from && !other.excess && !change.excess;
      });
      if (!turns) borders_.insert(change.layer);
    }
  }

  [[nodiscard]] std::span<const Traits> stretch(std::size_t i) const {
    const std::size_t begin = layers_[i].run.last + 1;
    return sequence_.subspan(begin, layers_[i + 1].run.first - begin);
  }

  // A stretch that leads from layers of one form to layers of another begins like those before it and ends like those
  // behind it, more so than the other way round. What it has in between is of no layer.
  struct Transition {
    bool both_change = false;  // what follows the mixers, and what precedes them
    bool excess = false;       // work of its own in between
  };

  [[nodiscard]] Transition transition(std::size_t i) const {
    const auto own = stretch(i);
    std::size_t begins[2] = {};  // like those before, like those behind
    std::size_t ends[2] = {};
    for (const std::size_t other : {i - 2, i - 1, i + 1, i + 2}) {
      const auto like = stretch(other);
      const auto head = std::mismatch(own.begin(), own.end(), like.begin(), like.end()).first - own.begin();
      const auto tail = std::mismatch(own.rbegin(), own.rend(), like.rbegin(), like.rend()).first - own.rbegin();
      const std::size_t side = other < i ? 0 : 1;
      begins[side] = std::max(begins[side], static_cast<std::size_t>(head));
      ends[side] = std::max(ends[side], static_cast<std::size_t>(tail));
    }
    Transition out{begins[0] > begins[1] && ends[1] > ends[0], false};
    constexpr std::size_t kLeast = 3;
    if (out.both_change && begins[0] + ends[1] + kLeast <= own.size()) {
      out.excess = any(own.subspan(begins[0], own.size() - begins[0] - ends[1]), kGemmTrait);
    }
    return out;
  }

  // A border every so many of the layers [begin, end), where each time about the same exceeds what is between others.
  void by_excess(std::size_t begin, std::size_t end) {
    if (end - begin < 4) return;
    std::size_t longest = begin;
    for (std::size_t i = begin; i + 1 < end; ++i) {
      if (form(i).kernels > form(longest).kernels) longest = i;
    }
    std::vector<std::size_t> found;
    std::vector<std::size_t> others;
    for (std::size_t i = begin; i + 1 < end; ++i) {
      (difference(form(i), form(longest)) <= kOtherForm ? found : others).push_back(i);
    }
    if (others.empty() || (end - begin) % (found.size() + 1) != 0) return;
    const std::size_t each = (end - begin) / (found.size() + 1);
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (found[i] + 1 != begin + (i + 1) * each) return;
      for (const std::size_t other : others) {
        if (!exceeds(form(found[i]), form(other))) return;
      }
    }
    borders_.insert(found.begin(), found.end());
  }

  static bool exceeds(const LayerForm& form, const LayerForm& usual) {
    return form.kernels >= usual.kernels + 6 && form.products >= usual.products + 2;
  }
  [[nodiscard]] const LayerForm& form(std::size_t stretch) const { return forms_.form(forms_.of(stretch)); }

  std::span<const Traits> sequence_;
  std::span<const LayerMixers> layers_;
  const LayerForms& forms_;
  std::set<std::size_t> borders_;
};

// ---- A step

// Layers that follow each other, with what is around them.
struct RhythmPart {
  std::vector<LayerMixers> layers;
  LayerForm form;
  Traits embeds = 0;  // tokens, or patches by a convolution: before the first layer
  std::size_t from = 0, to = 0;
  bool marked = false;
  std::size_t stack = SIZE_MAX;
};

class RhythmFinder {
 public:
  RhythmFinder(std::span<const Traits> sequence, std::span<const std::size_t> joints)
      : sequence_(sequence), marks_(joints.begin(), joints.end()) {}

  LayerRhythm run() {
    find_marks();
    for (std::size_t i = 0; i < marks_.size(); ++i) {
      add_parts(marks_[i], i + 1 < marks_.size() ? marks_[i + 1] : sequence_.size());
    }
    for (std::size_t i = 0; i < parts_.size(); ++i) assign(i);
    leave_out_fragments();
    keep_in_bounds();
    return finish();
  }

 private:
  void find_marks() {
    const std::vector<MixerRun> runs = mixer_runs(sequence_);
    for (const std::size_t begin : pass_begins(sequence_, runs)) marks_.push_back(begin);
    add_convolutions(runs);
    std::ranges::sort(marks_);
    marks_.erase(std::unique(marks_.begin(), marks_.end()), marks_.end());
  }

  // Convolutions that cut images or sounds into tokens: seldom, where those of every layer are part of it.
  void add_convolutions(const std::vector<MixerRun>& runs) {
    std::vector<std::size_t> found;
    for (std::size_t r = 0; r + 1 < runs.size(); ++r) {
      for (std::size_t i = runs[r].last + 1; i < runs[r + 1].first; ++i) {
        if ((sequence_[i] & kConvolutionTrait) == 0) continue;
        found.push_back(i);
        break;
      }
    }
    constexpr std::size_t kSeldom = 4;
    if (found.size() * kSeldom <= runs.size()) marks_.insert(marks_.end(), found.begin(), found.end());
  }

  void add_parts(std::size_t from, std::size_t to) {
    const auto block = sequence_.subspan(from, to - from);
    const std::vector<LayerMixers> layers = Chains(block, mixer_runs(block)).layers();
    const LayerForms forms(block, layers);
    const std::vector<std::size_t> borders = Borders(block, layers, forms).find();
    std::size_t begin = 0;
    for (std::size_t b = 0; b <= borders.size(); ++b) {
      const std::size_t end = b < borders.size() ? borders[b] + 1 : layers.size();
      if (end - begin > 1) {
        RhythmPart part;
        for (std::size_t i = begin; i < end; ++i) {
          const LayerMixers& layer = layers[i];
          part.layers.push_back({{layer.run.first + from, layer.run.last + from}, layer.mixers});
        }
        part.form = forms.form(forms.usual(begin, end - 1));
        part.from = begin == 0 ? from : layers[begin - 1].run.last + 1 + from;
        part.to = end == layers.size() ? to : layers[end].run.first + from;
        part.marked = begin == 0;
        for (std::size_t i = part.from; i < part.layers.front().run.first; ++i) {
          part.embeds |= sequence_[i] & (kEmbeddingTrait | kConvolutionTrait);
        }
        parts_.push_back(std::move(part));
      }
      begin = end;
    }
  }

  static std::size_t mixers(const RhythmPart& part) { return part.layers[part.layers.size() / 2].mixers; }

  void assign(std::size_t place) {
    RhythmPart& part = parts_[place];
    double least = 1;
    for (std::size_t i = 0; i < place; ++i) {
      const RhythmPart& other = parts_[i];
      if (other.layers.size() != part.layers.size() || mixers(other) != mixers(part)) continue;
      if (other.embeds != 0 && part.embeds != 0 && (other.embeds & part.embeds) == 0) continue;
      const bool next = i + 1 == place && !part.marked;
      const double apart = difference(other.form, part.form);
      if (apart >= least || apart > (next ? kOtherForm : kOtherPass)) continue;
      least = apart;
      part.stack = other.stack;
    }
    if (part.stack == SIZE_MAX) {
      part.stack = stacks_.size();
      stacks_.push_back({part.layers.size(), mixers(part), 0});
    }
    ++stacks_[part.stack].passes;
  }

  // At the ends of a recording a pass over a stack may not be whole.
  void leave_out_fragments() {
    if (parts_.size() < 3) return;
    for (RhythmPart* part : {&parts_.front(), &parts_.back()}) {
      const bool fragment = std::ranges::any_of(parts_, [&](const RhythmPart& other) {
        return other.stack != part->stack && stacks_[part->stack].passes == 1 && stacks_[other.stack].passes > 1 &&
               other.layers.size() > part->layers.size() && mixers(other) == mixers(*part) &&
               difference(other.form, part->form) <= kOtherForm;
      });
      if (fragment) stacks_[part->stack].passes = 0;
    }
  }

  // A sequence with many has no rhythm: what repeats most is taken for its layers.
  void keep_in_bounds() {
    constexpr std::size_t kMostStacks = 8;
    if (stacks_.size() <= kMostStacks) return;
    const auto most = std::ranges::max_element(stacks_, {}, &RhythmStack::layers);
    for (RhythmStack& stack : stacks_) stack.passes = &stack == &*most ? stack.passes : 0;
  }

  LayerRhythm finish() {
    LayerRhythm out;
    std::vector<std::size_t> place(stacks_.size());
    for (std::size_t i = 0; i < stacks_.size(); ++i) {
      place[i] = out.stacks.size();
      if (stacks_[i].passes > 0) out.stacks.push_back(stacks_[i]);
    }
    for (const RhythmPart& part : parts_) {
      if (stacks_[part.stack].passes > 0) out.passes.push_back(pass_of(part, place[part.stack]));
    }
    return out;
  }

  [[nodiscard]] RhythmPass pass_of(const RhythmPart& part, std::size_t stack) const {
    std::vector<MixerRun> runs;
    for (const LayerMixers& layer : part.layers)
      runs.push_back({layer.run.first - part.from, layer.run.last - part.from});
    RhythmPass pass{stack, layer_cuts(sequence_.subspan(part.from, part.to - part.from), std::move(runs)), part.from,
                    part.to, part.marked};
    for (std::size_t& begin : pass.cuts.begin) begin += part.from;
    pass.cuts.tail += part.from;
    return pass;
  }

  std::span<const Traits> sequence_;
  std::vector<std::size_t> marks_;  // where parts begin; 0 among them
  std::vector<RhythmPart> parts_;
  std::vector<RhythmStack> stacks_;
};

constexpr double kAlikeDifference = 0.15;

std::uint64_t mixed(Traits traits) {
  std::uint64_t value = (traits + 1) * 0x9e3779b97f4a7c15;
  value ^= value >> 29;
  return value * 0xbf58476d1ce4e5b9;
}

// Of the kernels, whatever their order.
std::uint64_t hash_of(std::span<const Traits> kernels) {
  std::uint64_t sum = kernels.size();
  for (const Traits traits : kernels) sum += mixed(traits);
  return sum;
}

LayerForm form_of(std::span<const Traits> kernels) {
  std::map<Traits, std::uint32_t> counts;
  LayerForm form;
  for (const Traits traits : kernels) {
    ++counts[traits];
    form.products += (traits & kGemmTrait) != 0 ? 1 : 0;
  }
  form.counts.assign(counts.begin(), counts.end());
  form.kernels = kernels.size();
  return form;
}

}  // namespace

LayerRhythm layer_rhythm(std::span<const Traits> sequence, std::span<const std::size_t> joints) {
  return RhythmFinder(sequence, joints).run();
}

double difference(const LayerForm& a, const LayerForm& b) {
  if (a.kernels + b.kernels == 0) return 0;
  std::size_t apart = 0;
  auto x = a.counts.begin();
  auto y = b.counts.begin();
  while (x != a.counts.end() || y != b.counts.end()) {
    if (y == b.counts.end() || (x != a.counts.end() && x->first < y->first)) {
      apart += (x++)->second;
    } else if (x == a.counts.end() || y->first < x->first) {
      apart += (y++)->second;
    } else {
      apart += std::max(x->second, y->second) - std::min(x->second, y->second);
      ++x, ++y;
    }
  }
  return static_cast<double>(apart) / static_cast<double>(a.kernels + b.kernels);
}

LayerForms::LayerForms(std::span<const Traits> sequence, std::span<const LayerMixers> layers) {
  std::unordered_map<std::uint64_t, std::size_t> known;  // by hash
  for (std::size_t i = 0; i + 1 < layers.size(); ++i) {
    const std::size_t begin = layers[i].run.last + 1;
    const auto kernels = sequence.subspan(begin, layers[i + 1].run.first - begin);
    const auto [entry, is_new] = known.try_emplace(hash_of(kernels), 0);
    if (is_new) {
      LayerForm form = form_of(kernels);
      const auto like = std::ranges::find_if(
          forms_, [&](const LayerForm& each) { return difference(each, form) <= kAlikeDifference; });
      entry->second = static_cast<std::size_t>(like - forms_.begin());
      constexpr std::size_t kMostForms = 64;  // a sequence with more has no rhythm
      if (like == forms_.end() && forms_.size() == kMostForms) entry->second = kMostForms - 1;
      if (like == forms_.end() && forms_.size() < kMostForms) forms_.push_back(std::move(form));
    }
    class_.push_back(entry->second);
  }
}

std::size_t LayerForms::usual(std::size_t from, std::size_t to) const {
  std::vector<std::size_t> counts(forms_.size());
  for (std::size_t i = from; i < to; ++i) ++counts[class_[i]];
  return static_cast<std::size_t>(std::ranges::max_element(counts) - counts.begin());
}

}  // namespace tracedb
