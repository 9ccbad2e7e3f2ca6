#include "ranks/waits.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "passes/host/host_activity.h"

namespace tracedb {
namespace {

constexpr std::int64_t kLeastLate = 2'000;  // ns: what no clock of a profiler tells apart
constexpr double kUncertainties = 4;        // of the clocks
constexpr std::size_t kLookedBack = 64;     // collectives, and for each rank
constexpr std::size_t kLookedBackEach = 16;

LateCause greatest(const LateParts& parts) {
  return static_cast<LateCause>(std::ranges::max_element(parts) - parts.begin());
}

// A member of a collective, on the clock of the job.
struct Presence {
  std::uint32_t rank = 0;
  std::int64_t own_start = 0, own_end = 0;
  std::int64_t start = 0, end = 0;
  std::uint32_t kernel = 0;
  Exchange exchange = Exchange::kCollective;
  std::uint32_t step = 0;  // place + 1 on its rank; 0: in none
  std::int64_t ahead = 0;  // of the last rank, ns: what it waits for it, if so long
};

bool within(const MatchedCollective& some, const MatchedCollective& all) {
  return std::includes(all.members.begin(), all.members.end(), some.members.begin(), some.members.end(),
                       [](const auto& a, const auto& b) { return a.rank < b.rank; });
}

class Splitter {
 public:
  Splitter(std::span<const RankTrace> ranks, const Matching& matching, std::span<const RankClock> clocks)
      : ranks_(ranks),
        matching_(matching),
        clocks_(clocks),
        chance_(ranks.size()),
        counted_(ranks.size()),
        sure_(ranks.size()),
        unsent_(ranks.size()) {
    out_.ranks.resize(ranks.size());
    for (const RankTrace& rank : ranks) divided_.emplace_back(rank.collectives.size());
  }

  JobWaits split() {
    for (const std::uint32_t number : in_order()) split(number);
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) finish(rank);
    const bool sends = std::ranges::any_of(kept_, [&](auto i) { return matching_.matched[i].is_send; });
    sends ? find_pace(ranks_, {unsent_.begin(), unsent_.end()}, out_) : choose_straggler();
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
    std::ranges::sort(starts);
    std::vector<std::uint32_t> out;
    for (const auto& [start, number] : starts) out.push_back(number);
    return out;
  }

  [[nodiscard]] std::vector<Presence> presences(const MatchedCollective& one) const {
    std::vector<Presence> out;
    for (const CollectiveMember& member : one.members) {
      const CollectiveEvent& event = ranks_[member.rank].collectives[member.event];
      const RankClock& clock = clocks_[member.rank];
      out.push_back({member.rank, event.start, event.end, clock.aligned(event.start), clock.aligned(event.end),
                     event.kernel, event.exchange, event.step});
    }
    const std::int64_t last = last_of(out).start;
    for (Presence& presence : out) {
      const bool put_by = presence.exchange == Exchange::kSend && presence.end <= last;
      presence.ahead = put_by ? 0 : last - presence.start;
    }
    return out;
  }

  [[nodiscard]] static const Presence& last_of(std::span<const Presence> all) {
    return *std::ranges::max_element(all, {}, &Presence::start);
  }

  // Not at one time, so not the same: one ends before another begins, or data are received before they are sent.
  [[nodiscard]] static bool is_apart(std::span<const Presence> all, std::int64_t tolerated) {
    std::int64_t first_end = std::numeric_limits<std::int64_t>::max();
    for (const Presence& one : all) {
      if (one.exchange != Exchange::kSend) first_end = std::min(first_end, one.end);
    }
    const bool sent = all.front().exchange != Exchange::kCollective;
    const auto begins_too_late = [&](const Presence& one) {
      return one.exchange != Exchange::kReceive && one.start > first_end + tolerated;
    };
    return sent ? std::ranges::any_of(all, begins_too_late) : last_of(all).start > first_end + tolerated;
  }

  [[nodiscard]] std::int64_t tolerance(std::span<const Presence> all) const {
    double most = 0;
    for (const Presence& one : all) most = std::max(most, clocks_[one.rank].uncertainty);
    return kLeastLate + std::llround(kUncertainties * most);
  }

