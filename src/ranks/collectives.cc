#include "ranks/collectives.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "base/statistics.h"
#include "base/text/characters.h"

namespace tracedb {
namespace {

using Events = std::vector<std::uint32_t>;  // places in RankTrace::collectives
using ByRank = std::vector<Events>;

// How far apart two ranks end what is thought to be the same.
struct EndFit {
  std::int64_t spread = std::numeric_limits<std::int64_t>::max();  // median distance from the median difference
  std::int64_t offset = 0;                                         // the median difference, without its sign
};

constexpr std::size_t kMostShifts = 2000;
constexpr std::size_t kMostPairs = 512;
constexpr std::int64_t kSameSpread = 1'000;  // ns: as good as each other

std::int64_t end_of(const RankTrace& rank, std::uint32_t event) { return rank.collectives[event].end; }

// `shift`: element i of a is element i + shift of b.
EndFit fit_of(const RankTrace& a, const Events& in_a, const RankTrace& b, const Events& in_b, std::size_t shift) {
  const std::size_t pairs = std::min(in_a.size(), in_b.size() - shift);
  const std::size_t stride = pairs / kMostPairs + 1;
  std::vector<std::int64_t> differences;
  for (std::size_t i = 0; i < pairs; i += stride) {
    differences.push_back(end_of(b, in_b[i + shift]) - end_of(a, in_a[i]));
  }
  const std::int64_t middle = upper_median(std::span(differences));
  for (std::int64_t& difference : differences) difference = std::abs(difference - middle);
  return {upper_median(std::span(differences)), std::abs(middle)};
}

bool is_better(const EndFit& a, const EndFit& b) {
  if (a.spread + kSameSpread < b.spread) return true;
  return a.spread < b.spread + kSameSpread && a.offset < b.offset;
}

// Where the fewer events `some` begin among `all`.
std::size_t best_shift(const RankTrace& rank, const Events& some, const RankTrace& longest, const Events& all) {
  const std::size_t most = std::min(all.size() - some.size(), kMostShifts);
  EndFit best;
  std::size_t best_at = 0;
  for (std::size_t shift = 0; shift <= most; ++shift) {
    const EndFit fit = fit_of(rank, some, longest, all, shift);
    if (shift > 0 && !is_better(fit, best)) continue;
    best = fit;
    best_at = shift;
  }
  return best_at;
}

class Matcher {
 public:
  Matcher(std::span<const RankTrace> ranks, bool all_there) : ranks_(ranks), all_there_(all_there) {}

  Matching match() {
    out_.other_end.resize(ranks_.size());
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) sort_out(rank);
    for (auto& [key, by_rank] : numbered_) match_from(by_rank, true);
    for (auto& [key, by_rank] : unnumbered_) match_streams(by_rank);
    for (auto& [key, by_rank] : peerless_) match_peers(by_rank);
    std::ranges::stable_sort(out_.matched,
                             [&](const auto& a, const auto& b) { return first_start(a) < first_start(b); });
    find_whole();
    return std::move(out_);
  }

 private:
  [[nodiscard]] const CollectiveEvent& event(const CollectiveMember& member) const {
    return ranks_[member.rank].collectives[member.event];
  }
  [[nodiscard]] std::int64_t first_start(const MatchedCollective& collective) const {
    return event(collective.members.front()).start;
  }

  void sort_out(std::uint32_t rank) {
    const auto& events = ranks_[rank].collectives;
    for (std::uint32_t i = 0; i < events.size(); ++i) {
      const CollectiveEvent& event = events[i];
      if (event.exchange == Exchange::kUnknownPeer) {
        of_rank(peerless_[{event.group, event.name}], rank).push_back(i);
      } else if (event.sequence != kUnknownValue) {
        of_rank(numbered_[{event.group, event.name, event.sequence}], rank).push_back(i);
      } else {
        of_rank(unnumbered_[{event.group, event.name}], rank).push_back(i);
      }
    }
  }

