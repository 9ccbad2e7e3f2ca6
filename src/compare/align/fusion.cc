#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "base/unknown.h"
#include "compare/align/fusion_view.h"
#include "passes/classify/kernel_traits.h"
#include "passes/layers/stack_table.h"

namespace tracedb {
namespace {

using Parts = std::multiset<std::string_view>;

Parts parts_of(const std::string& op) {
  Parts parts;
  for (std::string_view part : op_parts(op)) {
    if (part.starts_with("attention")) part = "attention";
    parts.insert(part);
  }
  return parts;
}

// Whether the parts are among `all`, but for those that others of them may do without a name saying so.
bool within(const Parts& parts, const Parts& all, const ClassFamilies& families) {
  bool some = false;
  for (const std::string_view part : parts) {
    const bool unnamed =
        std::ranges::any_of(parts, [&](std::string_view beside) { return families.may_do_unnamed(beside, part); });
    if (!all.contains(part) && !unnamed) return false;
    some = some || all.contains(part);
  }
  return some;
}

// Classes whose kernels are called once for each of several tensors, which one kernel may take together.
bool calls_may_merge(std::string_view op) {
  constexpr std::array<std::string_view, 4> kClasses = {"norm", "rotary", "quantise", "kv_cache"};
  return std::ranges::find(kClasses, op) != kClasses.end();
}

// The work that the kernel at `at` does besides its partner's, as far as its class names it.
class NamedParts {
 public:
  NamedParts(const FusionView& view, const std::vector<bool>& taken) : view_(view), taken_(taken) {}

  std::vector<std::size_t> find(std::size_t at) {
    const PairSide& fused = view_.fusing(at);
    if (!view_.known(fused)) return {};
    const Parts all = parts_of(view_.op(fused));
    if (all.size() < 2) return {};
    Parts missing = all;
    const PairSide& partner = view_.other(at);
    if (partner.n > 0) {
      if (!view_.known(partner) || !within(parts_of(view_.op(partner)), all, view_.families())) return {};
      for (const std::string_view part : parts_of(view_.op(partner))) {
        if (const auto found = missing.find(part); found != missing.end()) missing.erase(found);
      }
    }
    std::vector<std::size_t> members;
    Parts supplied = partner.n > 0 ? parts_of(view_.op(partner)) : Parts{};
    collect(at, -1, missing, members, supplied);
    collect(at, +1, missing, members, supplied);
    if (partner.n > 0) members.push_back(at);
    // Two kernels at least, and not all of one class: that is no fusion.
    const bool one_class =
        std::ranges::all_of(supplied, [&](std::string_view part) { return part == *supplied.begin(); });
    if (members.size() < 2 || one_class) return {};
    add_unnamed(all, members);
    std::ranges::sort(members);
    return members;
  }

 private:
  // Unpaired kernels in one direction that do some of the missing work. A few others that are unpaired, in either
  // trace, are skipped; a kernel that has its own partner ends the search.
  void collect(std::size_t at, int step, const Parts& missing, std::vector<std::size_t>& members, Parts& supplied) {
    constexpr int kMostSkipped = 2;
    int skipped = 0;
    for (auto i = static_cast<std::ptrdiff_t>(at) + step; i >= 0 && i < static_cast<std::ptrdiff_t>(view_.size());
         i += step) {
      const auto position = static_cast<std::size_t>(i);
      const PairSide& alone = view_.other(position);
      const bool beside = view_.on_other_lane(at, position);
      if (view_.aside(at, position) || (beside && taken_[position])) continue;
      if (view_.has_both(position) || taken_[position]) break;
      const Parts own = view_.known(alone) ? parts_of(view_.op(alone)) : Parts{};
      if (within(own, missing, view_.families()) || called_again(at, position, step)) {
        members.push_back(position);
        supplied.insert(own.begin(), own.end());
      } else if (!beside && ++skipped > kMostSkipped) {
        break;
      }
    }
  }

  // Whether it is one more call of the partner's kernel right beside it: queries and keys, normed one after the other.
  [[nodiscard]] bool called_again(std::size_t at, std::size_t position, int step) const {
    const PairSide& partner = view_.other(at);
    const PairSide& alone = view_.other(position);
    if (partner.n == 0 || alone.n == 0 || alone.name != partner.name) return false;
    const std::size_t beside = step < 0 ? view_.before(at, at) : view_.after(at, at);
    return position == beside && calls_may_merge(view_.op(partner));
  }

