#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "compare/align/layer_templates.h"

namespace tracedb {
namespace {

std::vector<KernelUse> kernel_uses(std::span<const TemplateKernel> kernels) {
  std::vector<KernelUse> uses;
  uses.reserve(kernels.size());
  for (const TemplateKernel& kernel : kernels) {
    uses.push_back({kernel.name, kernel.n > 0 ? static_cast<double>(kernel.time) / static_cast<double>(kernel.n) : 0});
  }
  return uses;
}

using Positions = std::vector<std::uint32_t>;

// Every lane is compared with every other: of a sequence on more streams than devices have, those that come last are
// one lane.
constexpr std::size_t kMostLanes = 128;

// The positions of one sequence that take part, stream by stream.
struct Lane {
  Positions positions;
  std::map<OpId, double> time;  // by family
};

std::vector<Lane> lanes_of(std::span<const TemplateKernel> kernels, const Positions& positions,
                           const KernelNameTable& kernel_names) {
  std::map<std::uint32_t, std::size_t> numbers;
  std::vector<Lane> lanes;
  for (const std::uint32_t position : positions) {
    const TemplateKernel& kernel = kernels[position];
    const std::size_t number = numbers.try_emplace(kernel.lane, std::min(lanes.size(), kMostLanes - 1)).first->second;
    if (number == lanes.size()) lanes.emplace_back();
    Lane& lane = lanes[number];
    lane.positions.push_back(position);
    lane.time[kernel_names.family_of(kernel_names.op_of(kernel.name))] += static_cast<double>(kernel.time);
  }
  return lanes;
}

double common_time(const Lane& a, const Lane& b) {
  double time = 0;
  for (const auto& [op, own] : a.time) {
    const auto other = b.time.find(op);
    if (other != b.time.end()) time += std::min(own, other->second);
  }
  return time;
}

// The lane of most kernels.
std::uint32_t main_lane(std::span<const TemplateKernel> kernels) {
  std::map<std::uint32_t, std::size_t> counts;
  for (const TemplateKernel& kernel : kernels) ++counts[kernel.lane];
  const auto most = std::ranges::max_element(counts, {}, [](const auto& one) { return one.second; });
  return most == counts.end() ? 0 : most->first;
}

// Positions of the most entries that rise: of those that are not kNoPartner, without the fewest that cross others.
Positions rising(const Positions& partner) {
  Positions ends, before(partner.size(), kNoPartner);  // by length: the position that ends the lowest run so far
  for (std::uint32_t i = 0; i < partner.size(); ++i) {
    if (partner[i] == kNoPartner) continue;
    const auto at = std::ranges::lower_bound(ends, partner[i], {}, [&](std::uint32_t end) { return partner[end]; });
    if (at != ends.begin()) before[i] = *(at - 1);
    if (at == ends.end()) {
      ends.push_back(i);
    } else {
      *at = i;
    }
  }
  Positions out;
  for (std::uint32_t i = ends.empty() ? kNoPartner : ends.back(); i != kNoPartner; i = before[i]) out.push_back(i);
  std::ranges::reverse(out);
  return out;
}

// Every two lanes with work of the same kind: first one partner for each, those with the most time of the same kinds
// first, then the others in that order.
std::vector<std::pair<std::size_t, std::size_t>> likely_lanes(const std::vector<Lane>& a, const std::vector<Lane>& b) {
  std::vector<std::tuple<double, std::size_t, std::size_t, std::size_t, std::size_t>> likely;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) {
      const double common = common_time(a[i], b[j]);
      if (common > 0) likely.emplace_back(-common, i + j, std::min(i, j), i, j);
    }
  }
  std::ranges::sort(likely);
  std::vector<bool> of_a(a.size(), false), of_b(b.size(), false);
  std::vector<std::pair<std::size_t, std::size_t>> matched, others;
  for (const auto& [rank, sum, least, i, j] : likely) {
    if (of_a[i] || of_b[j]) {
      others.emplace_back(i, j);
      continue;
    }
    of_a[i] = of_b[j] = true;
    matched.emplace_back(i, j);
  }
  matched.insert(matched.end(), others.begin(), others.end());
  return matched;
}

