#include "passes/layers/layer_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <set>

#include "base/text/amounts.h"
#include "base/unknown.h"
#include "passes/classify/kernel_traits.h"
#include "passes/columns/event_columns.h"
#include "passes/layers/layer_rhythm.h"
#include "passes/steps/step_stats.h"

namespace tracedb {
namespace {

constexpr double kOneStream = 0.95;  // of the mixers

// One stack of layers of a step on a device.
struct StepStack {
  LayerSource source = LayerSource::kNone;
  FoundStack found;
  std::int32_t first = 0;  // number that its layer 0 has before the stacks of all parts are numbered
  std::size_t layers = 0;  // seen
  std::size_t begin = 0;   // place among the rows of the part
};

// The kernels of one step on one device.
struct StepOnDevice {
  std::size_t step = 0;  // place + 1; 0: no steps at all
  std::span<const std::uint32_t> rows;
  std::vector<StepStack> stacks;  // in the order of their first kernels
  bool dropped = false;           // its steps' kind keeps other layers, or none
};

// Places [first, second) among the rows of a part.
using Stretch = std::pair<std::size_t, std::size_t>;

// The layers of one step on one device: schema/METRICS.md 8. From names (layer_sources.h), and from rhythm
// (layer_rhythm.h) for what names leave open. `of_kernel`: by row; written by find(). `captured` may be null.
class StepLayerFinder {
 public:
  StepLayerFinder(const Index& index, const EventTables& events, const std::vector<Traits>& traits,
                  const CaptureLayers* captured, LargeVector<std::int32_t>& of_kernel)
      : events_(events),
        hints_(index, {events.kernels, events.kernels.int64s("dur"), &traits}, captured),
        names_(events.kernels.ids("name_id")),
        dur_(events.kernels.int64s("dur")),
        all_traits_(traits),
        of_kernel_(of_kernel) {}

  // Gives the kernels of a part layers, numbered within it, and lists its stacks. `rhythm`: whether its rhythm is that
  // of layers.
  void find(StepOnDevice& part, bool rhythm) {
    bool any_hint = false;
    bare_.assign(1, {0, part.rows.size()});
    for (std::size_t i = 0; const LayerHint* hint = any_hint ? nullptr : hints_.get(i); ++i) {
      any_hint = hinted(part, *hint, rhythm);
    }
    if (rhythm && !bare_.empty()) find_rhythm(part);
    if (any_hint) mark_ends(part);
    std::ranges::stable_sort(part.stacks, {}, &StepStack::begin);
  }

  LayerSources& hints() { return hints_; }

 private:
  // Layers of the stretches that no hint knows of.
  void find_rhythm(StepOnDevice& part) {
    prepare_traits();
    choose_sequence(part.rows);
    const LayerRhythm& found = rhythm_of_sequence();
    std::int32_t next = 0;
    for (const StepStack& stack : part.stacks) next = std::max(next, stack.first + stack.found.width);
    std::vector<std::int32_t> first;  // by stack of the rhythm
    for (std::size_t s = 0; s < found.stacks.size(); ++s) {
      const RhythmStack& stack = found.stacks[s];
      const auto pass = std::ranges::find_if(found.passes, [&](const RhythmPass& each) { return each.stack == s; });
      const auto width = static_cast<std::int32_t>(stack.layers);
      part.stacks.push_back({LayerSource::kRhythm,
                             {"", width, stack.mixers, stack.passes},
                             next,
                             stack.layers,
                             places_[pass->cuts.begin.front()]});
      first.push_back(next);
      next += width;
    }
    for (std::size_t p = 0; p < found.passes.size(); ++p) {
      const RhythmPass* before = p > 0 ? &found.passes[p - 1] : nullptr;
      const RhythmPass* after = p + 1 < found.passes.size() ? &found.passes[p + 1] : nullptr;
      number_layers(part.rows, found.passes[p], before, after, first[found.passes[p].stack]);
    }
  }