  void split(std::uint32_t number) {
    const MatchedCollective& one = matching_.matched[number];
    const std::vector<Presence> all = presences(one);
    const Presence& last = last_of(all);
    const std::int64_t tolerated = tolerance(all);
    if (is_apart(all, tolerated)) {
      ++out_.apart;
      return;
    }
    for (const CollectiveMember& member : one.members) divided_[member.rank][member.event] = one.is_whole;
    std::optional<std::uint32_t> before = common_before(number, all, synchronising_);
    const bool is_sure = before.has_value();
    if (!before) before = common_before(number, all, kept_);
    if (all.size() == 2) note_unsent(all);
    kept_.push_back(number);
    if (synchronises(all)) synchronising_.push_back(number);
    if (!is_selected(one)) return;
    CollectiveWait wait;
    wait.collective = number;
    wait.last_rank = last.rank;
    wait.is_whole = one.is_whole;
    wait.transfer = last.own_end - last.own_start;
    wait.step = step_of(one);
    wait.arrival = arrival(all, tolerated, before.has_value());
    const std::int64_t exposed_before = out_.exposed;
    add_waits(all, wait);
    if (wait.arrival == Arrival::kLate) {
      const MatchedCollective& earlier = matching_.matched[*before];
      blame(all, last, earlier, wait);
      add_excess(all, last, earlier, is_sure, wait);
    }
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

  // What a device had nothing to do before a receive whose data were not sent yet costs nobody anything.
  void note_unsent(std::span<const Presence> all) {
    const Presence &receive = all[all[1].exchange == Exchange::kReceive ? 1 : 0],
                   &send = all[&receive == &all[0] ? 1 : 0];
    if (receive.exchange != Exchange::kReceive) return;
    const Extent before = ranks_[receive.rank].working.last_before(receive.own_start);
    const std::int64_t sent = receive.own_start + std::min<std::int64_t>(send.start - receive.start, 0);
    if (before.length() > 0) unsent_[receive.rank].push_back({before.end, sent});
  }

  // Whether all of its ranks waited for its end: none computed until then what another one had done while it waited.
  [[nodiscard]] bool synchronises(std::span<const Presence> all) const {
    return std::ranges::all_of(all, [&](const Presence& one) {
      return ranks_[one.rank].computing.covered(one.own_end - kLeastLate, one.own_end) <= kLeastLate / 2;
    });
  }

  // The latest of some collectives that was one of (at least) these ranks and had ended on each of them before this one
  // began there.
  [[nodiscard]] std::optional<std::uint32_t> common_before(std::uint32_t number, std::span<const Presence> all,
                                                           std::span<const std::uint32_t> of) const {
    const MatchedCollective& one = matching_.matched[number];
    const std::size_t most = kLookedBack + kLookedBackEach * ranks_.size();
    const std::size_t least = of.size() > most ? of.size() - most : 0;
    for (std::size_t i = of.size(); i > least; --i) {
      const MatchedCollective& earlier = matching_.matched[of[i - 1]];
      if (!within(one, earlier)) continue;
      const bool ended = std::ranges::all_of(
          all, [&](const Presence& member) { return end_on(earlier, member.rank) <= member.own_start; });
      if (ended) return of[i - 1];
    }
    return std::nullopt;
  }

  [[nodiscard]] const CollectiveEvent& event_on(const MatchedCollective& one, std::uint32_t rank) const {
    const auto member = std::ranges::find_if(one.members, [rank](const CollectiveMember& m) { return m.rank == rank; });
    return ranks_[rank].collectives[member->event];
  }
  [[nodiscard]] std::int64_t end_on(const MatchedCollective& one, std::uint32_t rank) const {
    return event_on(one, rank).end;
  }

  [[nodiscard]] static Arrival arrival(std::span<const Presence> all, std::int64_t tolerated, bool has_before) {
    if (!has_before) return Arrival::kFirst;
    std::int64_t sum = 0;
    for (const Presence& one : all) sum += one.ahead;
    const auto others = static_cast<std::int64_t>(all.size()) - 1;
    return sum > others * tolerated ? Arrival::kLate : Arrival::kTogether;
  }

  void add_waits(std::span<const Presence> all, CollectiveWait& wait) {
    for (const Presence& one : all) {
      const std::int64_t time = one.own_end - one.own_start;
      const std::int64_t waiting = std::clamp<std::int64_t>(one.ahead, 0, time);
      const std::int64_t exposed = exposed_within(one, waiting);
      WaitSums& sums = out_.ranks[one.rank].sums;
      ++sums.collectives;
      sums.late += wait.arrival == Arrival::kLate ? 1 : 0;
      sums.time += time;
      sums.waiting += waiting;
      (wait.is_whole ? sums.transfer : sums.undivided) += time - waiting;
      sums.exposed += exposed;
      StepWaits& step = out_.ranks[one.rank].steps[one.step];
      step.exposed += exposed;
      if (wait.arrival == Arrival::kFirst) step.first += exposed;
      wait.waiting += waiting;
      wait.exposed += exposed;
    }
    out_.exposed += wait.exposed;
  }

  // Of its waiting, up to so long after its start.
  [[nodiscard]] std::int64_t exposed_within(const Presence& one, std::int64_t longest) const {
    const std::int64_t waiting = std::clamp<std::int64_t>(std::min(one.ahead, longest), 0, one.own_end - one.own_start);
    return waiting - ranks_[one.rank].computing.covered(one.own_start, one.own_start + waiting);
  }

  // What the others would wait as well had the last rank come with the last of them.
  void add_shared(std::span<const Presence> all, const Presence& last) {
    const auto start = [&](const Presence& one) {
      return one.rank == last.rank ? std::numeric_limits<std::int64_t>::min() : one.start;
    };
    const Presence& second = *std::ranges::max_element(all, {}, start);
    std::int64_t& shared = out_.ranks[last.rank].shared[second.rank];
    for (const Presence& one : all) {
      if (one.rank != last.rank) shared += exposed_within(one, second.start - one.start);
    }
  }

  // What a rank did before a collective, by cause; `from`: on its own clock.
  [[nodiscard]] LateParts parts_before(const Presence& one, std::int64_t from) const {
    const TimeParts parts = ranks_[one.rank].parts(from, one.own_start);
    // So that the parts are the whole of the aligned start, drift within the window included.
    const std::int64_t earlier = one.start - (one.own_start - from);
    return {parts.compute, parts.copy, parts.comm, parts.idle, earlier};
  }

  // What the last rank did longer than the others on average before a collective; `from`: of a rank, on its own clock.
  template <class From>
  [[nodiscard]] LateParts longer_parts(std::span<const Presence> all, std::uint32_t last, From from) const {
    const auto others = static_cast<std::int64_t>(all.size()) - 1;
    LateParts sums{};
    for (const Presence& one : all) {
      const std::int64_t weight = one.rank == last ? others : -1;
      const LateParts parts = parts_before(one, from(one.rank));
      for (std::size_t i = 0; i < kLateCauses; ++i) sums[i] += weight * parts[i];
    }
    for (std::int64_t& sum : sums) sum = std::llround(static_cast<double>(sum) / static_cast<double>(others));
    return sums;
  }

  void blame(std::span<const Presence> all, const Presence& last, const MatchedCollective& earlier,
             CollectiveWait& wait) {
    wait.parts = longer_parts(all, last.rank, [&](std::uint32_t rank) { return end_on(earlier, rank); });
    wait.late = std::reduce(wait.parts.begin(), wait.parts.end());
    const auto cause = static_cast<std::size_t>(wait.cause());
    RankWaits& rank = out_.ranks[last.rank];
    ++rank.last;
    ++rank.count[cause];
    rank.caused += wait.exposed;
    rank.caused_by[cause] += wait.exposed;
    add_shared(all, last);
    for (std::size_t i = 0; i < kLateCauses; ++i) rank.parts[i] += wait.parts[i];
    const double share = 1 / static_cast<double>(all.size());
    const auto weight = static_cast<double>(wait.exposed);
    for (const Presence& one : all) {
      if (one.rank != last.rank) rank.others.insert(one.rank);
      chance_[one.rank].mean += weight * share;
      chance_[one.rank].variance += weight * weight * share * (1 - share);
    }
  }

  // Each time of the rank once: where it was late for another collective since, what is new from that one's start on,
  // and nothing if that one was with others. `is_sure`: all waited for the earlier one.
  void add_excess(std::span<const Presence> all, const Presence& last, const MatchedCollective& earlier, bool is_sure,
                  const CollectiveWait& wait) {
    RankWaits& rank = out_.ranks[last.rank];
    const bool of_host = wait.cause() == LateCause::kHost;
    if (!is_sure && of_host) rank.host_windows.push_back({end_on(earlier, last.rank), last.own_start});
    if (!is_sure) return;
    ++sure_[last.rank];
    const MatchedCollective& own = matching_.matched[wait.collective];
    const MatchedCollective* const counted = counted_[last.rank] ? &matching_.matched[*counted_[last.rank]] : nullptr;
    const bool again = counted != nullptr && event_on(*counted, last.rank).start > end_on(earlier, last.rank);
    if (again && !within(own, *counted)) return;
    const auto from = [&](std::uint32_t of) { return again ? event_on(*counted, of).start : end_on(earlier, of); };
    counted_[last.rank] = wait.collective;
    const LateParts parts = longer_parts(all, last.rank, from);
    for (std::size_t i = 0; i < kLateCauses; ++i) (*rank.excess)[i] += parts[i];
    if (of_host) rank.host_windows.push_back({from(last.rank), last.own_start});
    add_classes(all, last.rank, from);
  }

  template <class From>
  void add_classes(std::span<const Presence> all, std::uint32_t last, From from) {
    const auto others = static_cast<double>(all.size() - 1);
    ClassSums sums;
    for (const Presence& one : all) {
      add_kernels(ranks_[one.rank], {from(one.rank), one.own_start}, one.rank == last ? 1 : -1 / others, sums);
    }
    for (const auto& [class_id, sum] : sums) {
      ClassExcess& excess = out_.ranks[last].classes[class_id];
      excess.time += std::llround(sum.first);
      excess.kernels += sum.second;
    }
  }

  void finish(std::uint32_t rank) {
    RankWaits& waits = out_.ranks[rank];
    const std::vector<CollectiveEvent>& events = ranks_[rank].collectives;
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (!divided_[rank][i] && events[i].selected && events[i].group_size != 1)
        waits.steps[events[i].step].is_divided = false;
    }
    for (const auto& [step, one] : waits.steps) waits.first += one.first;
    if (2 * sure_[rank] < waits.last) {  // of most it is not known
      waits.excess.reset();
      waits.classes.clear();
    }
    const double all = static_cast<double>(waits.last) / static_cast<double>(std::max<std::size_t>(sure_[rank], 1));
    if (waits.excess) {
      for (std::int64_t& part : *waits.excess) part = std::llround(all * static_cast<double>(part));
    }
    for (auto& [class_id, more] : waits.classes) {
      more = {std::llround(all * static_cast<double>(more.time)), all * more.kernels};
    }
    const Chance& chance = chance_[rank];
    if (chance.variance > 0) {
      waits.persistence = (static_cast<double>(waits.caused) - chance.mean) / std::sqrt(chance.variance);
    }
  }

