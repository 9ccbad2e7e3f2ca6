// One step of a kind, the one whose time is nearest to the median: what ran on each stream, why the device was idle,
// and where the host was.
#include "passes/time/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "base/saturating.h"
#include "passes/select/device_columns.h"
#include "passes/steps/step_stats.h"
#include "report_page/html/data_writer.h"
#include "report_page/pictures/host_lane.h"
#include "report_page/pictures/picture.h"

namespace tracedb {
namespace {

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
  const auto add = [&](const EventColumns& columns, std::uint32_t row, NameId name) {
    const std::int64_t begin = std::max<std::int64_t>(columns.int64s("ts")[row], 0) - step.first;
    out.push_back({columns.ids("stream_id")[row], begin, duration_or_zero(columns.int64s("dur")[row]), name});
  };
  const auto names = trace.events.kernels.ids("name_id");
  for (std::size_t i = step.begin; i < step.end; ++i) {
    const std::uint32_t row = trace.work.kernel_rows[i];
    add(trace.events.kernels, row, trace.name(names[row]));
  }
  const auto kinds = trace.events.memory.ids("kind");
  for (std::size_t i = step.memory_begin; i < step.memory_end; ++i) {
    const std::uint32_t row = trace.work.memory_rows[i];
    const bool copy = work_of_memory(kinds[row]) == Work::kCopy;
    add(trace.events.memory, row, copy ? trace.numbers.memcpy : trace.numbers.memset);
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& x, const auto& y) { return x.begin < y.begin; });
  return out;
}

// Idle times of the step's device.
std::vector<Gap> gaps_of(const ComparedTrace& trace, const LaunchColumns& launches, const DeviceStep& step,
                         std::uint32_t stream) {
  const DeviceColumns columns(trace.events, LaneBy::kDevice);
  const DeviceWork work = columns.work();
  TimelineOptions options;
  options.window = {step.first, saturating_add(step.first, step.taken)};
  std::vector<Gap> out = gaps_in_order(work, launches.calls(), options).listed;
  const std::uint32_t lane = stream < work.lane_of_stream.size() ? work.lane_of_stream[stream] : 0;
  std::erase_if(out, [lane](const Gap& gap) { return gap.lane != lane; });
  return out;
}

class TimelineData {
 public:
  TimelineData(const PictureInput& in, const GroupComparison& group, const PictureGroupSide& side)
      : in_(in), group_(group), side_(side) {}

  std::string take(const Index& index, const LaunchColumns& launches, const DeviceStep& step) {
    const std::vector<TimelineEvent> events = events_of(side_.trace, step);
    data_.member("phase", phase_of(group_)).member("step", static_cast<std::int64_t>(step.step) - 1);
    data_.member("span", step.span);
    lanes(events);
    marks(events, step.span);
    idle(gaps_of(side_.trace, launches, step, events.empty() ? 0 : events.front().stream), step);
    host(index, step);
    data_.list("names", names_.names()).list("classes", classes_.names());
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

  [[nodiscard]] const std::string& class_of(NameId name) const {
    return in_.kernel_names.op_name(group_.levels.op_of(name, in_.kernel_names));
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
      const std::int64_t op = classes_.index_of(class_of(event.name));
      if (event.dur >= least) {
        const KernelNameEntry& entry = in_.kernel_names.entries()[event.name];
        const std::string& name = entry.short_name.empty() ? entry.name : entry.short_name;
        data_.open('[').number(static_cast<std::int64_t>(lane)).number(event.begin).number(event.dur);
        data_.number(names_.index_of(name)).number(op).close(']');
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
      data_.open('[').number(static_cast<std::int64_t>(std::get<0>(place))).number(mark[0]).number(mark[1]);
      data_.number(mark[2]).number(std::get<2>(place)).close(']');
    }
    data_.close(']');
  }

  // The longest; those left out are named in the data, so that all add up to the idle time of the step.
  void idle(std::vector<Gap> gaps, const DeviceStep& step) {
    std::int64_t rest = step.idle;
    if (gaps.size() > kMostGaps) {
      std::stable_sort(gaps.begin(), gaps.end(), [](const Gap& x, const Gap& y) { return x.dur > y.dur; });
      gaps.resize(kMostGaps);
      std::stable_sort(gaps.begin(), gaps.end(), [](const Gap& x, const Gap& y) { return x.ts < y.ts; });
    }
    NameList causes;
    data_.key("idle").open('[');
    for (const Gap& gap : gaps) {
      data_.open('[').number(gap.ts - step.first).number(gap.dur);
      data_.number(causes.index_of(std::string(to_string(gap.cause)))).close(']');
      rest -= gap.dur;
    }
    data_.close(']').list("causes", causes.names()).member("idle_total", step.idle).member("idle_not_shown", rest);
  }

  void host(const Index& index, const DeviceStep& step) {
    data_.key("frames").open('[');
    for (const HostBar& mark : host_lane(index, side_.trace, step)) {
      data_.open('[')
          .number(mark.depth)
          .number(mark.begin)
          .number(mark.dur)
          .number(names_.index_of(mark.name))
          .close(']');
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

std::optional<Picture> timeline(const PictureInput& in, const GroupComparison& group, std::size_t side_number,
                                const LaunchColumns& launches) {
  const PictureGroupSide side = sides_of(in, group)[side_number];
  const DeviceStep* step = usual_step(side);
  if (step == nullptr) return std::nullopt;
  TimelineData data(in, group, side);
  std::string json = data.take(*in.indexes[side_number], launches, *step);
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
  std::vector<std::unique_ptr<LaunchColumns>> launches;
  for (const Index* index : in.indexes) launches.push_back(std::make_unique<LaunchColumns>(*index));
  Pictures out;
  for (const GroupComparison& group : shown_groups(in)) {
    for (std::size_t side = 0; side < in.traces.size(); ++side) {
      if (auto picture = timeline(in, group, side, *launches[side])) out.push_back(*std::move(picture));
    }
  }
  return out;
}

}  // namespace tracedb