// Positions of main streams before each position.
Positions counted_before(const Positions& anchors, std::size_t positions) {
  Positions counts(positions, 0);
  for (const std::uint32_t anchor : anchors) {
    if (anchor + 1 < positions) ++counts[anchor + 1];
  }
  for (std::size_t i = 1; i < positions; ++i) counts[i] += counts[i - 1];
  return counts;
}

// Within a stream it is a tie which of several equal kernels is unpaired where the other trace has fewer. The one that
// runs at the position of the partner among the `steady` pairs of the main streams is the one that has it. `fixed`: by
// position, whether its pair must stay; `partner`: of the kernels of `own`; `back`: of the others.
void settle_ties_of(std::span<const TemplateKernel> own, const Positions& own_at, const Positions& others_at,
                    const std::vector<bool>& fixed, Positions& partner, Positions& back) {
  const auto distance = [&](std::uint32_t position, std::uint32_t other) {
    const std::uint32_t a = own_at[position], b = others_at[other];
    return a > b ? a - b : b - a;
  };
  const auto settle = [&](std::uint32_t first, std::uint32_t second) {
    if (own[first].name != own[second].name || fixed[first] || fixed[second]) return;
    if ((partner[first] == kNoPartner) == (partner[second] == kNoPartner)) return;
    const bool of_first = partner[first] != kNoPartner;
    const std::uint32_t has = of_first ? first : second, lacks = of_first ? second : first;
    const std::uint32_t other = partner[has];
    if (distance(lacks, other) >= distance(has, other)) return;
    partner[has] = kNoPartner;
    partner[lacks] = other;
    back[other] = lacks;
  };
  std::map<std::uint32_t, Positions> lanes;
  for (std::uint32_t i = 0; i < own.size(); ++i) lanes[own[i].lane].push_back(i);
  for (const auto& [lane, positions] : lanes) {
    for (std::size_t i = 1; i < positions.size(); ++i) settle(positions[i - 1], positions[i]);
    for (std::size_t i = positions.size(); i-- > 1;) settle(positions[i - 1], positions[i]);
  }
}

// For both sequences. `steady`: positions of the first one.
void settle_ties(std::span<const TemplateKernel> first, std::span<const TemplateKernel> second, const Positions& steady,
                 Positions& partner, Positions& back) {
  std::vector<bool> fixed_first(first.size(), false), fixed_second(second.size(), false);
  Positions steady_second;
  for (const std::uint32_t position : steady) {
    steady_second.push_back(partner[position]);
    fixed_first[position] = fixed_second[partner[position]] = true;
  }
  const Positions at_first = counted_before(steady, first.size());
  const Positions at_second = counted_before(steady_second, second.size());
  settle_ties_of(first, at_first, at_second, fixed_first, partner, back);
  settle_ties_of(second, at_second, at_first, fixed_second, back, partner);
}

class PositionAligner {
 public:
  PositionAligner(std::span<const TemplateKernel> a, std::span<const TemplateKernel> b,
                  const KernelNameTable& kernel_names)
      : a_(a),
        b_(b),
        kernel_names_(kernel_names),
        hosts_a_(companion_hosts(a, kernel_names)),
        hosts_b_(companion_hosts(b, kernel_names)),
        symbols_(make_symbols(kernel_uses(a), kernel_uses(b), kernel_names)) {}

  std::vector<AlignedPair> run() {
    const Positions own_a = hosts(hosts_a_);
    const Positions own_b = hosts(hosts_b_);
    std::vector<AlignedPair> pairs = align(own_a, own_b);
    if (several_lanes(a_) || several_lanes(b_)) {
      std::vector<AlignedPair> by_lane = in_order(align_lanes(own_a, own_b));
      if (cost(by_lane) < cost(pairs)) pairs = std::move(by_lane);
    }
    return with_companions(pairs);
  }

 private:
  static bool has_both(const AlignedPair& pair) { return pair.a != kNoPartner && pair.b != kNoPartner; }
  static bool several_lanes(std::span<const TemplateKernel> kernels) {
    return std::ranges::any_of(kernels,
                               [&](const TemplateKernel& kernel) { return kernel.lane != kernels.front().lane; });
  }
  static Positions hosts(const std::vector<std::uint32_t>& host_of) {
    Positions positions;
    for (std::uint32_t i = 0; i < host_of.size(); ++i) {
      if (host_of[i] == kNoPartner) positions.push_back(i);
    }
    return positions;
  }

