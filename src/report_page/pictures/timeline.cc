// One step of a kind, the one whose time is nearest to the median: what ran on each stream, why the device was idle,
// and where the host was.
#include "passes/time/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/unknown.h"
#include "index/packed_columns.h"
#include "passes/select/device_columns.h"
#include "passes/steps/step_stats.h"
#include "report_page/html/safe_text.h"
#include "report_page/pictures/picture.h"
#include "sql/tables/array_column.h"
#include "trace/python_frame.h"

namespace tracedb {
namespace {

// What the host did during a step, on the thread that launched its first kernel: Python calls or, where none were
// recorded, operators, nested by time.
struct HostBar {
  std::int64_t depth = 0;
  std::int64_t begin = 0, dur = 0;  // ns, within the step, `begin` since its start
  std::string name;                 // "llama.py:374 forward"
};

constexpr std::int64_t kMostRead = 200'000;  // rows around the step
constexpr std::int64_t kReadBefore = 2'000;  // what began earlier is open all the time, and tells nothing
constexpr std::size_t kMostMarks = 500;
constexpr std::int64_t kLeastParts = 400;  // of the span: shorter ones are not seen
constexpr std::int64_t kMostDepth = 14;

struct HostTable {
  const char* table;
  const char* label;  // a column
  const char* name;   // ?1: of a label
};
constexpr HostTable kPythonCalls = {
    "python_call", "stack_id",
    "SELECT s.value FROM stack k JOIN frame f ON f.id = k.frame_id JOIN string s ON s.id = f.name_id WHERE k.id = ?1"};
constexpr HostTable kOperators = {"cpu_op", "name_id", "SELECT value FROM string WHERE id = ?1"};

// The first id, from 1, whose time is not before `ts`; rows are in order of time.
std::int64_t first_at(const Index& index, const HostTable& table, std::int64_t ts) {
  TextById times(index, fmt::format("SELECT ts FROM {} WHERE id = ?1", table.table));
  const auto before = [&](std::uint64_t id) {
    const Statement* const row = times.row(static_cast<std::int64_t>(id));
    return row != nullptr && row->int64(0) < ts;
  };
  return static_cast<std::int64_t>(first_not(1, row_count(index.database(), table.table) + 1, before));
}

// The thread that launched the first kernel of a step for which that is known; 0: none.
std::uint32_t launching_thread(const Index& index, const ComparedTrace& trace, const DeviceStep& step) {
  const auto launch = trace.events.kernels.ids("launch_id");
  TextById threads(index, "SELECT thread_id FROM runtime_call WHERE id = ?1");
  for (const std::uint32_t row : trace.work.kernels(step)) {
    const Statement* const call = launch[row] == 0 ? nullptr : threads.row(launch[row]);
    if (call != nullptr) return call->id(0);
  }
  return 0;
}

struct OpenCall {
  std::int64_t ts = 0, end = 0;
  std::uint32_t label = 0;
};

std::vector<OpenCall> calls_during(const Index& index, const HostTable& table, const DeviceStep& step,
                                   std::uint32_t thread) {
  std::vector<OpenCall> out;
  const std::int64_t end = saturating_add(step.first, step.span);
  const std::int64_t first = std::max<std::int64_t>(first_at(index, table, step.first) - kReadBefore, 1);
  const std::int64_t last = std::min(first_at(index, table, end), first + kMostRead);
  Statement rows(
      index.database(),
      fmt::format("SELECT ts, dur, {} FROM {} WHERE id BETWEEN ?1 AND ?2 AND thread_id = ?3", table.label, table.table),
      first, last, static_cast<std::int64_t>(thread));
  while (rows.step()) {
    if (rows.is_null(1)) continue;
    const std::int64_t ts = rows.int64(0), until = saturating_add(ts, duration_or_zero(rows.int64(1)));
    if (until > step.first && ts < end) out.push_back({ts, until, rows.id(2)});
  }
  return out;
}

// In order of time, an outer one before what it calls.
std::vector<OpenCall> longest(std::vector<OpenCall> calls, std::int64_t span) {
  std::erase_if(calls, [&](const OpenCall& call) { return call.end - call.ts < span / kLeastParts; });
  if (calls.size() > kMostMarks) {
    std::ranges::stable_sort(calls, [](const OpenCall& x, const OpenCall& y) { return x.end - x.ts > y.end - y.ts; });
    calls.resize(kMostMarks);
  }
  std::ranges::stable_sort(calls, {}, [](const OpenCall& call) { return std::pair(call.ts, -call.end); });
  return calls;
}

// Calls that are open during the whole step only say how the program came here: the innermost two of them do.
void drop_outermost(std::vector<OpenCall>& calls, const DeviceStep& step) {
  constexpr std::ptrdiff_t kEnough = 2;
  const auto is_open = [&](const OpenCall& call) {
    return call.ts <= step.first && call.end >= saturating_add(step.first, step.span);
  };
  const auto inner = std::ranges::find_if_not(calls, is_open);
  if (inner - calls.begin() > kEnough) calls.erase(calls.begin(), inner - kEnough);
}

// The longest, in order of time; shorter ones are left out. Host and device times of a trace are on one clock.
std::vector<HostBar> host_lane(const Index& index, const ComparedTrace& trace, const DeviceStep& step) {
  std::vector<HostBar> out;
  const std::uint32_t thread = launching_thread(index, trace, step);
  if (thread == 0 || step.span <= 0) return out;
  for (const HostTable& table : {kPythonCalls, kOperators}) {
    std::vector<std::int64_t> open;  // ends
    std::vector<OpenCall> calls = longest(calls_during(index, table, step, thread), step.span);
    TextById names(index, table.name);
    drop_outermost(calls, step);
    for (const OpenCall& call : calls) {
      while (!open.empty() && open.back() <= call.ts) open.pop_back();
      const auto depth = static_cast<std::int64_t>(open.size());
      open.push_back(call.end);
      if (depth >= kMostDepth) continue;
      const std::int64_t begin = std::max(call.ts, step.first);
      const std::int64_t end = std::min(call.end, saturating_add(step.first, step.span));
      out.push_back({depth, begin - step.first, end - begin, short_frame(names.of(call.label).value_or("?"))});
    }
    if (!out.empty()) break;
  }
  return out;
}

constexpr std::size_t kMostEvents = 5000, kMostGaps = 1500;
constexpr std::int64_t kMostColumns = 1000;  // in which shorter events are drawn together

struct TimelineEvent {
  std::uint32_t stream = 0;
  std::int64_t begin = 0, dur = 0;  // ns, `begin` since that of the step
  NameId name = 0;
};

// Nearest to the median of what steps are compared by.
const DeviceStep* usual_step(const PictureGroupSide& side) {
  std::vector<std::pair<std::int64_t, std::uint32_t>> times;
  for (const std::uint32_t number : side.steps.device_steps) {
    times.emplace_back(time_of(side.trace, side.steps, number), number);
  }
  if (times.empty()) return nullptr;
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>((times.size() - 1) / 2);
  std::nth_element(times.begin(), middle, times.end());
  return &side.trace.work.steps[middle->second];
}

std::vector<TimelineEvent> events_of(const ComparedTrace& trace, const DeviceStep& step) {
  std::vector<TimelineEvent> out;
  for_each_event(trace, step, [&](const StepEvent& event) {
    const EventColumns& columns = event.is_memory ? trace.events.memory : trace.events.kernels;
    const std::int64_t begin = std::max<std::int64_t>(columns.int64s("ts")[event.row], 0) - step.first;
    out.push_back({columns.ids("stream_id")[event.row], begin, event.time, event.name});
  });
  std::ranges::stable_sort(out, {}, [](const auto& one) { return one.begin; });
  return out;
}

// Idle times of the step's device.
std::vector<Gap> gaps_of(const ComparedTrace& trace, const DeviceStep& step, std::uint32_t stream) {
  const DeviceColumns columns(trace.events, LaneBy::kDevice);
  const DeviceWork work = columns.work();
  TimelineOptions options;
  options.window = {step.first, saturating_add(step.first, step.taken)};
  std::vector<Gap> out = gaps_in_order(work, launch_calls(trace.events.calls), options).listed;
  const std::uint32_t lane = stream < work.lane_of_stream.size() ? work.lane_of_stream[stream] : 0;
  std::erase_if(out, [lane](const Gap& gap) { return gap.lane != lane; });
  return out;
}

class TimelineData {
 public:
  TimelineData(const PictureInput& in, const GroupComparison& group, const PictureGroupSide& side)
      : in_(in), group_(group), side_(side) {}