  // Gives the kernels of a pass their layers. What is between two stacks belongs to neither; what is between two passes
  // over one is tail and head where it is marked which is which.
  void number_layers(std::span<const std::uint32_t> rows, const RhythmPass& pass, const RhythmPass* before,
                     const RhythmPass* after, std::int32_t first) {
    const auto place = [&](std::size_t at) { return at < places_.size() ? places_[at] : rows.size(); };
    const bool repeats = before != nullptr && before->stack == pass.stack && pass.marked;
    const bool repeated = after != nullptr && after->stack == pass.stack && after->marked;
    std::size_t i = before == nullptr ? 0 : repeats ? place(pass.from) : place(pass.cuts.begin.front());
    const auto fill_to = [&](std::size_t to, std::int32_t layer) {
      for (; i < to; ++i) {
        std::int32_t& own = of_kernel_[rows[i]];
        if (own == kNoLayer) own = layer;  // not where a hint knows better
      }
    };
    const std::size_t end = after == nullptr ? rows.size()
                            : repeated       ? place(after->from)
                                             : std::min(place(pass.to), place(after->cuts.begin.front()));
    const std::size_t tail = std::min(place(pass.cuts.tail), end);
    std::int32_t layer = kHead;
    for (std::size_t next = 0; next < pass.cuts.begin.size(); ++next) {
      fill_to(std::min(place(pass.cuts.begin[next]), tail), layer);
      layer = first + static_cast<std::int32_t>(next);
    }
    fill_to(tail, layer);
    if (after == nullptr || repeated) fill_to(end, kTail);
  }

  void prepare_traits() {
    if (traits_.empty()) traits_ = without_seldom_mixers(names_, all_traits_);
  }

  // Rhythm shows on the stream that has the mixers; what runs beside it belongs to the layer that runs meanwhile.
  void choose_sequence(std::span<const std::uint32_t> rows) {
    const auto stream = events_.kernels.ids("stream_id");
    std::map<std::uint32_t, std::size_t> mixers;  // by stream
    std::size_t all = 0;
    std::size_t count = 0;
    for (const auto& [from, to] : bare_) count += to - from;
    sequence_.resize(count);
    places_.resize(count);
    joints_.clear();
    std::size_t next = 0;
    for (const auto& [from, to] : bare_) {
      for (std::size_t i = from; i < to; ++i, ++next) {
        sequence_[next] = traits_of(traits_, names_[rows[i]]);
        places_[next] = i;
        if ((sequence_[next] & kMixerTraits) == 0) continue;
        ++mixers[stream[rows[i]]];
        ++all;
      }
    }
    const auto most = std::ranges::max_element(mixers, {}, [](const auto& one) { return one.second; });
    const bool one = most != mixers.end() && static_cast<double>(most->second) >= kOneStream * static_cast<double>(all);
    if (one) keep_stream(rows, most->first);
    for (std::size_t i = 1, bare = 1; i < places_.size() && bare < bare_.size(); ++i) {
      if (places_[i] < bare_[bare].first) continue;
      joints_.push_back(i);
      while (bare < bare_.size() && bare_[bare].first <= places_[i]) ++bare;
    }
  }

  // Steps of one kind have few different sequences.
  const LayerRhythm& rhythm_of_sequence() {
    for (const Known& known : known_) {
      if (known.sequence == sequence_ && known.joints == joints_) return known.rhythm;
    }
    constexpr std::size_t kMostKnown = 16;
    if (known_.size() >= kMostKnown) known_.pop_front();
    known_.push_back({sequence_, joints_, layer_rhythm(sequence_, joints_)});
    return known_.back().rhythm;
  }

  void keep_stream(std::span<const std::uint32_t> rows, std::uint32_t kept) {
    const auto stream = events_.kernels.ids("stream_id");
    std::size_t count = 0;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      sequence_[count] = sequence_[i];
      places_[count] = places_[i];
      count += stream[rows[places_[i]]] == kept ? 1 : 0;
    }
    sequence_.resize(count);
    places_.resize(count);
  }

  // False where too little of the step is in layers of that kind: a replayed graph beside a few launched kernels. What
  // has layers of its own, by its rhythm, does not count in that, and is left in bare_.
  bool hinted(StepOnDevice& part, const LayerHint& hint, bool rhythm) {
    double inside = 0, total = 0;
    bool any = false;
    for (const std::uint32_t row : part.rows) {
      const auto time = static_cast<double>(duration_or_zero(dur_[row]));
      total += time;
      if (hint.of(row) < 0) continue;
      inside += time;
      any = true;
    }
    if (!any) return false;
    const std::vector<Stretch> bare = rhythm ? bare_stretches(part, hint) : std::vector<Stretch>();
    for (const auto& [from, to] : bare) {
      for (std::size_t i = from; i < to; ++i) total -= static_cast<double>(duration_or_zero(dur_[part.rows[i]]));
    }
    constexpr double kLeast = 0.2;
    if (inside < kLeast * total) return false;
    bare_ = bare;
    for (const std::uint32_t row : part.rows) of_kernel_[row] = std::max(hint.of(row), kNoLayer);
    for (const LayerStack& stack : hint.stacks) add_hinted(part, hint.source, stack);
    return true;
  }