  // In positions of the whole sequences.
  [[nodiscard]] std::vector<AlignedPair> align(const Positions& a, const Positions& b) const {
    std::vector<std::uint32_t> symbols_a, symbols_b;
    for (const std::uint32_t position : a) symbols_a.push_back(symbols_.a[position]);
    for (const std::uint32_t position : b) symbols_b.push_back(symbols_.b[position]);
    std::vector<AlignedPair> pairs = align_sequences(symbols_a, symbols_b, symbols_.costs);
    for (AlignedPair& pair : pairs) {
      if (pair.a != kNoPartner) pair.a = a[pair.a];
      if (pair.b != kNoPartner) pair.b = b[pair.b];
    }
    return pairs;
  }

  // Only pairs that have both.
  [[nodiscard]] std::vector<AlignedPair> align_lanes(const Positions& a, const Positions& b) const {
    const std::vector<Lane> lanes_a = lanes_of(a_, a, kernel_names_);
    const std::vector<Lane> lanes_b = lanes_of(b_, b, kernel_names_);
    std::vector<bool> paired_a(a_.size(), false), paired_b(b_.size(), false);
    std::vector<AlignedPair> pairs;
    const auto take = [&](const std::vector<AlignedPair>& more) {
      for (const AlignedPair& pair : more) {
        if (!has_both(pair)) continue;
        pairs.push_back(pair);
        paired_a[pair.a] = paired_b[pair.b] = true;
      }
    };
    const auto left = [](const Lane& lane, const std::vector<bool>& paired) {
      Positions out;
      std::ranges::copy_if(lane.positions, std::back_inserter(out),
                           [&](std::uint32_t position) { return !paired[position]; });
      return out;
    };
    // Kernels left over from two matched lanes stay unpaired: to pair it would cross the pairs between.
    for (const auto& [i, j] : likely_lanes(lanes_a, lanes_b)) {
      take(align(left(lanes_a[i], paired_a), left(lanes_b[j], paired_b)));
    }
    return pairs;
  }

  // As align_sequences() counts it.
  [[nodiscard]] std::uint64_t cost(const std::vector<AlignedPair>& pairs) const {
    const AlignmentCosts& costs = symbols_.costs;
    std::uint64_t sum = 0;
    for (const AlignedPair& pair : pairs) {
      if (!has_both(pair)) {
        sum += costs.gap[pair.a != kNoPartner ? symbols_.a[pair.a] : symbols_.b[pair.b]];
      } else if (!costs.pair.empty()) {
        sum += costs.pair[symbols_.a[pair.a] * costs.symbols + symbols_.b[pair.b]];
      }
    }
    return sum;
  }

  // Pairs that may cross, in the order of one sequence, and each unpaired kernel of the other behind the last
  // before it on the main streams whose pair crosses none: a branch that starts at another time must not take its
  // neighbours along. The shorter sequence, else that with the lesser names, gives the order, whichever side it is.
  [[nodiscard]] std::vector<AlignedPair> in_order(const std::vector<AlignedPair>& pairs) const {
    const bool swap =
        a_.size() != b_.size() ? a_.size() > b_.size() : std::ranges::lexicographical_compare(symbols_.b, symbols_.a);
    Sequence leading{a_, &hosts_a_}, other{b_, &hosts_b_};
    if (swap) std::swap(leading, other);
    Positions partner(leading.kernels.size(), kNoPartner), back(other.kernels.size(), kNoPartner);
    for (const AlignedPair& pair : pairs) {
      const AlignedPair own = oriented(pair, swap);
      partner[own.a] = own.b;
      back[own.b] = own.a;
    }
    const Positions steady = rising(of_main_lanes(partner, leading, other));
    settle_ties(leading.kernels, other.kernels, steady, partner, back);
    std::vector<AlignedPair> out;
    std::uint32_t next = 0;  // of the other sequence
    const auto put_unpaired_before = [&](std::size_t end) {
      for (; next < end; ++next) {
        if (back[next] == kNoPartner && !other.is_companion(next)) out.push_back(oriented({kNoPartner, next}, swap));
      }
    };
    auto anchor = steady.begin();
    const auto end_of_stretch = [&] { return anchor == steady.end() ? back.size() : partner[*anchor]; };
    put_unpaired_before(end_of_stretch());
    for (std::uint32_t i = 0; i < partner.size(); ++i) {
      if (leading.is_companion(i)) continue;
      out.push_back(oriented({i, partner[i]}, swap));
      if (anchor == steady.end() || *anchor != i) continue;
      ++anchor;
      put_unpaired_before(end_of_stretch());
    }
    return out;
  }