  // A residual add right before the norm: it is nowhere else, though the fused kernel's name does not mention it.
  void add_unnamed(const Parts& all, std::vector<std::size_t>& members) {
    for (std::size_t m = 0, named = members.size(); m < named; ++m) {
      std::size_t before = members[m];
      while (before > 0 && (view_.other(before - 1).n == 0 || view_.aside(members[m], before - 1))) --before;
      if (before == 0 || !view_.only_other(--before) || taken_[before]) continue;
      const Parts alone = parts_of(view_.op(view_.other(before)));
      const bool known = std::ranges::find(members, before) != members.end();
      if (known || alone.size() != 1 || all.contains(*alone.begin())) continue;
      const Parts own = parts_of(view_.op(view_.other(members[m])));
      const bool unnamed = std::ranges::any_of(own, [&](std::string_view part) {
        return all.contains(part) && view_.families().may_do_unnamed(part, *alone.begin());
      });
      if (unnamed && !own.contains(*alone.begin())) members.push_back(before);
    }
  }

  const FusionView& view_;
  const std::vector<bool>& taken_;
};

// The matrix product next to the softmax at `from` in one direction, inside [begin, end), with nothing but unpaired
// kernels between; `from`: none.
std::size_t product_beside(const FusionView& view, std::size_t at, std::size_t from, int step, std::size_t begin,
                           std::size_t end) {
  for (auto i = static_cast<std::ptrdiff_t>(from) + step;
       i >= static_cast<std::ptrdiff_t>(begin) && i < static_cast<std::ptrdiff_t>(end); i += step) {
    const auto place = static_cast<std::size_t>(i);
    const bool free = view.only_other(place) || place == at;
    if (free && (view.traits(view.other(place)) & kGemmTrait) != 0) return place;
    if (!free && view.other(place).n > 0 && !view.aside(at, place)) break;
  }
  return from;
}

// softmax between two matrix products, not further than a few kernels, where the fusing side has attention.
std::vector<std::size_t> parts_of_attention(const FusionView& view, std::size_t at) {
  if ((view.traits(view.fusing(at)) & kAttentionTrait) == 0 || (view.traits(view.other(at)) & kAttentionTrait) != 0) {
    return {};
  }
  constexpr std::size_t kReach = 6;
  const std::size_t begin = at > kReach ? at - kReach : 0;
  const std::size_t end = std::min(view.size(), at + kReach + 1);
  for (std::size_t i = begin; i < end; ++i) {
    if (view.other(i).n == 0 || !parts_of(view.op(view.other(i))).contains("softmax")) continue;
    if (view.fusing(i).n > 0 && i != at) continue;
    const std::size_t first = product_beside(view, at, i, -1, begin, end);
    const std::size_t last = product_beside(view, at, i, +1, begin, end);
    if (first == i || last == i) continue;
    std::vector<std::size_t> members;
    for (std::size_t j = first; j <= last; ++j) {
      if (view.other(j).n > 0 && view.known(view.other(j)) && !view.aside(at, j)) members.push_back(j);
    }
    return members;
  }
  return {};
}

// The other trace's unpaired kernels next to the pair, as long as they fit; with its partner.
template <class Fits>
std::vector<std::size_t> run_around(const FusionView& view, std::size_t at, Fits fits) {
  std::vector<std::size_t> members;
  if (view.other(at).n > 0) {
    if (!fits(view.other(at))) return {};
    members.push_back(at);
  }
  const auto takes = [&](std::size_t i) { return i < view.size() && view.only_other(i) && fits(view.other(i)); };
  for (std::size_t i = view.before(at, at); takes(i); i = view.before(at, i)) members.push_back(i);
  for (std::size_t i = view.after(at, at); takes(i); i = view.after(at, i)) members.push_back(i);
  std::ranges::sort(members);
  return members.size() >= 2 ? members : std::vector<std::size_t>{};
}

// Whether the kernels without partner next to `at`, up to the next pair, have one of the fusing side's that fits: it
// does what the other side's beside it do.
template <class Fits>
bool has_own_beside(const FusionView& view, std::size_t at, Fits fits) {
  for (const bool back : {true, false}) {
    const auto next = [&](std::size_t i) { return back ? view.before(at, i) : view.after(at, i); };
    for (std::size_t i = next(at); i < view.size() && !view.has_both(i); i = next(i)) {
      if (view.fusing(i).n > 0 && fits(view.fusing(i))) return true;
    }
  }
  return false;
}

// Attention in several kernels, over parts of the cache and over their results, or of prompts and of new tokens.
std::vector<std::size_t> parts_of_whole_attention(const FusionView& view, std::size_t at) {
  const PairSide& fused = view.fusing(at);
  const auto is_attention = [&](const PairSide& side) { return (view.traits(side) & kAttentionTrait) != 0; };
  if (!is_attention(fused) || has_own_beside(view, at, is_attention)) return {};
  return run_around(view, at, [&](const PairSide& side) { return is_attention(side) && side.name != fused.name; });
}

// One kernel called again and again where the other side has one of its class: queries and keys, keys and values.
std::vector<std::size_t> parts_of_merged_calls(const FusionView& view, std::size_t at) {
  const PairSide& fused = view.fusing(at);
  if (!view.known(fused) || !calls_may_merge(view.op(fused))) return {};
  if (has_own_beside(view, at, [&](const PairSide& side) { return view.family(side) == view.family(fused); }))
    return {};
  const PairSide* first = view.other(at).n > 0 ? &view.other(at) : nullptr;
  return run_around(view, at, [&](const PairSide& side) {
    if (first == nullptr) first = &side;
    return side.name == first->name && side.name != fused.name && view.family(side) == view.family(fused);
  });
}

// Whether the fusing side has a kernel without partner of such a class: work that the kernel in question does not do.
bool has_own(const FusionView& view, std::initializer_list<std::string_view> classes) {
  for (std::size_t i = 0; i < view.size(); ++i) {
    if (view.fusing(i).n == 0 || view.other(i).n > 0) continue;
    const Parts parts = parts_of(view.op(view.fusing(i)));
    if (std::ranges::any_of(classes, [&](std::string_view part) { return parts.contains(part); })) return true;
  }
  return false;
}

// All MoE work of the other side, where the fusing side has one kernel for it in the segment, but for routing that it
// has, too.
std::vector<std::size_t> parts_of_moe(const FusionView& view, std::size_t at) {
  const auto is_routing = [&](const PairSide& side) { return side.n > 0 && view.op(side) == "moe_routing"; };
  const auto moe = [&](const PairSide& side) {
    return side.n > 0 &&
           std::ranges::any_of(op_parts(view.op(side)), [](auto part) { return part.starts_with("moe_"); });
  };
  if (!moe(view.fusing(at)) || (view.traits(view.fusing(at)) & kGemmTrait) == 0) return {};
  if (has_own(view, {"activation", "dense_gemm", "communication"})) return {};
  std::vector<std::size_t> members;
  std::set<std::string> classes;
  bool routes = false;
  for (std::size_t i = 0; i < view.size(); ++i) {
    routes = routes || is_routing(view.fusing(i));
    if (i != at && moe(view.fusing(i)) && !is_routing(view.fusing(i))) return {};
  }
  for (std::size_t i = 0; i < view.size(); ++i) {
    if (!moe(view.other(i)) || (routes && is_routing(view.other(i)))) continue;
    members.push_back(i);
    classes.insert(view.op(view.other(i)));
  }
  constexpr std::size_t kLeast = 3;  // routing, products, sum: two products may be one of another library's making
  if (members.size() < kLeast || classes.size() < 2) return {};
  // What the experts do between their products is no MoE work by its name.
  for (std::size_t i = members.front() + 1, last = members.back(); i < last; ++i) {
    const bool activates = view.other(i).n > 0 && (view.traits(view.other(i)) & kActivationTrait) != 0;
    if (!activates || i == at || view.on_other_lane(at, i) || moe(view.other(i))) continue;
    if (view.has_both(i)) return {};
    members.push_back(i);
  }
  return members;
}

// One routing kernel where the other side has several, and nothing of its own to sort or send tokens. A kernel that
// both traces have was not made of several: its neighbours were added.
std::vector<std::size_t> parts_of_routing(const FusionView& view, std::size_t at) {
  const auto routing = [&](const PairSide& side) { return side.n > 0 && view.op(side) == "moe_routing"; };
  if (!routing(view.fusing(at)) || has_own(view, {"sort", "communication"})) return {};
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < view.size(); ++i) {
    if (i != at && routing(view.fusing(i))) return {};
    if (!routing(view.other(i))) continue;
    if (view.other(i).name == view.fusing(at).name) return {};
    members.push_back(i);
  }
  return members.size() >= 2 ? members : std::vector<std::size_t>{};
}

// Only the other trace adds up the experts' results in a kernel, right after the partner of this matrix product.
std::vector<std::size_t> parts_of_summing_product(const FusionView& view, std::size_t at) {
  const auto is = [&](const PairSide& side, std::string_view part) {
    return side.n > 0 && parts_of(view.op(side)).contains(part);
  };
  if (!is(view.fusing(at), "moe_gemm") || !is(view.other(at), "moe_gemm")) return {};
  if (view.fusing(at).name == view.other(at).name || has_own(view, {"communication"})) return {};
  for (std::size_t i = 0; i < view.size(); ++i) {
    if (is(view.fusing(i), "moe_finalize")) return {};
  }
  const std::size_t next = view.after(at, at);
  if (next >= view.size() || !view.only_other(next) || !is(view.other(next), "moe_finalize")) return {};
  return {at, next};
}

struct FusedParts {
  std::vector<std::size_t> members;  // pairs whose other side the kernel does the work of, in order; empty: none
  bool implied = false;              // as of Fusion
};

// Of the kernel at `at`; `taken`: parts found for one are not found again for a later one.
FusedParts parts_at(const FusionView& view, std::size_t at, std::vector<bool>& taken) {
  FusedParts out;
  out.members = parts_of_moe(view, at);
  if (out.members.empty()) out.members = NamedParts(view, taken).find(at);
  for (const auto parts : {parts_of_whole_attention, parts_of_attention, parts_of_routing, parts_of_merged_calls,
                           parts_of_summing_product}) {
    if (!out.members.empty()) break;
    out.members = parts(view, at);
    out.implied = parts == parts_of_summing_product;
  }
  const bool again = std::ranges::any_of(out.members, [&](std::size_t m) { return taken[m]; });
  if (out.members.empty() || again || taken[at]) return {};
  for (const std::size_t member : out.members) taken[member] = true;
  std::ranges::stable_sort(out.members, {}, [&](std::size_t i) { return view.order(i); });
  taken[at] = true;
  return out;
}

FusionKernel kernel_of(const PairSide& side) { return {side.name, side.n, side.time, side.example}; }

// A finding while it is collected.
struct Finding {
  struct Kernel {
    PairPlace place;
    bool fused = false;  // else one of the parts
    auto operator<=>(const Kernel&) const = default;
  };
  Fusion fusion;
  std::vector<Kernel> kernels;
  double baseline_alone = 0, candidate_alone = 0;  // time of kernels without partner that it accounts for
  double support = 0, weight = 0;                  // sums over layers
};

class Collector {
 public:
  Collector(GroupAlignment alignment, const KernelNameTable& kernel_names)
      : alignment_(std::move(alignment)), kernel_names_(kernel_names) {}