  // Stretches without the layers of a hint in which there are layers nonetheless.
  std::vector<Stretch> bare_stretches(const StepOnDevice& part, const LayerHint& hint) {
    std::vector<Stretch> out;
    for (std::size_t i = 0; i < part.rows.size();) {
      std::size_t end = i;
      sequence_.clear();
      while (end < part.rows.size() && hint.of(part.rows[end]) < 0) {
        if (end == i) prepare_traits();
        sequence_.push_back(traits_of(traits_, names_[part.rows[end++]]));
      }
      if (end > i && mixer_runs(sequence_).size() > 1) out.emplace_back(i, end);
      i = std::max(end, i + 1);
    }
    return out;
  }

  // A pass begins where the first third of the layers comes after the last one.
  void add_hinted(StepOnDevice& part, LayerSource source, const LayerStack& stack) {
    std::vector<bool> seen(static_cast<std::size_t>(stack.count));
    const std::int32_t third = std::max(stack.count / 3, 1);
    StepStack out{source, {stack.name, stack.count, 0, 0}, stack.first, 0, 0};
    bool late = true;
    for (std::size_t i = 0; i < part.rows.size(); ++i) {
      const std::int32_t layer = of_kernel_[part.rows[i]];
      if (!stack.has(layer)) continue;
      const std::int32_t index = layer - stack.first;
      if (out.layers == 0) out.begin = i;
      if (!seen[static_cast<std::size_t>(index)]) ++out.layers;
      seen[static_cast<std::size_t>(index)] = true;
      if (late && index < third) ++out.found.passes, late = false;
      if (index >= stack.count - third) late = true;
    }
    out.found.passes = std::max<std::size_t>(out.found.passes, 1);
    if (out.layers > 0) part.stacks.push_back(std::move(out));
  }

  // Head and tail of a step with layers by hints: before the first and behind the last of any stack.
  void mark_ends(const StepOnDevice& part) {
    const auto is_layer = [&](std::uint32_t row) { return of_kernel_[row] >= 0; };
    const auto first = std::ranges::find_if(part.rows, is_layer);
    const auto last = std::find_if(part.rows.rbegin(), part.rows.rend(), is_layer).base();
    for (auto row = part.rows.begin(); row != part.rows.end(); ++row) {
      std::int32_t& layer = of_kernel_[*row];
      if (layer < 0) layer = row < first ? kHead : row >= last ? kTail : kNoLayer;
    }
  }

  struct Known {
    std::vector<Traits> sequence;
    std::vector<std::size_t> joints;
    LayerRhythm rhythm;
  };

  const EventTables& events_;
  LayerSources hints_;
  std::span<const std::uint32_t> names_;
  std::span<const std::int64_t> dur_;
  const std::vector<Traits>& all_traits_;
  LargeVector<std::int32_t>& of_kernel_;
  std::vector<Traits> traits_;       // made when rhythm is first asked for
  std::vector<Traits> sequence_;     // of the step at hand,
  std::vector<std::size_t> places_;  // where its kernels are among the step's,
  std::vector<std::size_t> joints_;  // and where kernels were left out
  std::deque<Known> known_;          // the latest ones
  std::vector<Stretch> bare_;        // of the step at hand: what no hint knows of
};

constexpr double kAgreement = 0.95;

class LayerFinder {
 public:
  LayerFinder(const Index& index, const EventTables& events, const StepSet& steps, const std::vector<Traits>& traits,
              const CaptureLayers* captured)
      : events_(events),
        steps_(steps),
        traits_(traits),
        names_(events.kernels.ids("name_id")),
        dur_(events.kernels.int64s("dur")),
        ordered_(steps.of_kernel, steps.steps.size()),
        devices_(events.device_of_stream),
        finder_(index, events, traits, captured, out_.of_kernel) {
    out_.of_kernel.assign(dur_.size(), kNoLayer);
  }

