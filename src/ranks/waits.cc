#include "ranks/waits.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

namespace tracedb {
namespace {

constexpr std::int64_t kLeastLate = 2'000;   // ns: what no clock of a profiler tells apart
constexpr double kUncertainties = 4;         // of the clocks
constexpr double kLeastPersistence = 3;      // standard deviations
constexpr double kLeastShare = 0.01;         // of the span of the others
constexpr std::size_t kMostLookedBack = 64;  // collectives

// A member of a collective, on the clock of the job.
struct Presence {
  std::uint32_t rank = 0;
  std::int64_t own_start = 0, own_end = 0;
  std::int64_t start = 0, end = 0;
};

// What a rank did before a collective.
struct Before {
  LateParts parts{};
  std::int64_t from = 0, to = 0;  // on its own clock
};

bool within(const MatchedCollective& some, const MatchedCollective& all) {
  return std::includes(all.members.begin(), all.members.end(), some.members.begin(), some.members.end(),
                       [](const auto& a, const auto& b) { return a.rank < b.rank; });
}

class Splitter {
 public:
  Splitter(std::span<const RankTrace> ranks, const Matching& matching, std::span<const RankClock> clocks)
      : ranks_(ranks), matching_(matching), clocks_(clocks), others_(ranks.size()), chance_(ranks.size()) {
    out_.ranks.resize(ranks.size());
  }

  JobWaits split() {
    for (const std::uint32_t number : in_order()) split(number);
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) finish(rank);
    choose_straggler();
    return std::move(out_);
  }

 private:
  // What of `caused` chance gives a rank where any member may be the last.
  struct Chance {
    double mean = 0, variance = 0;
  };

  // By start on the clock of the job.
  [[nodiscard]] std::vector<std::uint32_t> in_order() const {
    std::vector<std::pair<std::int64_t, std::uint32_t>> starts;
    for (std::uint32_t i = 0; i < matching_.matched.size(); ++i) {
      const CollectiveMember& first = matching_.matched[i].members.front();
      starts.emplace_back(clocks_[first.rank].aligned(ranks_[first.rank].collectives[first.event].start), i);
    }
    std::sort(starts.begin(), starts.end());
    std::vector<std::uint32_t> out;
    for (const auto& [start, number] : starts) out.push_back(number);
    return out;
  }

  [[nodiscard]] std::vector<Presence> presences(const MatchedCollective& one) const {
    std::vector<Presence> out;
    for (const CollectiveMember& member : one.members) {
      const CollectiveEvent& event = ranks_[member.rank].collectives[member.event];
      const RankClock& clock = clocks_[member.rank];
      out.push_back({member.rank, event.start, event.end, clock.aligned(event.start), clock.aligned(event.end)});
    }
    return out;
  }

  [[nodiscard]] std::int64_t tolerance(std::span<const Presence> all) const {
    double most = 0;
    for (const Presence& one : all) most = std::max(most, clocks_[one.rank].uncertainty);
    return kLeastLate + std::llround(kUncertainties * most);
  }

  void split(std::uint32_t number) {
    const MatchedCollective& one = matching_.matched[number];
    const std::vector<Presence> all = presences(one);
    const auto last = std::max_element(all.begin(), all.end(),
                                       [](const Presence& a, const Presence& b) { return a.start < b.start; });
    const std::int64_t tolerated = tolerance(all);
    const std::int64_t first_end =
        std::min_element(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.end < b.end; })->end;
    if (last->start > first_end + tolerated) {
      ++out_.apart;
      return;
    }
    const std::optional<std::uint32_t> before = common_before(number, all);
    kept_.push_back(number);
    if (!is_selected(one)) return;
    CollectiveWait wait;
    wait.collective = number;
    wait.last_rank = last->rank;
    wait.transfer = last->own_end - last->own_start;
    wait.step = step_of(one);
    wait.arrival = arrival(all, *last, tolerated, before.has_value());
    const std::int64_t exposed_before = out_.exposed;
    add_waits(all, *last, wait);
    if (wait.arrival == Arrival::kLate) blame(all, *last, matching_.matched[*before], wait);
    (wait.arrival == Arrival::kLate    ? out_.caused
     : wait.arrival == Arrival::kFirst ? out_.first
                                       : out_.together) += out_.exposed - exposed_before;
    out_.collectives.push_back(wait);
  }