  void choose_straggler() {
    const auto most = std::ranges::max_element(out_.ranks, {}, &RankWaits::caused);
    if (most == out_.ranks.end() || most->caused == 0) return;
    const auto rank = static_cast<std::uint32_t>(most - out_.ranks.begin());
    const double loss = loss_by(ranks_, out_, rank).share;
    const double beyond_chance = 1 - chance_[rank].mean / static_cast<double>(most->caused);  // of the loss
    if (most->persistence >= kLeastDeviations) {
      if (loss >= kLeastLoss) out_.straggler = rank;
    } else if (loss * beyond_chance >= kLeastLoss) {
      out_.suspect = rank;
    }
  }

  std::span<const RankTrace> ranks_;
  const Matching& matching_;
  std::span<const RankClock> clocks_;
  std::vector<std::vector<bool>> divided_;  // events of each rank that have all their members
  std::vector<Chance> chance_;
  std::vector<std::uint32_t> kept_, synchronising_;    // collectives of these ranks, selected or not
  std::vector<std::optional<std::uint32_t>> counted_;  // of each rank the last collective in its excess
  std::vector<std::size_t> sure_;                      // of each rank, for how many it was late since all waited
  std::vector<std::vector<Extent>> unsent_;            // of each rank: note_unsent()
  JobWaits out_;
};

constexpr double kLeastHostShare = 0.5;  // of the time that the device had nothing to do
}  // namespace