  Events& of_rank(ByRank& by_rank, std::uint32_t rank) const {
    by_rank.resize(ranks_.size());
    return by_rank[rank];
  }

  // The i-th of each rank are one.
  void match_from(const ByRank& by_rank, bool by_sequence) {
    std::size_t most = 0;
    for (const Events& events : by_rank) most = std::max(most, events.size());
    for (std::size_t i = 0; i < most; ++i) {
      MatchedCollective one;
      one.by_sequence = by_sequence;
      for (std::uint32_t rank = 0; rank < by_rank.size(); ++rank) {
        if (i < by_rank[rank].size() && by_rank[rank][i] != kNone) one.members.push_back({rank, by_rank[rank][i]});
      }
      keep(std::move(one));
    }
  }

  void keep(MatchedCollective one) {
    if (one.members.empty()) return;
    const CollectiveEvent& first = event(one.members.front());
    one.is_send = first.exchange == Exchange::kSend || first.exchange == Exchange::kReceive;
    if (one.members.size() < 2) {
      ++(one.is_send ? out_.other_end[one.members.front().rank] : out_.single);
      return;
    }
    one.name = first.name;
    one.group = first.group;
    out_.matched.push_back(std::move(one));
  }

  // Of a group of unknown size: as many as most have.
  void find_whole() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> most;
    for (const MatchedCollective& one : out_.matched) {
      std::size_t& members = most[{one.group, one.name}];
      members = std::max(members, one.members.size());
    }
    for (MatchedCollective& one : out_.matched) {
      const auto size = static_cast<std::size_t>(event(one.members.front()).group_size);
      one.is_whole = one.is_send || (size > 0 ? one.members.size() >= size
                                              : all_there_ && one.members.size() == most[{one.group, one.name}]);
    }
  }

  // By stream where each rank has as many on its streams as the others, in the order of their numbers.
  void match_streams(const ByRank& by_rank) {
    std::vector<std::map<std::uint32_t, Events>> streams(by_rank.size());
    for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
      for (const std::uint32_t i : by_rank[rank]) streams[rank][ranks_[rank].collectives[i].stream].push_back(i);
    }
    const auto counts = [](const std::map<std::uint32_t, Events>& of_rank) {
      std::vector<std::size_t> out;
      for (const auto& [stream, events] : of_rank) out.push_back(events.size());
      return out;
    };
    const bool same =
        std::ranges::all_of(streams, [&](const auto& of_rank) { return counts(of_rank) == counts(streams.front()); });
    if (!same) return match_in_order(by_rank);
    for (std::size_t stream = 0; stream < streams.front().size(); ++stream) {
      ByRank part;
      for (auto& of_rank : streams) {
        part.push_back(std::next(of_rank.begin(), static_cast<std::ptrdiff_t>(stream))->second);
      }
      match_from(part, false);
    }
  }

  // Where two ranks alone have some, each is the peer of the other: the n-th of both are one if they overlap, and so
  // end together.
  void match_peers(const ByRank& by_rank) {
    const std::size_t before = out_.matched.size(), single = out_.single;
    std::size_t unknown = 0, ranks = 0;
    for (const Events& events : by_rank) unknown += events.size(), ranks += events.empty() ? 0 : 1;
    if (ranks == 2) match_in_order(by_rank);
    out_.single = single;
    std::vector<std::int64_t> differences;
    for (std::size_t i = before; i < out_.matched.size(); ++i) differences.push_back(end_difference(out_.matched[i]));
    const std::int64_t usual = differences.empty() ? 0 : upper_median(std::span(differences));
    const auto first = out_.matched.begin() + static_cast<std::ptrdiff_t>(before);
    out_.matched.erase(std::remove_if(first, out_.matched.end(),
                                      [&](const MatchedCollective& one) {
                                        const CollectiveEvent &a = event(one.members[0]), &b = event(one.members[1]);
                                        return std::max(a.start, b.start - usual) > std::min(a.end, b.end - usual);
                                      }),
                       out_.matched.end());
    out_.unknown_peer += unknown - 2 * (out_.matched.size() - before);
  }

  [[nodiscard]] std::int64_t end_difference(const MatchedCollective& one) const {
    return event(one.members[1]).end - event(one.members[0]).end;
  }

  void match_in_order(ByRank by_rank) {
    const auto longest = static_cast<std::size_t>(
        std::ranges::max_element(by_rank, [](const Events& a, const Events& b) { return a.size() < b.size(); }) -
        by_rank.begin());
    for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
      Events& events = by_rank[rank];
      if (events.empty() || events.size() == by_rank[longest].size()) continue;
      const std::size_t shift = best_shift(ranks_[rank], events, ranks_[longest], by_rank[longest]);
      events.insert(events.begin(), shift, kNone);
    }
    match_from(by_rank, false);
  }

  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  std::span<const RankTrace> ranks_;
  bool all_there_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::int64_t>, ByRank> numbered_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, ByRank> unnumbered_, peerless_;
  Matching out_;
};