  std::string take(const Index& index, const DeviceStep& step) {
    const std::vector<TimelineEvent> events = events_of(side_.trace, step);
    data_.member("phase", phase_of(group_)).member("step", std::int64_t{step.step} - 1);
    data_.member("span", step.span);
    lanes(events);
    marks(events, step.span);
    idle(gaps_of(side_.trace, step, events.empty() ? 0 : events.front().stream), step);
    host(index, step);
    data_.member("names", names_.names()).member("classes", classes_.names());
    return data_.take();
  }
  [[nodiscard]] std::size_t merged() const { return merged_; }

 private:
  void lanes(const std::vector<TimelineEvent>& events) {
    for (const TimelineEvent& event : events) lane_of_.try_emplace(event.stream, 0);
    data_.key("lanes").open('[');
    std::size_t lane = 0;
    for (auto& [stream, number] : lane_of_) {
      number = lane++;
      data_.open('{').member("label", fmt::format("stream {}", stream)).member("stream", stream).close('}');
    }
    data_.close(']');
  }

  void marks(const std::vector<TimelineEvent>& events, std::int64_t span) {
    std::int64_t least = 0;  // shorter ones are drawn together
    if (events.size() > kMostEvents) {
      std::vector<std::int64_t> times;
      for (const TimelineEvent& event : events) times.push_back(event.dur);
      std::nth_element(times.begin(), times.begin() + kMostEvents, times.end(), std::greater<>());
      least = times[kMostEvents] + 1;
    }
    data_.key("events").open('[');
    std::map<std::tuple<std::size_t, std::int64_t, std::int64_t>, std::array<std::int64_t, 3>> short_ones;
    const std::int64_t column = std::max<std::int64_t>(span / kMostColumns, 1);
    for (const TimelineEvent& event : events) {
      const std::size_t lane = lane_of_.at(event.stream);
      const std::int64_t op = classes_.index_of(in_.op(group_, event.name));
      if (event.dur >= least) {
        data_.row(lane, event.begin, event.dur, names_.index_of(in_.kernel(event.name)), op);
        continue;
      }
      auto& mark =
          short_ones.try_emplace({lane, event.begin / column, op}, std::array{event.begin, 0L, 0L}).first->second;
      mark[1] += event.dur;
      ++mark[2];
      ++merged_;
    }
    data_.close(']').key("merged").open('[');
    for (const auto& [place, mark] : short_ones) {
      data_.row(std::get<0>(place), mark[0], mark[1], mark[2], std::get<2>(place));
    }
    data_.close(']');
  }