std::string_view to_string(LateCause cause) {
  constexpr std::string_view kNames[] = {"compute", "copies", "communication", "host", "previous collective"};
  return kNames[static_cast<std::size_t>(cause)];
}

LateCause CollectiveWait::cause() const { return greatest(parts); }
LateCause RankWaits::cause() const { return greatest(caused_by); }
LateCause Pace::cause() const { return greatest(excess); }

LateCause JobWaits::cause_of(std::uint32_t rank) const {
  return pace && straggler == rank ? pace->cause() : ranks[rank].cause();
}

bool has_step(const RankTrace& rank, std::uint32_t step) {
  return step < rank.step_stats.size() && rank.step_stats[step].gpu_span != kUnknownValue;
}

std::set<std::uint32_t> steps_of(const JobWaits& waits) {
  std::set<std::uint32_t> out;
  for (const CollectiveWait& one : waits.collectives) {
    if (one.step != 0) out.insert(one.step);
  }
  return out;
}

JobWaits split_waits(std::span<const RankTrace> ranks, const Matching& matching, std::span<const RankClock> clocks) {
  return Splitter(ranks, matching, clocks).split();
}

namespace {

double whole_ranks_in(std::span<const RankTrace> ranks, const std::set<std::uint32_t>& steps,
                      const std::set<std::uint32_t>& of) {
  std::size_t of_steps = 0;
  for (const std::uint32_t rank : of) {
    of_steps += static_cast<std::size_t>(
        std::ranges::count_if(steps, [&](std::uint32_t step) { return has_step(ranks[rank], step); }));
  }
  return static_cast<double>(of_steps == 0 ? of.size() : of_steps) /
         static_cast<double>(of_steps == 0 ? 1 : steps.size());
}

std::set<std::uint32_t> all_of(std::span<const RankTrace> ranks) {
  std::set<std::uint32_t> out;
  for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) out.insert(rank);
  return out;
}

}  // namespace