  FusedAlignment run(double least_confidence) {
    for (const FusedBy by : {FusedBy::kBaseline, FusedBy::kCandidate}) {
      owners_.clear();
      // What ends a layer is a part of more than what is found within the next.
      for (const auto& [segment, next] : neighbours()) search_across(*segment, *next, by);
      for (AlignedSegment& segment : alignment_.segments) search(segment, by);
    }
    rate();
    FusedAlignment out;
    std::vector<Finding*> kept;
    for (auto& [key, finding] : found_) {
      if (finding.fusion.confidence < least_confidence) {
        ++out.uncertain;
      } else {
        kept.push_back(&finding);
      }
    }
    const auto time = [](const Finding* finding) {
      std::int64_t sum = finding->fusion.fused.time;
      for (const FusionKernel& part : finding->fusion.parts) sum = saturating_add(sum, part.time);
      return sum;
    };
    std::ranges::stable_sort(kept, [&](const Finding* a, const Finding* b) { return time(a) > time(b); });
    for (Finding* finding : kept) {
      account(*finding, static_cast<std::int32_t>(out.fusions.size()));
      out.fusions.push_back(std::move(finding->fusion));
    }
    out.alignment = std::move(alignment_);
    return out;
  }

 private:
  void search(AlignedSegment& segment, FusedBy by) {
    std::vector<PairPlace> places;
    for (std::size_t i = 0; i < segment.pairs.size(); ++i) places.push_back({&segment, i});
    const FusionView view(std::move(places), 0, by, kernel_names_);
    std::vector<bool> taken(view.size());
    for (std::size_t i = 0; i < view.size(); ++i) {
      taken[i] = owners_.contains({view.place(i), true}) || owners_.contains({view.place(i), false});
    }
    for (std::size_t i = 0; i < view.size(); ++i) {
      if (view.fusing(i).n == 0) continue;
      const FusedParts parts = parts_at(view, i, taken);
      if (!parts.members.empty()) add(view, i, parts);
    }
  }