  [[nodiscard]] bool is_selected(const MatchedCollective& one) const {
    const CollectiveMember& first = one.members.front();
    return ranks_[first.rank].collectives[first.event].selected;
  }

  [[nodiscard]] std::uint32_t step_of(const MatchedCollective& one) const {
    for (const CollectiveMember& member : one.members) {
      const std::uint32_t step = ranks_[member.rank].collectives[member.event].step;
      if (step != 0) return step;
    }
    return 0;
  }

  // The latest collective of (at least) these ranks that had ended on each of them before this one began there.
  [[nodiscard]] std::optional<std::uint32_t> common_before(std::uint32_t number, std::span<const Presence> all) const {
    const MatchedCollective& one = matching_.matched[number];
    const std::size_t least = kept_.size() > kMostLookedBack ? kept_.size() - kMostLookedBack : 0;
    for (std::size_t i = kept_.size(); i > least; --i) {
      const MatchedCollective& earlier = matching_.matched[kept_[i - 1]];
      if (!within(one, earlier)) continue;
      const bool ended = std::all_of(all.begin(), all.end(), [&](const Presence& member) {
        return end_on(earlier, member.rank) <= member.own_start;
      });
      if (ended) return kept_[i - 1];
    }
    return std::nullopt;
  }

  [[nodiscard]] std::int64_t end_on(const MatchedCollective& one, std::uint32_t rank) const {
    const auto member = std::find_if(one.members.begin(), one.members.end(),
                                     [rank](const CollectiveMember& m) { return m.rank == rank; });
    return ranks_[rank].collectives[member->event].end;
  }

  [[nodiscard]] static Arrival arrival(std::span<const Presence> all, const Presence& last, std::int64_t tolerated,
                                       bool has_before) {
    if (!has_before) return Arrival::kFirst;
    std::int64_t sum = 0;
    for (const Presence& one : all) sum += last.start - one.start;
    const auto others = static_cast<std::int64_t>(all.size()) - 1;
    return sum > others * tolerated ? Arrival::kLate : Arrival::kTogether;
  }

  void add_waits(std::span<const Presence> all, const Presence& last, CollectiveWait& wait) {
    for (const Presence& one : all) {
      const std::int64_t time = one.own_end - one.own_start;
      const std::int64_t waiting = std::clamp<std::int64_t>(last.start - one.start, 0, time);
      const std::int64_t covered = ranks_[one.rank].computing.covered(one.own_start, one.own_start + waiting);
      WaitSums& sums = out_.ranks[one.rank].sums;
      ++sums.collectives;
      sums.late += wait.arrival == Arrival::kLate ? 1 : 0;
      sums.time += time;
      sums.waiting += waiting;
      sums.transfer += time - waiting;
      sums.exposed += waiting - covered;
      wait.waiting += waiting;
      wait.exposed += waiting - covered;
    }
    out_.exposed += wait.exposed;
  }

  [[nodiscard]] Before before_of(const Presence& one, const MatchedCollective& earlier) const {
    const std::int64_t from = end_on(earlier, one.rank);
    const TimeParts parts = ranks_[one.rank].parts(from, one.own_start);
    Before out;
    out.from = from;
    out.to = one.own_start;
    const auto set = [&](LateCause cause, std::int64_t ns) { out.parts[static_cast<std::size_t>(cause)] = ns; };
    set(LateCause::kCompute, parts.compute);
    set(LateCause::kCopy, parts.copy);
    set(LateCause::kComm, parts.comm);
    set(LateCause::kHost, parts.idle);
    // So that the parts are the whole of the aligned start, drift within the window included.
    set(LateCause::kEarlier, one.start - (one.own_start - from));
    return out;
  }

  void blame(std::span<const Presence> all, const Presence& last, const MatchedCollective& earlier,
             CollectiveWait& wait) {
    const auto others = static_cast<std::int64_t>(all.size()) - 1;
    LateParts sums{};
    for (const Presence& one : all) {
      const std::int64_t weight = one.rank == last.rank ? others : -1;
      const Before before = before_of(one, earlier);
      for (std::size_t i = 0; i < kLateCauses; ++i) sums[i] += weight * before.parts[i];
    }
    for (std::size_t i = 0; i < kLateCauses; ++i) {
      wait.parts[i] = std::llround(static_cast<double>(sums[i]) / static_cast<double>(others));
      wait.late += wait.parts[i];
    }
    const auto cause = static_cast<std::size_t>(wait.cause());
    RankWaits& rank = out_.ranks[last.rank];
    ++rank.last;
    ++rank.count[cause];
    rank.caused += wait.exposed;
    rank.caused_by[cause] += wait.exposed;
    for (std::size_t i = 0; i < kLateCauses; ++i) rank.parts[i] += wait.parts[i];
    const double share = 1 / static_cast<double>(all.size());
    const auto weight = static_cast<double>(wait.exposed);
    for (const Presence& one : all) {
      if (one.rank != last.rank) others_[last.rank].insert(one.rank);
      chance_[one.rank].mean += weight * share;
      chance_[one.rank].variance += weight * weight * share * (1 - share);
    }
    if (wait.cause() == LateCause::kCompute) add_classes(all, last.rank, earlier);
  }