  LayerSet run() {
    const bool whole = steps_.steps.empty();
    for (std::size_t s = whole ? 0 : 1; s <= steps_.steps.size(); ++s) split(s, ordered_.of(s));
    for (auto& [kind, parts] : parts_) accept(kind, parts);
    number();
    finish();
    out_.by_step = std::move(ordered_.rows);
    return std::move(out_);
  }

 private:
  // Not in training, where the backward pass has the same mixers again; without host calls, its optimizer shows it.
  [[nodiscard]] bool has_rhythm(const StepOnDevice& part, StepKind kind) const {
    if (part.step == 0 || kind == StepKind::kTrain) return false;
    return std::ranges::none_of(
        part.rows, [&](std::uint32_t row) { return (traits_of(traits_, names_[row]) & kOptimizerTrait) != 0; });
  }

  // Puts the kernels of each device together: within a step, nobody else looks at their order.
  void split(std::size_t step, std::span<std::uint32_t> rows) {
    const auto device = [&, stream = events_.kernels.ids("stream_id")](std::uint32_t row) {
      return devices_.of(stream[row]);
    };
    if (devices_.count > 1) std::ranges::stable_sort(rows, {}, device);
    const auto on_one = [&](std::size_t a, std::size_t b) { return device(rows[a]) == device(rows[b]); };
    const StepKind kind = step == 0 ? StepKind::kUnknown : steps_.steps[step - 1].info.kind;
    for_each_run(rows.size(), on_one, [&](std::size_t begin, std::size_t end) {
      StepOnDevice part{step, rows.subspan(begin, end - begin), {}, false};
      finder_.find(part, has_rhythm(part, kind));
      parts_[kind].push_back(std::move(part));
    });
  }

  using Signature = std::vector<std::size_t>;  // layers of each stack
  static Signature signature_of(const StepOnDevice& part) {
    Signature out;
    for (const StepStack& stack : part.stacks) out.push_back(stack.layers);
    return out;
  }

  // The number of layers, by stack, that most parts have, and how many have it.
  static std::pair<Signature, std::size_t> usual_layers(const std::vector<StepOnDevice>& parts) {
    std::map<Signature, std::size_t> counts;
    for (const StepOnDevice& part : parts) ++counts[signature_of(part)];
    return *std::ranges::max_element(counts, {}, [](const auto& one) { return one.second; });
  }

  static void keep_largest(StepOnDevice& part) {
    const auto largest = std::ranges::max_element(part.stacks, {}, &StepStack::layers);
    if (largest != part.stacks.end()) part.stacks = {*largest};
  }

  // Devices may have some of the layers of a step each, which names tell. Nothing changes where they do not.
  void unite_devices(StepKind kind, std::vector<StepOnDevice>& parts) {
    std::vector<StepOnDevice> whole;
    std::size_t on_devices = 0, at_all = 0;
    for (const StepOnDevice& part : parts) {
      if (whole.empty() || whole.back().step != part.step) whole.push_back({part.step, part.rows.first(0), {}, false});
      std::span<const std::uint32_t>& rows = whole.back().rows;  // of a step, those of its devices follow each other
      rows = {rows.data(), rows.size() + part.rows.size()};
      for (const StepStack& stack : part.stacks) on_devices += stack.layers;
    }
    if (whole.size() == parts.size()) return;
    for (StepOnDevice& step : whole) {
      clear(step);
      finder_.find(step, false);
      for (const StepStack& stack : step.stacks) at_all += stack.layers;
    }
    // Few are on several devices: else each has all of its own.
    if (at_all > 0 && 2 * on_devices < 3 * at_all) return parts.swap(whole);
    for (StepOnDevice& part : parts) {
      clear(part);
      part.stacks.clear();
      finder_.find(part, has_rhythm(part, kind));
    }
  }

  void accept(StepKind kind, std::vector<StepOnDevice>& parts) {
    PhaseLayers phase{kind, !steps_.steps.empty(), 0, 0, 0, {}, {}};
    const auto agrees = [&](std::size_t n) {
      return static_cast<double>(n) >= kAgreement * static_cast<double>(parts.size());
    };
    auto usual = usual_layers(parts);
    if (!agrees(usual.second)) {
      unite_devices(kind, parts);
      usual = usual_layers(parts);
    }
    if (!agrees(usual.second)) {
      for (StepOnDevice& part : parts) keep_largest(part);
      dropped_any_ = true;
      usual = usual_layers(parts);
    }
    phase.steps = parts.size();
    phase.agreeing = usual.second;
    const std::size_t layers = std::accumulate(usual.first.begin(), usual.first.end(), std::size_t{0});
    const bool agreed = agrees(usual.second);
    if (agreed) phase.layers = layers;
    for (StepOnDevice& part : parts) {
      part.dropped = phase.layers == 0 || signature_of(part) != usual.first;
      if (part.dropped) part.stacks.clear();
      if (part.dropped) clear(part);
    }
    describe(phase, agreed, layers);
    out_.phases.push_back(std::move(phase));
  }

