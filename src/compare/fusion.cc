#include "compare/fusion.h"

#include <algorithm>
#include <map>
#include <set>

#include "compare/role_costs.h"
#include "passes/group_stats.h"
#include "passes/kernel_traits.h"

namespace tracedb {
namespace {

using Parts = std::multiset<std::string_view>;

// One segment seen with the roles of the sides fixed: `fused` is where a kernel may do the work of several.
class View {
 public:
  View(const AlignedSegment& segment, FusedBy by, const Vocabulary& vocabulary)
      : segment_(segment), by_(by), vocabulary_(vocabulary) {}

  [[nodiscard]] std::size_t size() const { return segment_.pairs.size(); }
  [[nodiscard]] const PairSide& fusing(std::size_t i) const {
    return by_ == FusedBy::kBaseline ? segment_.pairs[i].baseline : segment_.pairs[i].candidate;
  }
  [[nodiscard]] const PairSide& other(std::size_t i) const {
    return by_ == FusedBy::kBaseline ? segment_.pairs[i].candidate : segment_.pairs[i].baseline;
  }
  [[nodiscard]] const std::string& op(const PairSide& side) const {
    return vocabulary_.op_name(vocabulary_.op_of(side.name));
  }
  [[nodiscard]] bool known(const PairSide& side) const {
    return side.n > 0 && op(side) != "other" && op(side) != "triton_fused";
  }
  [[nodiscard]] Traits traits(const PairSide& side) const { return side.n > 0 ? traits_of_class(op(side)) : 0; }
  // The pair's other side stands alone.
  [[nodiscard]] bool only_other(std::size_t i) const { return other(i).n > 0 && fusing(i).n == 0; }

 private:
  const AlignedSegment& segment_;
  FusedBy by_;
  const Vocabulary& vocabulary_;
};

Parts parts_of(const std::string& op) {
  Parts parts;
  for (std::string_view part : op_parts(op)) {
    if (part.starts_with("attention")) part = "attention";
    parts.insert(part);
  }
  return parts;
}

bool within(const Parts& parts, const Parts& all) {
  return std::all_of(parts.begin(), parts.end(), [&](std::string_view part) { return all.contains(part); });
}

// Pairs whose other side is what the kernel at `at` does besides its partner's work; empty: nothing.
class NamedParts {
 public:
  explicit NamedParts(const View& view) : view_(view), taken_(view.size(), false) {}

  std::vector<std::size_t> find(std::size_t at) {
    const PairSide& fused = view_.fusing(at);
    if (!view_.known(fused)) return {};
    const Parts all = parts_of(view_.op(fused));
    if (all.size() < 2) return {};
    Parts missing = all;
    const PairSide& partner = view_.other(at);
    if (partner.n > 0) {
      if (!view_.known(partner) || !within(parts_of(view_.op(partner)), all)) return {};
      for (const std::string_view part : parts_of(view_.op(partner))) {
        if (const auto found = missing.find(part); found != missing.end()) missing.erase(found);
      }
    }
    std::vector<std::size_t> members;
    Parts supplied = partner.n > 0 ? parts_of(view_.op(partner)) : Parts{};
    collect(at, -1, missing, members, supplied);
    collect(at, +1, missing, members, supplied);
    // Two kernels at least, the partner among them if there is one, and not all of one class: that is no fusion.
    const bool one_class =
        std::all_of(supplied.begin(), supplied.end(), [&](std::string_view part) { return part == *supplied.begin(); });
    if (members.size() + (partner.n > 0 ? 1 : 0) < 2 || one_class) return {};
    if (partner.n > 0) members.push_back(at);
    std::sort(members.begin(), members.end());
    for (const std::size_t member : members) taken_[member] = true;
    return members;
  }

 private:
  // Kernels that stand alone in one direction, as long as they hold what is missing. Others that stand alone, on either
  // side, are stepped over; a kernel that has its own partner ends the search.
  void collect(std::size_t at, int step, const Parts& missing, std::vector<std::size_t>& members, Parts& supplied) {
    constexpr int kMostSkipped = 2;
    int skipped = 0;
    for (auto i = static_cast<std::ptrdiff_t>(at) + step; i >= 0 && i < static_cast<std::ptrdiff_t>(view_.size());
         i += step) {
      const auto place = static_cast<std::size_t>(i);
      const PairSide& alone = view_.other(place);
      if ((alone.n > 0 && view_.fusing(place).n > 0) || taken_[place]) break;
      const Parts own = view_.known(alone) ? parts_of(view_.op(alone)) : Parts{};
      if (!own.empty() && within(own, missing)) {
        members.push_back(place);
        supplied.insert(own.begin(), own.end());
      } else if (++skipped > kMostSkipped) {
        break;
      }
    }
  }