  struct Sequence {
    std::span<const TemplateKernel> kernels;
    const std::vector<std::uint32_t>* hosts;
    [[nodiscard]] bool is_companion(std::uint32_t i) const { return (*hosts)[i] != kNoPartner; }
  };
  static AlignedPair oriented(AlignedPair pair, bool swap) {
    if (swap) std::swap(pair.a, pair.b);
    return pair;
  }

  // Without those of pairs that run on no main stream on either side.
  static Positions of_main_lanes(Positions partner, const Sequence& leading, const Sequence& other) {
    const std::uint32_t lane_leading = main_lane(leading.kernels), lane_other = main_lane(other.kernels);
    for (std::size_t i = 0; i < partner.size(); ++i) {
      const bool on_main = partner[i] != kNoPartner &&
                           (leading.kernels[i].lane == lane_leading || other.kernels[partner[i]].lane == lane_other);
      if (!on_main) partner[i] = kNoPartner;
    }
    return partner;
  }

  // Companions behind their hosts, in pairs as far as both sides have them.
  [[nodiscard]] std::vector<AlignedPair> with_companions(const std::vector<AlignedPair>& pairs) const {
    std::map<std::uint32_t, Positions> of_a = companions(hosts_a_);
    std::map<std::uint32_t, Positions> of_b = companions(hosts_b_);
    if (of_a.empty() && of_b.empty()) return pairs;
    std::vector<AlignedPair> out;
    for (const AlignedPair& pair : pairs) {
      out.push_back(pair);
      const Positions& a = of_a[pair.a];
      const Positions& b = of_b[pair.b];
      for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
        out.push_back({i < a.size() ? a[i] : kNoPartner, i < b.size() ? b[i] : kNoPartner});
      }
    }
    return out;
  }
  static std::map<std::uint32_t, Positions> companions(const std::vector<std::uint32_t>& host_of) {
    std::map<std::uint32_t, Positions> out;
    for (std::uint32_t i = 0; i < host_of.size(); ++i) {
      if (host_of[i] != kNoPartner) out[host_of[i]].push_back(i);
    }
    return out;
  }

  std::span<const TemplateKernel> a_, b_;
  const KernelNameTable& kernel_names_;
  std::vector<std::uint32_t> hosts_a_, hosts_b_;
  AlignedSymbols symbols_;
};

bool same_names(std::span<const TemplateKernel> a, std::span<const TemplateKernel> b) {
  return std::ranges::equal(a, b, {}, &TemplateKernel::name, &TemplateKernel::name);
}

}  // namespace

std::vector<AlignedPair> align_positions(std::span<const TemplateKernel> a, std::span<const TemplateKernel> b,
                                         const KernelNameTable& kernel_names) {
  if (!same_names(a, b)) return PositionAligner(a, b, kernel_names).run();
  std::vector<AlignedPair> pairs;
  for (std::uint32_t i = 0; i < a.size(); ++i) pairs.push_back({i, i});
  return pairs;
}

std::vector<std::uint32_t> companion_hosts(std::span<const TemplateKernel> kernels,
                                           const KernelNameTable& kernel_names) {
  constexpr std::size_t kReach = 2;  // kernels of other work between the two
  std::vector<std::uint32_t> hosts(kernels.size(), kNoPartner);
  for (std::uint32_t i = 0; i < kernels.size(); ++i) {
    const std::optional<OpId> wanted = kernel_names.entries()[kernels[i].name].host;
    if (!wanted) continue;
    std::size_t passed = 0;
    for (std::uint32_t at = i; at-- > 0 && passed <= kReach;) {
      if (kernels[at].lane != kernels[i].lane || hosts[at] != kNoPartner) continue;
      if (kernel_names.family_of(kernel_names.op_of(kernels[at].name)) == *wanted) {
        hosts[i] = at;
        break;
      }
      ++passed;
    }
  }
  return hosts;
}

}  // namespace tracedb