  void clear(const StepOnDevice& part) {
    for (const std::uint32_t row : part.rows) out_.of_kernel[row] = kNoLayer;
  }

  // What the parts of a kind have in common: all have as many stacks.
  std::vector<FoundStack> stacks_of(PhaseLayers& phase) const {
    std::vector<FoundStack> out;
    std::vector<std::map<std::size_t, std::size_t>> passes;
    std::set<LayerSource> sources;
    for (const StepOnDevice& part : parts_.at(phase.kind)) {
      if (part.dropped) continue;
      out.resize(part.stacks.size());
      passes.resize(part.stacks.size());
      for (std::size_t s = 0; s < part.stacks.size(); ++s) {
        const StepStack& own = part.stacks[s];
        if (out[s].name.empty()) out[s].name = own.found.name;
        out[s].width = std::max(out[s].width, own.found.width);
        out[s].mixers = std::max(out[s].mixers, own.found.mixers);
        ++passes[s][own.found.passes];
        sources.insert(own.source);
      }
    }
    for (std::size_t s = 0; s < out.size(); ++s) {
      out[s].passes = std::ranges::max_element(passes[s], {}, [](const auto& one) { return one.second; })->first;
    }
    phase.sources.assign(sources.begin(), sources.end());
    return out;
  }

  // One numbering for the stacks of all kinds of steps.
  void number() {
    std::vector<std::vector<FoundStack>> kinds;
    for (PhaseLayers& phase : out_.phases) kinds.push_back(stacks_of(phase));
    StackTable table = make_stack_table(kinds);
    const std::size_t numbers =
        table.stacks.empty() ? 0 : static_cast<std::size_t>(table.stacks.back().first + table.stacks.back().count);
    std::vector<bool> seen(numbers);
    for (std::size_t k = 0; k < out_.phases.size(); ++k) {
      PhaseLayers& phase = out_.phases[k];
      for (std::size_t s = 0; s < kinds[k].size(); ++s) {
        LayerStack own = table.stacks[table.place[k][s]];
        own.passes = kinds[k][s].passes;
        phase.stacks.push_back(std::move(own));
      }
      std::vector<bool> own(numbers);
      for (const StepOnDevice& part : parts_.at(phase.kind)) {
        if (part.dropped) continue;
        renumber(part, phase.stacks);
        for (const std::uint32_t row : part.rows) {
          const std::int32_t layer = out_.of_kernel[row];
          if (layer >= 0) seen[static_cast<std::size_t>(layer)] = own[static_cast<std::size_t>(layer)] = true;
        }
      }
      phase.layers = count_layers(phase.stacks, own);
      out_.layers = std::max(out_.layers, phase.layers);
      doubt_passes(phase);
    }
    out_.stacks = std::move(table.stacks);
    count_layers(out_.stacks, seen);
  }

  // The number of layers: schema/METRICS.md 8.
  static std::size_t count_layers(LayerStacks& stacks, const std::vector<bool>& seen) {
    std::size_t all = 0;
    for (LayerStack& stack : stacks) {
      const auto first = seen.begin() + stack.first;
      stack.unseen = static_cast<std::int32_t>(std::count(first, first + stack.count, false));
      all += static_cast<std::size_t>(stack.layers());
    }
    return all;
  }

  // Modules and marks tell a second stack from a second pass over one, the rhythm of the kernels does not.
  void doubt_passes(const PhaseLayers& phase) {
    if (std::ranges::find(phase.sources, LayerSource::kRhythm) == phase.sources.end()) return;
    for (const LayerStack& stack : phase.stacks) {
      if (stack.passes < 2 || !is_found_by_rhythm(phase, stack)) continue;
      const std::string note = fmt::format("{} passes over {} by rhythm: {} stacks of like layers would look the same",
                                           stack.passes, counted(stack.layers(), "layer"), stack.passes);
      if (std::ranges::find(out_.notes, note) == out_.notes.end()) out_.notes.push_back(note);
    }
  }