constexpr std::size_t kMostClockPairs = 4096;
constexpr std::size_t kLeastPairsOfDrift = 16;
constexpr double kMostDrift = 0.001;  // what gains more is no clock: crystals are within 200 ppm, NTP slews by 500

// Ends on all members at once: what goes from or to one rank only does not.
bool ends_together(std::string_view name) {
  const std::string text = ascii_lower(name);
  if (contains(text, "broadcast")) return false;
  return contains_any(text, {"allreduce", "all_reduce", "allgather", "all_gather", "alltoall", "all_to_all",
                             "reducescatter", "reduce_scatter"}) ||
         !contains_any(text, {"reduce", "gather", "scatter"});
}

struct Difference {
  std::int64_t at = 0;  // on the other rank's clock
  std::int64_t ns = 0;  // its end less that of the known rank
};

double middle_of(std::vector<double> values) { return median(std::span(values)); }

double middle(std::span<const Difference> differences, double slope, std::int64_t at) {
  std::vector<double> values;
  for (const Difference& one : differences) {
    values.push_back(static_cast<double>(one.ns) - slope * static_cast<double>(one.at - at));
  }
  return middle_of(std::move(values));
}

double scatter(std::span<const Difference> differences, const RankClock& clock) {
  std::vector<double> values;
  for (const Difference& one : differences) {
    values.push_back(
        std::abs(static_cast<double>(one.ns) - clock.offset - clock.slope * static_cast<double>(one.at - clock.at)));
  }
  return middle_of(std::move(values));
}

double slope_of(std::span<const Difference> differences) {
  const std::size_t half = differences.size() / 2;
  std::vector<double> slopes;
  for (std::size_t i = 0; i < half; ++i) {
    const Difference& early = differences[i];
    const Difference& late = differences[differences.size() - half + i];
    if (late.at > early.at) {
      slopes.push_back(static_cast<double>(late.ns - early.ns) / static_cast<double>(late.at - early.at));
    }
  }
  return slopes.empty() ? 0 : middle_of(std::move(slopes));
}

// In order of time.
RankClock fit(std::span<const Difference> differences) {
  RankClock steady;
  steady.known = true;
  steady.pairs = differences.size();
  const std::int64_t first = differences.front().at, last = differences.back().at;
  steady.at = first + (last - first) / 2;
  steady.offset = middle(differences, 0, steady.at);
  steady.uncertainty = scatter(differences, steady);
  if (differences.size() < kLeastPairsOfDrift) return steady;
  RankClock drifting = steady;
  drifting.slope = slope_of(differences);
  if (std::abs(drifting.slope) > kMostDrift) return steady;
  drifting.offset = middle(differences, drifting.slope, drifting.at);
  drifting.uncertainty = scatter(differences, drifting);
  const double gained = std::abs(drifting.slope) * static_cast<double>(last - first);
  return gained > 2 * drifting.uncertainty && drifting.uncertainty < 0.8 * steady.uncertainty ? drifting : steady;
}

