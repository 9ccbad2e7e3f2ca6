#include "passes/time/timeline.h"

#include <algorithm>
#include <tuple>

#include "base/unknown.h"
#include "trace/event_names.h"

namespace tracedb {

namespace {

// Which launches have begun to run: by the first of their events that takes time, selected or not.
class CauseFinder {
 public:
  CauseFinder(const LaunchCalls& calls, std::int64_t kernel_wait)
      : calls_(calls), kernel_wait_(kernel_wait), running_(calls.ts.size()) {}

  // Called for every event, in order. True for all events of a graph launch behind the first that takes time.
  bool is_inside_graph(const DeviceEvent& event) {
    const std::uint32_t launch = event.launch;
    constexpr auto kGraph = static_cast<std::uint32_t>(CallKind::kGraphLaunch);
    if (launch == 0 || launch > running_.size() || calls_.kind[launch - 1] != kGraph) return false;
    const bool inside = running_[launch - 1] != 0;
    if (event.end > event.ts) running_[launch - 1] = 1;
    return inside;
  }

  [[nodiscard]] IdleCause cause(const DeviceEvent& next, bool inside_graph, std::int64_t free_from) const {
    if (next.launch == 0 || next.launch > calls_.ts.size()) return IdleCause::kUnknown;
    if (inside_graph) return IdleCause::kGraphGap;
    const std::int64_t launched = calls_.ts[next.launch - 1];
    if (launched == kUnknownValue) return IdleCause::kUnknown;
    if (launched > free_from) return IdleCause::kHostWait;
    return next.ts - free_from < kernel_wait_ ? IdleCause::kKernelWait : IdleCause::kOther;
  }

 private:
  const LaunchCalls& calls_;
  std::int64_t kernel_wait_;
  std::vector<std::uint8_t> running_;
};

struct StreamLane {
  LaneTimeline out;
  std::int64_t first = -1;              // start of the first selected event that takes time
  std::int64_t until = 0;               // end of everything selected so far
  std::int64_t free_from = 0;           // end of everything so far
  EventRef last;                        // the event that ends there
  std::vector<DeviceEvent> unselected;  // that began at the moment of the event before: selected ones of it come first
  std::int64_t worked = 0;              // ns with computation or communication
  std::int64_t computing = 0, communicating = 0, fused = 0, copying = 0, working = 0;  // ends of such so far

