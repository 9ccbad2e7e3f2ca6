#include "ranks/clocks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/statistics.h"
#include "base/text/characters.h"

namespace tracedb {
namespace {

constexpr std::size_t kMostClockPairs = 4096;
constexpr std::size_t kLeastPairsOfDrift = 16;

// Ends on all members at once: what goes from or to one rank only does not.
bool ends_together(std::string_view name) {
  const std::string text = ascii_lower(name);
  const auto has = [&](std::string_view part) { return text.find(part) != std::string::npos; };
  if (has("broadcast")) return false;
  if (has("allreduce") || has("all_reduce") || has("allgather") || has("all_gather") || has("alltoall") ||
      has("all_to_all")) {
    return true;
  }
  if (has("reducescatter") || has("reduce_scatter")) return true;
  return !(has("reduce") || has("gather") || has("scatter"));
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
    std::sort(differences.begin(), differences.end(),
              [](const Difference& a, const Difference& b) { return std::pair(a.at, a.ns) < std::pair(b.at, b.ns); });
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

std::int64_t RankClock::aligned(std::int64_t own) const {
  return own - std::llround(offset + slope * static_cast<double>(own - at));
}

std::vector<RankClock> align_clocks(std::span<const RankTrace> ranks, const Matching& matching, const JobTexts& texts) {
  return Aligner(ranks, matching, texts).align();
}

}  // namespace tracedb