  // Segments of which a layer of the second follows one of the first, the head and the tail included.
  [[nodiscard]] std::set<std::pair<AlignedSegment*, AlignedSegment*>> neighbours() {
    std::vector<std::pair<std::int32_t, AlignedSegment*>> order;
    for (AlignedSegment& segment : alignment_.segments) {
      for (const std::int32_t layer : segment.layers) {
        if (layer != kNoLayer) order.emplace_back(layer, &segment);
      }
    }
    std::ranges::sort(order, comes_before, [](const auto& one) { return one.first; });
    std::set<std::pair<AlignedSegment*, AlignedSegment*>> out;
    for (std::size_t i = 1; i < order.size(); ++i) out.emplace(order[i - 1].second, order[i].second);
    return out;
  }

  // What ends a layer may be fused with what begins the next: an all-reduce with the norm behind it.
  void search_across(AlignedSegment& segment, AlignedSegment& next, FusedBy by) {
    constexpr std::size_t kReach = 4;
    std::vector<PairPlace> places;
    const std::size_t end = segment.pairs.size();
    for (std::size_t i = end - std::min(end, kReach); i < end; ++i) places.push_back({&segment, i});
    const std::size_t border = places.size();
    for (std::size_t i = 0; i < std::min(next.pairs.size(), kReach); ++i) places.push_back({&next, i});
    const FusionView view(std::move(places), border, by, kernel_names_);
    const std::vector<bool> taken(view.size());
    for (std::size_t i = 0; i < view.size(); ++i) {
      if (view.fusing(i).n == 0) continue;
      FusedParts parts{NamedParts(view, taken).find(i), false};
      std::ranges::stable_sort(parts.members, {}, [&](std::size_t member) { return view.order(member); });
      // Only for what its own layer lacks.
      Parts missing = parts_of(view.op(view.fusing(i)));
      bool across = false;
      for (const std::size_t member : parts.members) {
        across = across || view.order(member).first != view.order(i).first;
        if (view.order(member).first != view.order(i).first) continue;
        for (const std::string_view part : parts_of(view.op(view.other(member)))) missing.erase(part);
      }
      if (across && !missing.empty()) add(view, i, parts);
    }
  }

