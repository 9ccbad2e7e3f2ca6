#include "ranks/collectives.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/statistics.h"

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
  explicit Matcher(std::span<const RankTrace> ranks) : ranks_(ranks) {}

  Matching match() {
    out_.other_end.resize(ranks_.size());
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) sort_out(rank);
    for (auto& [key, by_rank] : numbered_) match_from(by_rank, true);
    for (auto& [key, by_rank] : unnumbered_) match_streams(by_rank);
    for (auto& [key, by_rank] : peerless_) match_peers(by_rank);
    std::stable_sort(out_.matched.begin(), out_.matched.end(),
                     [&](const auto& a, const auto& b) { return first_start(a) < first_start(b); });
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
    const bool same = std::all_of(streams.begin(), streams.end(),
                                  [&](const auto& of_rank) { return counts(of_rank) == counts(streams.front()); });
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
        std::max_element(by_rank.begin(), by_rank.end(),
                         [](const Events& a, const Events& b) { return a.size() < b.size(); }) -
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
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::int64_t>, ByRank> numbered_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, ByRank> unnumbered_, peerless_;
  Matching out_;
};

}  // namespace

std::size_t without_other_end(const Matching& matching) {
  return std::accumulate(matching.other_end.begin(), matching.other_end.end(), std::size_t{0});
}

Matching match_collectives(std::span<const RankTrace> ranks) { return Matcher(ranks).match(); }

}  // namespace tracedb
