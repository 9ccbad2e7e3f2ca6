#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "base/unknown.h"
#include "compare/align/alignment.h"
#include "passes/classify/kernel_traits.h"

namespace tracedb {
namespace {

// One segment seen with fixed parts for the two traces: `fused` is where a kernel may do the work of several.
class FusionView {
 public:
  FusionView(const AlignedSegment& segment, FusedBy by, const KernelNameTable& kernel_names)
      : segment_(segment), by_(by), kernel_names_(kernel_names) {
    std::map<std::uint32_t, std::map<std::uint32_t, std::size_t>> partners;
    for (std::size_t i = 0; i < size(); ++i) {
      if (fusing(i).n > 0 && other(i).n > 0) ++partners[other(i).lane][fusing(i).lane];
    }
    for (const auto& [from, lanes] : partners) {
      lane_of_other_[from] = std::ranges::max_element(lanes, {}, [](const auto& one) { return one.second; })->first;
    }
  }

  [[nodiscard]] std::size_t size() const { return segment_.pairs.size(); }
  [[nodiscard]] const PairSide& fusing(std::size_t i) const {
    return by_ == FusedBy::kBaseline ? segment_.pairs[i].baseline : segment_.pairs[i].candidate;
  }
  [[nodiscard]] const PairSide& other(std::size_t i) const {
    return by_ == FusedBy::kBaseline ? segment_.pairs[i].candidate : segment_.pairs[i].baseline;
  }
  [[nodiscard]] const std::string& op(const PairSide& side) const {
    return kernel_names_.op_name(kernel_names_.op_of(side.name));
  }
  [[nodiscard]] bool known(const PairSide& side) const {
    return side.n > 0 && op(side) != "other" && op(side) != "triton_fused";
  }
  [[nodiscard]] Traits traits(const PairSide& side) const { return side.n > 0 ? traits_of_class(op(side)) : 0; }
  // Whether a pair runs on another stream than the one at `at`.
  [[nodiscard]] bool on_other_lane(std::size_t at, std::size_t i) const {
    const std::optional<std::uint32_t> own = lane(at), its = lane(i);
    return own && its && *own != *its;
  }
  // Whether it does and both traces have it: a search skips it, since its position among the kernels of another stream
  // is chance.
  [[nodiscard]] bool aside(std::size_t at, std::size_t i) const {
    return fusing(i).n > 0 && other(i).n > 0 && on_other_lane(at, i);
  }
  // The next pair from `from` on that is not aside, as seen from `at`; size(): none.
  [[nodiscard]] std::size_t after(std::size_t at, std::size_t from) const {
    for (++from; from < size() && aside(at, from);) ++from;
    return from;
  }
  [[nodiscard]] std::size_t before(std::size_t at, std::size_t from) const {
    while (from-- > 0) {
      if (!aside(at, from)) return from;
    }
    return size();
  }
  // The pair has no kernel of the fusing side.
  [[nodiscard]] bool only_other(std::size_t i) const { return other(i).n > 0 && fusing(i).n == 0; }
  [[nodiscard]] const ClassFamilies& families() const { return kernel_names_.families(); }
  [[nodiscard]] OpId family(const PairSide& side) const {
    return kernel_names_.family_of(kernel_names_.op_of(side.name));
  }

 private:
  // Of the fusing side; nothing where no kernel of the other's lane has a partner.
  [[nodiscard]] std::optional<std::uint32_t> lane(std::size_t i) const {
    if (fusing(i).n > 0) return fusing(i).lane;
    const auto found = lane_of_other_.find(other(i).lane);
    return found == lane_of_other_.end() ? std::nullopt : std::optional(found->second);
  }