  const View& view_;
  std::vector<bool> taken_;
};

// softmax with a matrix product on either side, not further than a few kernels, where the fusing side has attention.
std::vector<std::size_t> parts_of_attention(const View& view, std::size_t at) {
  if ((view.traits(view.fusing(at)) & kAttentionTrait) == 0 || (view.traits(view.other(at)) & kAttentionTrait) != 0) {
    return {};
  }
  constexpr std::size_t kReach = 6;
  const std::size_t begin = at > kReach ? at - kReach : 0;
  const std::size_t end = std::min(view.size(), at + kReach + 1);
  for (std::size_t i = begin; i < end; ++i) {
    if (view.other(i).n == 0 || !parts_of(view.op(view.other(i))).contains("softmax")) continue;
    if (view.fusing(i).n > 0 && i != at) continue;
    std::size_t first = i, last = i;
    const auto product = [&](std::size_t j) {
      return (view.traits(view.other(j)) & kGemmTrait) != 0 && (view.only_other(j) || j == at);
    };
    const auto between = [&](std::size_t j) { return view.only_other(j) || j == at || view.other(j).n == 0; };
    for (std::size_t j = i; j-- > begin && between(j);) {
      if (product(j)) {
        first = j;
        break;
      }
    }
    for (std::size_t j = i + 1; j < end && between(j); ++j) {
      if (product(j)) {
        last = j;
        break;
      }
    }
    if (first == i || last == i) continue;
    std::vector<std::size_t> members;
    for (std::size_t j = first; j <= last; ++j) {
      if (view.other(j).n > 0 && view.known(view.other(j))) members.push_back(j);
    }
    return members;
  }
  return {};
}

bool is_moe(std::string_view op) {
  const auto parts = op_parts(op);
  return std::any_of(parts.begin(), parts.end(), [](std::string_view part) { return part.starts_with("moe_"); });
}

// All MoE work of the other side, where the fusing side has one kernel for it in the segment.
std::vector<std::size_t> parts_of_moe(const View& view, std::size_t at) {
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

// One routing kernel where the other side has several. A kernel that both sides have was not made of several: what
// stands beside it was put there.
std::vector<std::size_t> parts_of_routing(const View& view, std::size_t at) {
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

// The experts' results are added up on the other side alone, right behind the partner of this matrix product.
std::vector<std::size_t> parts_of_summing_product(const View& view, std::size_t at) {
  const auto is = [&](const PairSide& side, std::string_view part) {
    return side.n > 0 && parts_of(view.op(side)).contains(part);
  };
  if (!is(view.fusing(at), "moe_gemm") || !is(view.other(at), "moe_gemm")) return {};
  if (view.fusing(at).name == view.other(at).name) return {};
  for (std::size_t i = 0; i < view.size(); ++i) {
    if (is(view.fusing(i), "moe_finalize")) return {};
  }
  const std::size_t next = at + 1;
  if (next >= view.size() || !view.only_other(next) || !is(view.other(next), "moe_finalize")) return {};
  return {at, next};
}

FusionKernel kernel_of(const PairSide& side) { return {side.name, side.n, side.time, side.example}; }

class Collector {
 public:
  Collector(GroupAlignment& alignment, const Vocabulary& vocabulary) : alignment_(alignment), vocabulary_(vocabulary) {}

  std::vector<Fusion> run() {
    for (AlignedSegment& segment : alignment_.segments) {
      search(segment, FusedBy::kBaseline);
      search(segment, FusedBy::kCandidate);
    }
    account();
    std::vector<Fusion> out;
    for (auto& [key, fusion] : found_) out.push_back(std::move(fusion));
    const auto time = [](const Fusion& fusion) {
      std::int64_t sum = fusion.fused.time;
      for (const FusionKernel& part : fusion.parts) sum = bounded_add(sum, part.time);
      return sum;
    };
    std::stable_sort(out.begin(), out.end(), [&](const Fusion& a, const Fusion& b) { return time(a) > time(b); });
    return out;
  }

 private:
  void search(AlignedSegment& segment, FusedBy by) {
    const View view(segment, by, vocabulary_);
    NamedParts named(view);
    std::set<std::size_t> used;
    for (std::size_t i = 0; i < view.size(); ++i) {
      if (view.fusing(i).n == 0 || used.contains(i)) continue;
      std::vector<std::size_t> members = named.find(i);
      if (members.empty()) members = parts_of_attention(view, i);
      if (members.empty()) members = parts_of_moe(view, i);
      if (members.empty()) members = parts_of_routing(view, i);
      const bool implied = members.empty();
      if (implied) members = parts_of_summing_product(view, i);
      const bool taken = std::any_of(members.begin(), members.end(), [&](std::size_t m) { return used.contains(m); });
      if (members.empty() || taken) continue;
      used.insert(members.begin(), members.end());
      used.insert(i);
      add(segment, view, by, i, members, implied);
    }
  }

  // The same kernels in other layers are the same finding.
  void add(AlignedSegment& segment, const View& view, FusedBy by, std::size_t at,
           const std::vector<std::size_t>& members, bool implied) {
    Key key{by, name(view.fusing(at)), {}};
    for (const std::size_t i : members) std::get<2>(key).push_back(name(view.other(i)));
    const auto [entry, is_new] = found_.try_emplace(std::move(key));
    Fusion& fusion = entry->second;
    if (is_new) {
      fusion.by = by;
      fusion.fused = {view.fusing(at).name, 0, 0, view.fusing(at).example};
      for (const std::size_t i : members) fusion.parts.push_back({view.other(i).name, 0, 0, view.other(i).example});
    }
    fusion.implied = implied;
    merge(fusion.fused, kernel_of(view.fusing(at)));
    if (view.other(at).n == 0) alone(by, true) += static_cast<double>(view.fusing(at).time);
    for (std::size_t p = 0; p < members.size(); ++p) {
      const PairSide& part = view.other(members[p]);
      merge(fusion.parts[p], kernel_of(part));
      if (view.only_other(members[p])) alone(by, false) += static_cast<double>(part.time);
      fusion.partial = fusion.partial || op_parts(view.op(part)).size() > 1;
    }
    const auto account_for = [&](std::size_t i) { segment.pairs[i].fused = !segment.pairs[i].has_both(); };
    account_for(at);
    std::for_each(members.begin(), members.end(), account_for);
    fusion.layers.insert(fusion.layers.end(), segment.layers.begin(), segment.layers.end());
    std::sort(fusion.layers.begin(), fusion.layers.end(), comes_before);
    fusion.layers.erase(std::unique(fusion.layers.begin(), fusion.layers.end()), fusion.layers.end());
    support(segment, fusion);
  }

  void support(const AlignedSegment& segment, Fusion& fusion) {
    const auto share = [](std::int64_t following, std::int64_t instances) {
      return instances > 0 ? static_cast<double>(following) / static_cast<double>(instances) : 0;
    };
    const double own = std::min(share(segment.baseline_following, segment.baseline_instances),
                                share(segment.candidate_following, segment.candidate_instances));
    auto& [sum, weight] = weights_[&fusion];
    const auto layers = static_cast<double>(segment.layers.size());
    sum += own * layers;
    weight += layers;
    fusion.support = sum / weight;
  }

  // Time of kernels without partner that a finding accounts for.
  double& alone(FusedBy by, bool fusing) {
    return (by == FusedBy::kBaseline) == fusing ? baseline_alone_ : candidate_alone_;
  }

  void account() {
    GroupAlignment& all = alignment_;
    if (all.baseline_time > 0) all.baseline_share += baseline_alone_ / all.baseline_time;
    if (all.candidate_time > 0) all.candidate_share += candidate_alone_ / all.candidate_time;
    constexpr double kImplied = 0.5;
    for (auto& [key, fusion] : found_) {
      fusion.confidence =
          fusion.support * std::min(all.baseline_share, all.candidate_share) * (fusion.implied ? kImplied : 1);
    }
  }

  static void merge(FusionKernel& to, const FusionKernel& more) {
    to.n += more.n;
    to.time = bounded_add(to.time, more.time);
  }
  [[nodiscard]] std::string name(const PairSide& side) const { return vocabulary_.names()[side.name].name; }

  using Key = std::tuple<FusedBy, std::string, std::vector<std::string>>;

  GroupAlignment& alignment_;
  const Vocabulary& vocabulary_;
  std::map<Key, Fusion> found_;
  double baseline_alone_ = 0, candidate_alone_ = 0;
  std::map<const Fusion*, std::pair<double, double>> weights_;
};

}  // namespace

std::vector<Fusion> find_fusions(GroupAlignment& alignment, const Vocabulary& vocabulary) {
  return Collector(alignment, vocabulary).run();
}

}  // namespace tracedb