  // The longest; those left out are named in the data, so that all add up to the idle time of the step.
  void idle(std::vector<Gap> gaps, const DeviceStep& step) {
    std::int64_t rest = step.idle;
    if (gaps.size() > kMostGaps) {
      std::ranges::stable_sort(gaps, std::ranges::greater(), &Gap::dur);
      gaps.resize(kMostGaps);
      std::ranges::stable_sort(gaps, {}, &Gap::ts);
    }
    NameList causes;
    data_.key("idle").open('[');
    for (const Gap& gap : gaps) {
      data_.row(gap.ts - step.first, gap.dur, causes.index_of(std::string(to_string(gap.cause))));
      rest -= gap.dur;
    }
    data_.close(']').member("causes", causes.names()).member("idle_total", step.idle).member("idle_not_shown", rest);
  }

  void host(const Index& index, const DeviceStep& step) {
    data_.key("frames").open('[');
    for (const HostBar& mark : host_lane(index, side_.trace, step)) {
      data_.row(mark.depth, mark.begin, mark.dur, names_.index_of(mark.name));
    }
    data_.close(']');
  }

  const PictureInput& in_;
  const GroupComparison& group_;
  const PictureGroupSide& side_;
  DataWriter data_;
  NameList names_, classes_;
  std::map<std::uint32_t, std::size_t> lane_of_;
  std::size_t merged_ = 0;
};

std::optional<Picture> timeline(const PictureInput& in, const GroupComparison& group, std::size_t side_number) {
  const PictureGroupSide side = sides_of(in, group)[side_number];
  const DeviceStep* step = usual_step(side);
  if (step == nullptr) return std::nullopt;
  TimelineData data(in, group, side);
  std::string json = data.take(*in.indexes[side_number], *step);
  const std::string which = group.group.whole_trace ? "The whole trace" : fmt::format("Step {}", step->step - 1);
  std::string note =
      fmt::format("{}{}, the one nearest to the median.", which, in.compares() ? " of " + in.names[side_number] : "");
  if (group.group.whole_trace) note = "The whole trace on one device.";
  if (data.merged() > 0) note += fmt::format(" {} short events are drawn together.", data.merged());
  return Picture{id_of("timeline", group) + (in.compares() ? (side_number == 0 ? "-a" : "-b") : ""), "timeline",
                 fmt::format("Timeline of {}{}", unit_words(in, group),
                             in.compares() ? fmt::format(": {}", in.names[side_number]) : ""),
                 std::move(note), std::move(json)};
}

}  // namespace

Pictures timelines_of_steps(const PictureInput& in) {
  Pictures out;
  for (const GroupComparison& group : shown_groups(in)) {
    for (std::size_t side = 0; side < in.traces.size(); ++side) {
      if (auto picture = timeline(in, group, side)) out.push_back(*std::move(picture));
    }
  }
  return out;
}

}  // namespace tracedb