  // The same kernels in other layers are the same finding.
  void add(const FusionView& view, std::size_t at, const FusedParts& parts) {
    Key key{view.by(), name(view.fusing(at)), {}};
    for (const std::size_t i : parts.members) std::get<2>(key).push_back(name(view.other(i)));
    std::vector<Finding::Kernel> kernels = {{view.place(at), true}};
    for (const std::size_t i : parts.members) kernels.push_back({view.place(i), false});
    const auto is_of_another = [&](const Finding::Kernel& kernel) {
      const auto owner = owners_.find(kernel);
      return owner != owners_.end() && owner->second != key;
    };
    if (std::ranges::any_of(kernels, is_of_another)) return;
    const bool is_fresh = !owners_.contains(kernels.front());
    const auto [entry, is_new] = found_.try_emplace(key);
    Finding& finding = entry->second;
    Fusion& fusion = finding.fusion;
    if (is_new) {
      fusion.by = view.by();
      fusion.fused = {view.fusing(at).name, 0, 0, view.fusing(at).example};
      for (const std::size_t i : parts.members) {
        fusion.parts.push_back({view.other(i).name, 0, 0, view.other(i).example});
      }
    }
    fusion.implied = parts.implied;
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      // A layer that follows several others comes once for each.
      if (!owners_.try_emplace(kernels[k], key).second) continue;
      const bool fused = kernels[k].fused;
      const PairSide& side = fused ? view.fusing(at) : view.other(parts.members[k - 1]);
      merge(fused ? fusion.fused : fusion.parts[k - 1], kernel_of(side));
      finding.kernels.push_back(kernels[k]);
      const AlignedSegment& segment = *kernels[k].place.segment;
      if (!segment.is_aligned(kernels[k].place.get()))
        alone(finding, view.by(), fused) += static_cast<double>(side.time);
      fusion.partial = fusion.partial || (!fused && op_parts(view.op(side)).size() > 1);
    }
    const AlignedSegment& own = *view.place(at).segment;
    fusion.layers.insert(fusion.layers.end(), own.layers.begin(), own.layers.end());
    std::ranges::sort(fusion.layers, comes_before);
    fusion.layers.erase(std::unique(fusion.layers.begin(), fusion.layers.end()), fusion.layers.end());
    if (is_fresh) support(own, finding);
  }