  void add_classes(std::span<const Presence> all, std::uint32_t last, const MatchedCollective& earlier) {
    const auto others = static_cast<double>(all.size() - 1);
    std::map<std::uint32_t, std::pair<double, double>> sums;
    for (const Presence& one : all) {
      const double weight = one.rank == last ? 1 : -1 / others;
      const Before before = before_of(one, earlier);
      const std::vector<ComputeKernel>& kernels = ranks_[one.rank].compute;
      auto kernel = std::lower_bound(kernels.begin(), kernels.end(), before.from,
                                     [](const ComputeKernel& k, std::int64_t at) { return k.start < at; });
      for (; kernel != kernels.end() && kernel->start < before.to; ++kernel) {
        auto& [time, count] = sums[kernel->class_id];
        time += weight * static_cast<double>(std::min(kernel->dur, before.to - kernel->start));
        count += weight;
      }
    }
    for (const auto& [class_id, sum] : sums) {
      ClassExcess& excess = out_.ranks[last].classes[class_id];
      excess.time += std::llround(sum.first);
      excess.kernels += sum.second;
    }
  }

  void finish(std::uint32_t rank) {
    RankWaits& waits = out_.ranks[rank];
    waits.others = others_[rank].size();
    const Chance& chance = chance_[rank];
    if (chance.variance > 0) {
      waits.persistence = (static_cast<double>(waits.caused) - chance.mean) / std::sqrt(chance.variance);
    }
  }

  void choose_straggler() {
    const auto most = std::max_element(out_.ranks.begin(), out_.ranks.end(),
                                       [](const RankWaits& a, const RankWaits& b) { return a.caused < b.caused; });
    if (most == out_.ranks.end() || most->caused == 0) return;
    const auto rank = static_cast<std::uint32_t>(most - out_.ranks.begin());
    if (most->persistence < kLeastPersistence || loss_by(ranks_, out_, rank).share < kLeastShare) return;
    out_.straggler = rank;
  }

  std::span<const RankTrace> ranks_;
  const Matching& matching_;
  std::span<const RankClock> clocks_;
  std::vector<std::set<std::uint32_t>> others_;  // that waited for a rank
  std::vector<Chance> chance_;
  std::vector<std::uint32_t> kept_;  // collectives of these ranks, selected or not
  JobWaits out_;
};

}  // namespace

std::string_view to_string(LateCause cause) {
  constexpr std::string_view kNames[] = {"compute", "copies", "communication", "host", "previous collective"};
  return kNames[static_cast<std::size_t>(cause)];
}

LateCause CollectiveWait::cause() const {
  return static_cast<LateCause>(std::max_element(parts.begin(), parts.end()) - parts.begin());
}

LateCause RankWaits::cause() const {
  return static_cast<LateCause>(std::max_element(caused_by.begin(), caused_by.end()) - caused_by.begin());
}

JobWaits split_waits(std::span<const RankTrace> ranks, const Matching& matching, std::span<const RankClock> clocks) {
  return Splitter(ranks, matching, clocks).split();
}

Loss loss_by(std::span<const RankTrace> ranks, const JobWaits& waits, std::uint32_t rank) {
  const RankWaits& of = waits.ranks[rank];
  if (of.others == 0) return {};
  const auto others = static_cast<double>(of.others);
  double span = 0;
  for (std::uint32_t other = 0; other < ranks.size(); ++other) {
    if (other != rank) span += static_cast<double>(ranks[other].figures.span);
  }
  span /= static_cast<double>(ranks.size() - 1);
  const double ns = static_cast<double>(of.caused) / others;
  return {ns, span > 0 ? ns / span : 0};
}

}  // namespace tracedb