  const AlignedSegment& segment_;
  FusedBy by_;
  const KernelNameTable& kernel_names_;
  std::map<std::uint32_t, std::uint32_t> lane_of_other_;  // by the other side's lane: that of most of its partners
};

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
      if ((alone.n > 0 && view_.fusing(position).n > 0) || taken_[position]) break;
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

// Attention in several kernels, over parts of the cache and over their results, or of prompts and of new tokens.
std::vector<std::size_t> parts_of_whole_attention(const FusionView& view, std::size_t at) {
  const PairSide& fused = view.fusing(at);
  if ((view.traits(fused) & kAttentionTrait) == 0) return {};
  return run_around(view, at, [&](const PairSide& side) {
    return (view.traits(side) & kAttentionTrait) != 0 && side.name != fused.name;
  });
}

// One kernel called again and again where the other side has one of its class: queries and keys, keys and values.
std::vector<std::size_t> parts_of_merged_calls(const FusionView& view, std::size_t at) {
  const PairSide& fused = view.fusing(at);
  if (!view.known(fused) || !calls_may_merge(view.op(fused))) return {};
  const auto same_beside = [&](std::size_t i) {
    return i < view.size() && view.fusing(i).n > 0 && view.other(i).n == 0 &&
           view.family(view.fusing(i)) == view.family(fused);
  };
  if (same_beside(view.before(at, at)) || same_beside(view.after(at, at))) return {};
  const PairSide* first = view.other(at).n > 0 ? &view.other(at) : nullptr;
  return run_around(view, at, [&](const PairSide& side) {
    if (first == nullptr) first = &side;
    return side.name == first->name && side.name != fused.name && view.family(side) == view.family(fused);
  });
}

bool is_moe(std::string_view op) {
  const auto parts = op_parts(op);
  return std::ranges::any_of(parts, [](std::string_view part) { return part.starts_with("moe_"); });
}

// All MoE work of the other side, where the fusing side has one kernel for it in the segment.
std::vector<std::size_t> parts_of_moe(const FusionView& view, std::size_t at) {
  const auto moe = [&](const PairSide& side) { return side.n > 0 && is_moe(view.op(side)); };
  if (!moe(view.fusing(at)) || (view.traits(view.fusing(at)) & kGemmTrait) == 0) return {};
  std::vector<std::size_t> members;
  std::set<std::string> classes;
  for (std::size_t i = 0; i < view.size(); ++i) {
    if (i != at && moe(view.fusing(i))) return {};
    if (!moe(view.other(i))) continue;
    members.push_back(i);
    classes.insert(view.op(view.other(i)));
  }
  constexpr std::size_t kLeast = 3;  // routing, products, sum: two products may be one of another library's making
  return members.size() >= kLeast && classes.size() >= 2 ? members : std::vector<std::size_t>{};
}

// One routing kernel where the other side has several. A kernel that both traces have was not made of several: its
// neighbours were added.
std::vector<std::size_t> parts_of_routing(const FusionView& view, std::size_t at) {
  const auto routing = [&](const PairSide& side) { return side.n > 0 && view.op(side) == "moe_routing"; };
  if (!routing(view.fusing(at))) return {};
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
  if (view.fusing(at).name == view.other(at).name) return {};
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
  out.members = NamedParts(view, taken).find(at);
  for (const auto parts : {parts_of_whole_attention, parts_of_attention, parts_of_moe, parts_of_routing,
                           parts_of_merged_calls, parts_of_summing_product}) {
    if (!out.members.empty()) break;
    out.members = parts(view, at);
    out.implied = parts == parts_of_summing_product;
  }
  const bool again = std::ranges::any_of(out.members, [&](std::size_t m) { return taken[m]; });
  if (out.members.empty() || again || taken[at]) return {};
  for (const std::size_t member : out.members) taken[member] = true;
  // Pairs of several streams may cross: parts are told in the order in which their side runs them.
  std::ranges::stable_sort(
      out.members, [&](std::size_t a, std::size_t b) { return view.other(a).position < view.other(b).position; });
  taken[at] = true;
  return out;
}

FusionKernel kernel_of(const PairSide& side) { return {side.name, side.n, side.time, side.example}; }

// A finding while it is collected.
struct Finding {
  struct Kernel {
    AlignedSegment* segment = nullptr;
    std::size_t pair = 0;
    bool fused = false;  // else one of the parts
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
    for (AlignedSegment& segment : alignment_.segments) {
      search(segment, FusedBy::kBaseline);
      search(segment, FusedBy::kCandidate);
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
    const FusionView view(segment, by, kernel_names_);
    std::vector<bool> taken(view.size());
    for (std::size_t i = 0; i < view.size(); ++i) {
      if (view.fusing(i).n == 0) continue;
      const FusedParts parts = parts_at(view, i, taken);
      if (!parts.members.empty()) add(segment, view, by, i, parts);
    }
  }

  // The same kernels in other layers are the same finding.
  void add(AlignedSegment& segment, const FusionView& view, FusedBy by, std::size_t at, const FusedParts& parts) {
    Key key{by, name(view.fusing(at)), {}};
    for (const std::size_t i : parts.members) std::get<2>(key).push_back(name(view.other(i)));
    const auto [entry, is_new] = found_.try_emplace(std::move(key));
    Finding& finding = entry->second;
    Fusion& fusion = finding.fusion;
    if (is_new) {
      fusion.by = by;
      fusion.fused = {view.fusing(at).name, 0, 0, view.fusing(at).example};
      for (const std::size_t i : parts.members) {
        fusion.parts.push_back({view.other(i).name, 0, 0, view.other(i).example});
      }
    }
    fusion.implied = parts.implied;
    merge(fusion.fused, kernel_of(view.fusing(at)));
    finding.kernels.push_back({&segment, at, true});
    if (!segment.is_aligned(segment.pairs[at])) alone(finding, by, true) += static_cast<double>(view.fusing(at).time);
    for (std::size_t p = 0; p < parts.members.size(); ++p) {
      const PairSide& part = view.other(parts.members[p]);
      merge(fusion.parts[p], kernel_of(part));
      finding.kernels.push_back({&segment, parts.members[p], false});
      if (!segment.is_aligned(segment.pairs[parts.members[p]])) {
        alone(finding, by, false) += static_cast<double>(part.time);
      }
      fusion.partial = fusion.partial || op_parts(view.op(part)).size() > 1;
    }
    fusion.layers.insert(fusion.layers.end(), segment.layers.begin(), segment.layers.end());
    std::ranges::sort(fusion.layers, comes_before);
    fusion.layers.erase(std::unique(fusion.layers.begin(), fusion.layers.end()), fusion.layers.end());
    support(segment, finding);
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
      KernelPair& pair = kernel.segment->pairs[kernel.pair];
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
};

}  // namespace

FusedAlignment find_fusions(GroupAlignment alignment, const KernelNameTable& kernel_names, double least_confidence) {
  return Collector(std::move(alignment), kernel_names).run(least_confidence);
}

}  // namespace tracedb
