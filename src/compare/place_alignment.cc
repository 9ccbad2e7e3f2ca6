#include "compare/place_alignment.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace tracedb {
namespace {

using Places = std::vector<std::uint32_t>;

// Every lane is compared with every other: of a sequence on more streams than devices have, those that come last are
// one lane.
constexpr std::size_t kMostLanes = 128;

// The places of one sequence that take part, stream by stream.
struct Lane {
  Places places;
  std::map<OpId, double> time;  // by family
};

std::vector<Lane> lanes_of(std::span<const TemplateKernel> kernels, const Places& places,
                           const Vocabulary& vocabulary) {
  std::map<std::uint32_t, std::size_t> numbers;
  std::vector<Lane> lanes;
  for (const std::uint32_t place : places) {
    const TemplateKernel& kernel = kernels[place];
    const std::size_t number = numbers.try_emplace(kernel.lane, std::min(lanes.size(), kMostLanes - 1)).first->second;
    if (number == lanes.size()) lanes.emplace_back();
    Lane& lane = lanes[number];
    lane.places.push_back(place);
    lane.time[vocabulary.family_of(vocabulary.op_of(kernel.name))] += static_cast<double>(kernel.time);
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
  const auto fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
  return counts.empty() ? 0 : std::max_element(counts.begin(), counts.end(), fewer)->first;
}

// Places of the most entries that rise: of those that are not kNoPartner, without the fewest that cross others.
Places rising(const Places& partner) {
  Places ends, before(partner.size(), kNoPartner);  // by length: the place that ends the lowest run so far
  for (std::uint32_t i = 0; i < partner.size(); ++i) {
    if (partner[i] == kNoPartner) continue;
    const auto at = std::lower_bound(ends.begin(), ends.end(), i,
                                     [&](std::uint32_t end, std::uint32_t now) { return partner[end] < partner[now]; });
    if (at != ends.begin()) before[i] = *(at - 1);
    if (at == ends.end()) {
      ends.push_back(i);
    } else {
      *at = i;
    }
  }
  Places out;
  for (std::uint32_t i = ends.empty() ? kNoPartner : ends.back(); i != kNoPartner; i = before[i]) out.push_back(i);
  std::reverse(out.begin(), out.end());
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
  std::sort(likely.begin(), likely.end());
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

// Places of main streams before each place.
Places counted_before(const Places& anchors, std::size_t places) {
  Places counts(places, 0);
  for (const std::uint32_t anchor : anchors) {
    if (anchor + 1 < places) ++counts[anchor + 1];
  }
  for (std::size_t i = 1; i < places; ++i) counts[i] += counts[i - 1];
  return counts;
}

// Within a stream it is a tie which of several equal kernels stands alone where the other side has fewer. The one that
// runs at the place of the partner among the `steady` pairs of the main streams is the one that has it.
class TieSettler {
 public:
  // `partner`: of the kernels of `own`; `back`: of the others.
  TieSettler(std::span<const TemplateKernel> own, const Places& own_at, const Places& others_at, Places& partner,
             Places& back)
      : own_(own), own_at_(own_at), others_at_(others_at), partner_(partner), back_(back) {}

  // `fixed`: by place, whether its pair must stay.
  void run(const std::vector<bool>& fixed) {
    std::map<std::uint32_t, Places> lanes;
    for (std::uint32_t i = 0; i < own_.size(); ++i) lanes[own_[i].lane].push_back(i);
    for (const auto& [lane, places] : lanes) {
      for (std::size_t i = 1; i < places.size(); ++i) settle(places[i - 1], places[i], fixed);
      for (std::size_t i = places.size(); i-- > 1;) settle(places[i - 1], places[i], fixed);
    }
  }

 private:
  void settle(std::uint32_t first, std::uint32_t second, const std::vector<bool>& fixed) {
    if (own_[first].name != own_[second].name || fixed[first] || fixed[second]) return;
    if ((partner_[first] == kNoPartner) == (partner_[second] == kNoPartner)) return;
    const bool of_first = partner_[first] != kNoPartner;
    const std::uint32_t has = of_first ? first : second, lacks = of_first ? second : first;
    const std::uint32_t partner = partner_[has];
    if (distance(lacks, partner) >= distance(has, partner)) return;
    partner_[has] = kNoPartner;
    partner_[lacks] = partner;
    back_[partner] = lacks;
  }
  [[nodiscard]] std::uint32_t distance(std::uint32_t own, std::uint32_t other) const {
    const std::uint32_t a = own_at_[own], b = others_at_[other];
    return a > b ? a - b : b - a;
  }

  std::span<const TemplateKernel> own_;
  const Places& own_at_;
  const Places& others_at_;
  Places& partner_;
  Places& back_;
};

// For both sequences. `steady`: places of the first one.
void settle_ties(std::span<const TemplateKernel> first, std::span<const TemplateKernel> second, const Places& steady,
                 Places& partner, Places& back) {
  std::vector<bool> fixed_first(first.size(), false), fixed_second(second.size(), false);
  Places steady_second;
  for (const std::uint32_t place : steady) {
    steady_second.push_back(partner[place]);
    fixed_first[place] = fixed_second[partner[place]] = true;
  }
  const Places at_first = counted_before(steady, first.size());
  const Places at_second = counted_before(steady_second, second.size());
  TieSettler(first, at_first, at_second, partner, back).run(fixed_first);
  TieSettler(second, at_second, at_first, back, partner).run(fixed_second);
}

class PlaceAligner {
 public:
  PlaceAligner(std::span<const TemplateKernel> a, std::span<const TemplateKernel> b, const Vocabulary& vocabulary)
      : a_(a),
        b_(b),
        vocabulary_(vocabulary),
        hosts_a_(companion_hosts(a, vocabulary)),
        hosts_b_(companion_hosts(b, vocabulary)),
        roles_(make_roles(role_uses(a), role_uses(b), vocabulary)) {}

  std::vector<AlignedPair> run() {
    const Places own_a = hosts(hosts_a_);
    const Places own_b = hosts(hosts_b_);
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
    return std::any_of(kernels.begin(), kernels.end(),
                       [&](const TemplateKernel& kernel) { return kernel.lane != kernels.front().lane; });
  }
  static Places hosts(const std::vector<std::uint32_t>& host_of) {
    Places places;
    for (std::uint32_t i = 0; i < host_of.size(); ++i) {
      if (host_of[i] == kNoPartner) places.push_back(i);
    }
    return places;
  }

  // In places of the whole sequences.
  [[nodiscard]] std::vector<AlignedPair> align(const Places& a, const Places& b) const {
    std::vector<std::uint32_t> roles_a, roles_b;
    for (const std::uint32_t place : a) roles_a.push_back(roles_.a[place]);
    for (const std::uint32_t place : b) roles_b.push_back(roles_.b[place]);
    std::vector<AlignedPair> pairs = align_sequences(roles_a, roles_b, roles_.costs);
    for (AlignedPair& pair : pairs) {
      if (pair.a != kNoPartner) pair.a = a[pair.a];
      if (pair.b != kNoPartner) pair.b = b[pair.b];
    }
    return pairs;
  }

  // Only pairs that have both.
  [[nodiscard]] std::vector<AlignedPair> align_lanes(const Places& a, const Places& b) const {
    const std::vector<Lane> lanes_a = lanes_of(a_, a, vocabulary_);
    const std::vector<Lane> lanes_b = lanes_of(b_, b, vocabulary_);
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
      Places out;
      std::ranges::copy_if(lane.places, std::back_inserter(out), [&](std::uint32_t place) { return !paired[place]; });
      return out;
    };
    // What is left of two lanes that were matched stays alone: to pair it would cross the pairs between.
    for (const auto& [i, j] : likely_lanes(lanes_a, lanes_b)) {
      take(align(left(lanes_a[i], paired_a), left(lanes_b[j], paired_b)));
    }
    return pairs;
  }

  // As align_sequences() counts it.
  [[nodiscard]] std::uint64_t cost(const std::vector<AlignedPair>& pairs) const {
    const AlignmentCosts& costs = roles_.costs;
    std::uint64_t sum = 0;
    for (const AlignedPair& pair : pairs) {
      if (!has_both(pair)) {
        sum += costs.gap[pair.a != kNoPartner ? roles_.a[pair.a] : roles_.b[pair.b]];
      } else if (!costs.pair.empty()) {
        sum += costs.pair[roles_.a[pair.a] * costs.roles + roles_.b[pair.b]];
      }
    }
    return sum;
  }

  // Pairs that may cross, in the order of one sequence, and each kernel that stands alone in the other behind the last
  // before it on the main streams whose pair crosses none: a branch that starts at another time must not take its
  // neighbours along. The shorter sequence, else that with the lesser names, gives the order, whichever side it is.
  [[nodiscard]] std::vector<AlignedPair> in_order(const std::vector<AlignedPair>& pairs) const {
    const bool swap =
        a_.size() != b_.size() ? a_.size() > b_.size() : std::ranges::lexicographical_compare(roles_.b, roles_.a);
    const std::size_t leading = swap ? b_.size() : a_.size();
    const std::size_t other = swap ? a_.size() : b_.size();
    Places partner(leading, kNoPartner), back(other, kNoPartner);
    for (const AlignedPair& pair : pairs) {
      partner[swap ? pair.b : pair.a] = swap ? pair.a : pair.b;
      back[swap ? pair.a : pair.b] = swap ? pair.b : pair.a;
    }
    const std::vector<std::uint32_t>& hosts_leading = swap ? hosts_b_ : hosts_a_;
    const std::vector<std::uint32_t>& hosts_other = swap ? hosts_a_ : hosts_b_;
    std::vector<AlignedPair> out;
    const auto put = [&](std::uint32_t first, std::uint32_t second) {
      out.push_back(swap ? AlignedPair{second, first} : AlignedPair{first, second});
    };
    std::uint32_t next = 0;  // of the other sequence
    const auto put_alone_before = [&](std::size_t end) {
      for (; next < end; ++next) {
        if (back[next] == kNoPartner && hosts_other[next] == kNoPartner) put(kNoPartner, next);
      }
    };
    const Places steady = rising(of_main_lanes(partner, swap));
    settle_ties(swap ? b_ : a_, swap ? a_ : b_, steady, partner, back);
    auto anchor = steady.begin();
    put_alone_before(steady.empty() ? other : partner[*anchor]);
    for (std::uint32_t i = 0; i < leading; ++i) {
      if (hosts_leading[i] != kNoPartner) continue;
      put(i, partner[i]);
      if (anchor == steady.end() || *anchor != i) continue;
      ++anchor;
      put_alone_before(anchor == steady.end() ? other : partner[*anchor]);
    }
    return out;
  }

  // Without those of pairs that run on no main stream on either side. `swap`: of places of the second sequence.
  [[nodiscard]] Places of_main_lanes(Places partner, bool swap) const {
    const auto leading = swap ? b_ : a_;
    const auto other = swap ? a_ : b_;
    const std::uint32_t lane_leading = main_lane(leading), lane_other = main_lane(other);
    for (std::size_t i = 0; i < partner.size(); ++i) {
      const bool on_main =
          partner[i] != kNoPartner && (leading[i].lane == lane_leading || other[partner[i]].lane == lane_other);
      if (!on_main) partner[i] = kNoPartner;
    }
    return partner;
  }

  // Companions behind their hosts, in pairs as far as both sides have them.
  [[nodiscard]] std::vector<AlignedPair> with_companions(const std::vector<AlignedPair>& pairs) const {
    std::map<std::uint32_t, Places> of_a = companions(hosts_a_);
    std::map<std::uint32_t, Places> of_b = companions(hosts_b_);
    if (of_a.empty() && of_b.empty()) return pairs;
    std::vector<AlignedPair> out;
    for (const AlignedPair& pair : pairs) {
      out.push_back(pair);
      const Places& a = of_a[pair.a];
      const Places& b = of_b[pair.b];
      for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
        out.push_back({i < a.size() ? a[i] : kNoPartner, i < b.size() ? b[i] : kNoPartner});
      }
    }
    return out;
  }
  static std::map<std::uint32_t, Places> companions(const std::vector<std::uint32_t>& host_of) {
    std::map<std::uint32_t, Places> out;
    for (std::uint32_t i = 0; i < host_of.size(); ++i) {
      if (host_of[i] != kNoPartner) out[host_of[i]].push_back(i);
    }
    return out;
  }

  std::span<const TemplateKernel> a_, b_;
  const Vocabulary& vocabulary_;
  std::vector<std::uint32_t> hosts_a_, hosts_b_;
  Roles roles_;
};

bool same_names(std::span<const TemplateKernel> a, std::span<const TemplateKernel> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const TemplateKernel& x, const TemplateKernel& y) { return x.name == y.name; });
}

}  // namespace