  [[nodiscard]] bool is_found_by_rhythm(const PhaseLayers& phase, const LayerStack& stack) const {
    const auto place = static_cast<std::size_t>(&stack - phase.stacks.data());
    return std::ranges::any_of(parts_.at(phase.kind), [&](const StepOnDevice& part) {
      return place < part.stacks.size() && part.stacks[place].source == LayerSource::kRhythm;
    });
  }

  // To the numbers of the trace's stacks; what is in no stack that was kept has no layer.
  void renumber(const StepOnDevice& part, const LayerStacks& stacks) {
    std::vector<std::int32_t> to;  // by number in the part
    bool same = true;
    for (std::size_t s = 0; s < part.stacks.size(); ++s) {
      const StepStack& own = part.stacks[s];
      const auto end = static_cast<std::size_t>(own.first) + static_cast<std::size_t>(own.found.width);
      if (end > to.size()) to.resize(end, kNoLayer);
      for (std::int32_t i = 0; i < own.found.width; ++i) {
        to[static_cast<std::size_t>(own.first) + static_cast<std::size_t>(i)] = stacks[s].first + i;
      }
      same = same && own.first == stacks[s].first;
    }
    if (same && !part.stacks.empty() && !dropped_any_) return;
    for (const std::uint32_t row : part.rows) {
      std::int32_t& layer = out_.of_kernel[row];
      if (layer >= 0)
        layer = static_cast<std::size_t>(layer) < to.size() ? to[static_cast<std::size_t>(layer)] : kNoLayer;
    }
  }

  void describe(const PhaseLayers& phase, bool agreed, std::size_t usual) {
    const std::string what = phase.in_steps ? fmt::format("{} steps", to_string(phase.kind)) : "the trace";
    if (!agreed) {
      out_.notes.push_back(fmt::format("{}: no layers: only {} of {} run through {}", what, phase.agreeing,
                                       counted(phase.steps, "step on a device", "steps on devices"),
                                       counted(usual, "layer")));
    } else if (phase.layers == 0) {
      out_.notes.push_back(fmt::format("{}: no layers found", what));
    } else if (phase.agreeing < phase.steps) {
      out_.notes.push_back(
          fmt::format("{}: no layers in {} of {}, which do not run through {}", what, phase.steps - phase.agreeing,
                      counted(phase.steps, "step on a device", "steps on devices"), counted(usual, "layer")));
    }
  }

  void finish() {
    std::int64_t inside = 0, total = 0;
    for (std::size_t i = 0; i < dur_.size(); ++i) {
      const std::int64_t time = duration_or_zero(dur_[i]);
      total = saturating_add(total, time);
      inside = saturating_add(inside, out_.of_kernel[i] >= 0 ? time : 0);
    }
    out_.coverage = total > 0 ? static_cast<double>(inside) / static_cast<double>(total) : 0;
    for (std::size_t i = 0; const LayerHint* hint = finder_.hints().get(i); ++i) {
      const bool used = std::ranges::any_of(out_.phases, [&](const PhaseLayers& phase) {
        return std::ranges::find(phase.sources, hint->source) != phase.sources.end();
      });
      if (used) out_.notes.push_back("layers from " + hint->text);
    }
    for (const PhaseLayers& phase : out_.phases) {
      if (phase.layers == 0 || phase.layers == out_.layers) continue;
      out_.notes.push_back(fmt::format("{} steps have {}, others {}", to_string(phase.kind),
                                       counted(phase.layers, "layer"), out_.layers));
    }
  }

  const EventTables& events_;
  const StepSet& steps_;
  const std::vector<Traits>& traits_;  // by name
  std::span<const std::uint32_t> names_;
  std::span<const std::int64_t> dur_;
  RowsByStep ordered_;
  const DenseDevices devices_;
  std::map<StepKind, std::vector<StepOnDevice>> parts_;
  bool dropped_any_ = false;  // stacks of parts that keep others
  LayerSet out_;
  StepLayerFinder finder_;
};

}  // namespace

LayerSet find_layers(const Index& index, const EventTables& events, const StepSet& steps,
                     const std::vector<Traits>& traits, const CaptureLayers* captured) {
  return LayerFinder(index, events, steps, traits, captured).run();
}

}  // namespace tracedb