// `other` ends what `known` ends; its clock by that of `known`.
RankClock chained(const RankClock& known, RankClock other) {
  const double at_known = static_cast<double>(other.at) - other.offset - static_cast<double>(known.at);
  other.offset += known.offset + known.slope * at_known;
  other.slope += known.slope;
  other.uncertainty += known.uncertainty;
  return other;
}

class Aligner {
 public:
  Aligner(std::span<const RankTrace> ranks, const Matching& matching, const JobTexts& texts)
      : ranks_(ranks), matching_(matching), texts_(texts), clocks_(ranks.size()) {
    for (const MatchedCollective& one : matching_.matched) {
      const std::uint32_t first = one.members.front().rank;
      for (const CollectiveMember& member : one.members) {
        if (member.rank != first) ++shared_[{first, member.rank}][is_together(one) ? 1 : 0];
      }
    }
  }

  std::vector<RankClock> align() {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      if (clocks_[rank].known) continue;
      clocks_[rank].known = true;
      while (const auto next = closest()) set(*next);
    }
    return std::move(clocks_);
  }

 private:
  using Pair = std::pair<std::uint32_t, std::uint32_t>;
  using Counts = std::array<std::size_t, 2>;  // that end at different times, and together

  struct Link {
    std::uint32_t known, other;
    bool together;  // by those that end together
  };

  [[nodiscard]] bool is_together(const MatchedCollective& one) const {
    return !one.is_send && ends_together(texts_.collectives.text(one.name));
  }

  // Of a known and an unknown rank those that share most, at best of what ends together.
  [[nodiscard]] std::optional<Link> closest() const {
    std::optional<Link> best;
    std::pair<std::size_t, std::size_t> most;
    for (const auto& [pair, counts] : shared_) {
      const std::pair rating(counts[1], counts[0]);
      const bool first_known = clocks_[pair.first].known;
      if (first_known == clocks_[pair.second].known || rating <= most) continue;
      most = rating;
      best = Link{first_known ? pair.first : pair.second, first_known ? pair.second : pair.first, counts[1] > 0};
    }
    return best;
  }

  void set(const Link& link) {
    const auto& [known, other, together] = link;
    std::vector<Difference> differences;
    for (const MatchedCollective& one : matching_.matched) {
      const auto a = find(one, known), b = find(one, other);
      if (!a || !b || (together && !is_together(one))) continue;
      differences.push_back({*b, *b - *a});
    }
    std::ranges::sort(differences, [](const Difference& a, const Difference& b) {
      return std::pair(a.at, a.ns) < std::pair(b.at, b.ns);
    });
    std::vector<Difference> some;
    const std::size_t stride = differences.size() / kMostClockPairs + 1;
    for (std::size_t i = 0; i < differences.size(); i += stride) some.push_back(differences[i]);
    clocks_[other] = chained(clocks_[known], fit(some));
  }

  [[nodiscard]] std::optional<std::int64_t> find(const MatchedCollective& one, std::uint32_t rank) const {
    for (const CollectiveMember& member : one.members) {
      if (member.rank == rank) return ranks_[rank].collectives[member.event].end;
    }
    return std::nullopt;
  }

  std::span<const RankTrace> ranks_;
  const Matching& matching_;
  const JobTexts& texts_;
  std::map<Pair, Counts> shared_;  // by the first member and another one
  std::vector<RankClock> clocks_;
};

}  // namespace

std::size_t without_other_end(const Matching& matching) {
  return std::accumulate(matching.other_end.begin(), matching.other_end.end(), std::size_t{0});
}

Matching match_collectives(std::span<const RankTrace> ranks, bool all_there) {
  return Matcher(ranks, all_there).match();
}

std::int64_t RankClock::aligned(std::int64_t own) const {
  return own - std::llround(offset + slope * static_cast<double>(own - at));
}

std::vector<RankClock> align_clocks(std::span<const RankTrace> ranks, const Matching& matching, const JobTexts& texts) {
  return Aligner(ranks, matching, texts).align();
}

}  // namespace tracedb