  void add(const DeviceEvent& event, const Window& window) {
    // Events come in order of start: of a union of them, what this one adds.
    const auto cover = [&](std::int64_t& covered_until, std::int64_t& length) {
      if (event.end <= covered_until) return;
      length += window.part(std::max(event.ts, covered_until), event.end);
      covered_until = event.end;
    };
    if (event.work == Work::kCompute) cover(computing, out.computation);
    if (communicates(event.work)) cover(communicating, out.comm);
    if (event.work == Work::kFusedComm) cover(fused, out.fused_comm);
    if (event.work == Work::kCopy) cover(copying, out.copy);
    if (event.work != Work::kCopy) cover(working, worked);
    cover(until, out.busy);
    if (first < 0) first = event.ts;
  }
  // Of any event.
  void occupy(const DeviceEvent& event) {
    if (event.end <= free_from) return;
    free_from = event.end;
    last = event.ref;
  }
  // Before an event that begins at this moment.
  void settle(std::int64_t ts) {
    if (unselected.empty() || unselected.back().ts == ts) return;
    for (const DeviceEvent& event : unselected) occupy(event);
    unselected.clear();
  }
  // Behind the last event and gap.
  LaneTimeline finish(const Window& window) {
    if (first < 0) return out;
    out.begin = std::max(first, window.from);
    out.span = window.part(first, until);
    out.idle = out.span - out.busy;
    out.unselected = out.idle - out.micro_idle - out.macro_idle;
    out.exposed_comm = worked - out.computation;
    out.exposed_copy = out.busy - worked;
    return out;
  }
};

bool touches(const Window& window, const DeviceEvent& event) {
  return event.ts < window.to && (event.end > window.from || event.ts >= window.from);
}

// One walk; on_gap(gap, whole length, timeline of its lane) is called for each gap of each lane that reaches into the
// window: what is not selected leaves no gap where it runs, nor before it.
template <class OnGap>
std::vector<StreamLane> walk(const DeviceWork& work, const LaunchCalls& calls, const TimelineOptions& options,
                             OnGap on_gap) {
  const Window& window = options.window;
  std::vector<StreamLane> lanes(work.lanes);
  CauseFinder causes(calls, options.kernel_wait);
  for_each_in_order(work, [&](DeviceEvent event) {
    event.end = event.busy_until();
    const bool inside_graph = causes.is_inside_graph(event);
    StreamLane& lane = lanes[event.lane];
    const bool selected = !event.left_out;
    if (selected && touches(window, event)) ++(event.ref.is_memory_op ? lane.out.memory_ops : lane.out.kernels);
    if (event.end == event.ts) return;
    lane.settle(event.ts);
    if (selected && lane.first >= 0 && event.ts > lane.free_from) {
      if (const std::int64_t part = window.part(lane.free_from, event.ts)) {
        const IdleCause cause = causes.cause(event, inside_graph, lane.free_from);
        on_gap(Gap{std::max(lane.free_from, window.from), part, lane.last, event.ref, event.lane, cause},
               event.ts - lane.free_from, lane.out);
      }
    }
    if (!selected) return lane.unselected.push_back(event);
    lane.add(event, window);
    lane.occupy(event);
  });
  return lanes;
}

bool is_longer(const Gap& a, const Gap& b) { return std::tie(b.dur, a.ts, a.lane) < std::tie(a.dur, b.ts, b.lane); }

}  // namespace

std::string_view to_string(IdleCause cause) {
  constexpr std::array<std::string_view, kIdleCauses> kNames = {"host_wait", "kernel_wait", "graph_gap", "other",
                                                                "unknown"};
  return kNames.at(static_cast<std::size_t>(cause));
}

std::vector<LaneTimeline> timelines(const DeviceWork& work, const LaunchCalls& calls, const TimelineOptions& options,
                                    const std::function<void(const Gap&)>& on_gap) {
  const auto add = [&](const Gap& gap, std::int64_t whole, LaneTimeline& lane) {
    ++lane.gaps;
    lane.idle_by_cause[static_cast<std::size_t>(gap.cause)] += gap.dur;
    (whole < options.micro_idle ? lane.micro_idle : lane.macro_idle) += gap.dur;
    if (on_gap) on_gap(gap);
  };
  std::vector<LaneTimeline> out;
  for (StreamLane& lane : walk(work, calls, options, add)) out.push_back(lane.finish(options.window));
  return out;
}

IdleSums idle_sums(std::span<const LaneTimeline> lanes) {
  const auto work = [](const LaneTimeline& lane) { return static_cast<double>(lane.computation + lane.comm); };
  double most = 0;
  for (const LaneTimeline& lane : lanes) most = std::max(most, work(lane));
  IdleSums out;
  for (const LaneTimeline& lane : lanes) {
    if (work(lane) < kHardlyWorks * most) continue;
    out.span = saturating_add(out.span, lane.span);
    out.idle = saturating_add(out.idle, lane.idle);
    out.host_wait = saturating_add(out.host_wait, lane.idle_by_cause[static_cast<std::size_t>(IdleCause::kHostWait)]);
    out.gaps += lane.gaps;
  }
  return out;
}

double IdleSums::idle_share() const { return span > 0 ? static_cast<double>(idle) / static_cast<double>(span) : 0; }

double IdleSums::host_share() const {
  return span > 0 ? static_cast<double>(host_wait) / static_cast<double>(span) : 0;
}

Gaps gaps_in_order(const DeviceWork& work, const LaunchCalls& calls, const TimelineOptions& options,
                   std::int64_t least) {
  Gaps gaps;
  gaps.listed.reserve(work.kernels.ts.size() + work.memory_ops.ts.size());
  walk(work, calls, options, [&](const Gap& gap, std::int64_t, const LaneTimeline&) {
    ++gaps.count;
    gaps.total = saturating_add(gaps.total, gap.dur);
    if (gap.dur >= least) gaps.listed.push_back(gap);
  });
  return gaps;
}

Gaps idle_gaps(const DeviceWork& work, const LaunchCalls& calls, const TimelineOptions& options, std::size_t limit) {
  Gaps gaps = gaps_in_order(work, calls, options);
  const bool cuts = limit != 0 && limit < gaps.listed.size();
  const auto end = cuts ? gaps.listed.begin() + static_cast<std::ptrdiff_t>(limit) : gaps.listed.end();
  std::ranges::partial_sort(gaps.listed, end, is_longer);
  gaps.listed.erase(end, gaps.listed.end());
  return gaps;
}

namespace {

// Of the first works of calls, and how many selected kernels, copies and fills each call has.
struct Delays {
  std::vector<std::int64_t> delay, queue;
  std::vector<GroupId> group;
  std::vector<std::uint32_t> kernels, memory_ops;  // by call
};

Delays walk(const DeviceWork& work, const RuntimeCalls& calls, Launches& out) {
  const std::vector<std::uint32_t> none(calls.ts.size(), 0);
  Delays delays{{}, {}, {}, none, none};
  std::vector<std::int64_t> free_from(work.lanes, 0);  // by stream: end of everything so far
  std::vector<std::uint8_t> begun(calls.ts.size(), 0);
  const auto add = [&](const DeviceEvent& event) {
    const std::size_t call = event.launch - std::size_t{1};
    if (event.launch == 0 || call >= calls.ts.size() || calls.group[call] == kNoGroup) {
      out.kernels_without_launch += event.left_out || event.ref.is_memory_op ? 0 : 1;
      return;
    }
    const bool first = begun[call] == 0;
    begun[call] = 1;
    if (event.left_out) return;
    ++(event.ref.is_memory_op ? delays.memory_ops : delays.kernels)[call];
    if (!first || calls.ts[call] == kUnknownValue || calls.dur[call] == kUnknownValue) return;
    const std::int64_t called = std::max<std::int64_t>(calls.ts[call], 0);
    const std::int64_t returned = saturating_add(called, duration_or_zero(calls.dur[call]));
    const std::int64_t delay = std::max<std::int64_t>(0, event.ts - returned);
    const std::int64_t behind = std::clamp<std::int64_t>(free_from[event.lane] - returned, 0, delay);
    if (event.ts < returned) ++out.groups[calls.group[call]].started_early;
    delays.delay.push_back(delay);
    delays.queue.push_back(delay - behind);
    delays.group.push_back(calls.group[call]);
  };
  for_each_in_order(work, [&](const DeviceEvent& event) {
    add(event);
    free_from[event.lane] = std::max(free_from[event.lane], event.end);
  });
  return delays;
}

}  // namespace

Launches launch_stats(const DeviceWork& work, const RuntimeCalls& calls, std::size_t groups) {
  Launches out{std::vector<LaunchStats>(groups), 0};
  const Delays delays = walk(work, calls, out);
  const bool all = work.kernels.left_out.empty();
  std::vector<GroupId> timed(calls.ts.size(), kNoGroup);
  for (std::size_t call = 0; call < timed.size(); ++call) {
    const std::uint32_t kernels = delays.kernels[call], memory_ops = delays.memory_ops[call];
    const bool launched = kernels + memory_ops > 0;
    if (calls.group[call] == kNoGroup || (!launched && !(all && calls.is_launching[call] != 0))) continue;
    LaunchStats& stats = out.groups[calls.group[call]];
    ++stats.calls;
    stats.launching += launched ? 1 : 0;
    stats.kernels += kernels;
    stats.memory_ops += memory_ops;
    if (calls.dur[call] >= 0) timed[call] = calls.group[call];
  }
  const std::vector<GroupStats> api = value_stats(calls.dur, timed, groups);
  const std::vector<GroupStats> delay = value_stats(delays.delay, delays.group, groups);
  const std::vector<GroupStats> queue = value_stats(delays.queue, delays.group, groups);
  for (std::size_t g = 0; g < groups; ++g) {
    out.groups[g].api = api[g];
    out.groups[g].delay = delay[g];
    out.groups[g].queue = queue[g];
  }
  return out;
}

}  // namespace tracedb