double whole_ranks(std::span<const RankTrace> ranks, const JobWaits& waits) {
  return whole_ranks_in(ranks, steps_of(waits), all_of(ranks));
}

Loss loss_by(std::span<const RankTrace> ranks, const JobWaits& waits, std::uint32_t rank) {
  const RankWaits& of = waits.ranks[rank];
  const bool sets_pace = waits.pace && waits.straggler == rank;
  std::set<std::uint32_t> others = sets_pace ? all_of(ranks) : of.others;
  others.erase(rank);
  if (others.empty()) return {};
  double span = 0;
  for (const std::uint32_t other : others) span += static_cast<double>(ranks[other].figures.span);
  const std::set<std::uint32_t> all = steps_of(waits);
  std::set<std::uint32_t> own = all;
  std::erase_if(own, [&](std::uint32_t step) { return !has_step(ranks[rank], step); });
  span /= whole_ranks_in(ranks, all, others);
  if (!own.empty()) span *= static_cast<double>(own.size()) / static_cast<double>(all.size());
  const double ns = sets_pace ? static_cast<double>(std::reduce(waits.pace->excess.begin(), waits.pace->excess.end()))
                              : static_cast<double>(of.caused) / whole_ranks_in(ranks, own, others);
  return {ns, span > 0 ? ns / span : 0};
}

std::optional<HostCause> find_host_cause(Workload& workload, const RankTrace& rank, const RankWaits& waits) {
  if (waits.host_windows.empty()) return std::nullopt;
  const EventTables& events = workload.events();
  const LaunchThreads threads(workload.index(), events);
  const std::span<const std::int64_t> starts = events.kernels.int64s("ts");
  std::vector<HostGap> gaps;
  for (const Extent& window : waits.host_windows) {
    rank.working.for_each_gap(window.begin, window.end, [&](std::int64_t from, std::int64_t to) {
      const auto next = static_cast<std::uint32_t>(std::ranges::lower_bound(starts, to - rank.shift) - starts.begin());
      if (next == starts.size()) return;
      gaps.push_back({from - rank.shift, to - rank.shift, threads.of({next + 1, false})});
    });
  }
  if (gaps.empty()) return std::nullopt;
  const HostActivities activities(workload.index(), events, std::move(gaps));
  const HostPlace place = activities.of(0).place();
  if (place.place == kNoPlace || place.share() < kLeastHostShare) return std::nullopt;
  return HostCause{std::string(activities.text(place.layer, place.place)), place.share()};
}

}  // namespace tracedb