  static void support(const AlignedSegment& segment, Finding& finding) {
    const auto share = [](std::int64_t following, std::int64_t instances) {
      return instances > 0 ? static_cast<double>(following) / static_cast<double>(instances) : 0;
    };
    const double own = std::min(share(segment.baseline_following, segment.baseline_instances),
                                share(segment.candidate_following, segment.candidate_instances));
    const auto layers = static_cast<double>(segment.layers.size());
    finding.support += own * layers;
    finding.weight += layers;
    finding.fusion.support = finding.support / finding.weight;
  }

  static double& alone(Finding& finding, FusedBy by, bool fusing) {
    return (by == FusedBy::kBaseline) == fusing ? finding.baseline_alone : finding.candidate_alone;
  }

  // Adds what a finding accounts for of either side's time.
  void add_shares(const Finding& finding, double& baseline, double& candidate) const {
    if (alignment_.baseline_time > 0) baseline += finding.baseline_alone / alignment_.baseline_time;
    if (alignment_.candidate_time > 0) candidate += finding.candidate_alone / alignment_.candidate_time;
  }

  void rate() {
    double baseline = alignment_.baseline_share, candidate = alignment_.candidate_share;
    for (const auto& [key, finding] : found_) add_shares(finding, baseline, candidate);
    constexpr double kImplied = 0.5;
    for (auto& [key, finding] : found_) {
      Fusion& fusion = finding.fusion;
      fusion.confidence = fusion.support * std::min(baseline, candidate) * (fusion.implied ? kImplied : 1);
    }
  }

  void account(const Finding& finding, std::int32_t number) {
    add_shares(finding, alignment_.baseline_share, alignment_.candidate_share);
    for (const Finding::Kernel& kernel : finding.kernels) {
      KernelPair& pair = kernel.place.get();
      pair.fused = !pair.has_both();
      const bool of_baseline = (finding.fusion.by == FusedBy::kBaseline) == kernel.fused;
      (of_baseline ? pair.baseline : pair.candidate).fusion = number;
    }
  }

  static void merge(FusionKernel& to, const FusionKernel& more) {
    to.n += more.n;
    to.time = saturating_add(to.time, more.time);
  }
  [[nodiscard]] std::string name(const PairSide& side) const { return kernel_names_.entries()[side.name].name; }

  using Key = std::tuple<FusedBy, std::string, std::vector<std::string>>;

  GroupAlignment alignment_;
  const KernelNameTable& kernel_names_;
  std::map<Key, Finding> found_;
  std::map<Finding::Kernel, Key> owners_;  // of the findings of one side
};

}  // namespace

FusedAlignment find_fusions(GroupAlignment alignment, const KernelNameTable& kernel_names, double least_confidence) {
  return Collector(std::move(alignment), kernel_names).run(least_confidence);
}

}  // namespace tracedb