std::vector<AlignedPair> align_places(std::span<const TemplateKernel> a, std::span<const TemplateKernel> b,
                                      const Vocabulary& vocabulary) {
  if (!same_names(a, b)) return PlaceAligner(a, b, vocabulary).run();
  std::vector<AlignedPair> pairs;
  for (std::uint32_t i = 0; i < a.size(); ++i) pairs.push_back({i, i});
  return pairs;
}

std::vector<std::uint32_t> companion_hosts(std::span<const TemplateKernel> kernels, const Vocabulary& vocabulary) {
  constexpr std::size_t kReach = 2;  // kernels of other work between the two
  std::vector<std::uint32_t> hosts(kernels.size(), kNoPartner);
  for (std::uint32_t i = 0; i < kernels.size(); ++i) {
    const std::optional<OpId> wanted = vocabulary.names()[kernels[i].name].host;
    if (!wanted) continue;
    std::size_t passed = 0;
    for (std::uint32_t at = i; at-- > 0 && passed <= kReach;) {
      if (kernels[at].lane != kernels[i].lane || hosts[at] != kNoPartner) continue;
      if (vocabulary.family_of(vocabulary.op_of(kernels[at].name)) == *wanted) {
        hosts[i] = at;
        break;
      }
      ++passed;
    }
  }
  return hosts;
}

std::vector<RoleUse> role_uses(std::span<const TemplateKernel> kernels) {
  std::vector<RoleUse> uses;
  uses.reserve(kernels.size());
  for (const TemplateKernel& kernel : kernels) {
    uses.push_back({kernel.name, kernel.n > 0 ? static_cast<double>(kernel.time) / static_cast<double>(kernel.n) : 0});
  }
  return uses;
}

}  // namespace tracedb
