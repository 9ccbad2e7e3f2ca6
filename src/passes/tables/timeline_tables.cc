#include "passes/tables/timeline_tables.h"

#include "sql/temp_table.h"

namespace tracedb {
namespace {

// Binds device_id and stream_id, parameters 1 and 2.
class LaneIds {
 public:
  LaneIds(const Index& index, const DeviceColumns& columns, LaneBy by)
      : columns_(columns), by_(by), devices_(devices_of_streams(index)) {}

  void bind(Statement& row, std::size_t lane) const {
    const std::uint32_t id = columns_.lane_id(lane);
    if (by_ == LaneBy::kDevice) {
      row.bind(1, std::int64_t{id});
    } else {
      row.bind(1, std::int64_t{id < devices_.size() ? devices_[id] : 0}).bind(2, std::int64_t{id});
    }
  }

 private:
  const DeviceColumns& columns_;
  LaneBy by_;
  std::vector<std::uint32_t> devices_;
};

void bind_event(Statement& row, int first, const EventRef& event) {
  if (event.id != 0) row.bind(first + (event.is_memory_op ? 1 : 0), std::int64_t{event.id});
}

// As in StepSet: 0 is none.
std::uint32_t step_of(const StepSet& steps, const EventRef& event) {
  return (event.is_memory_op ? steps.of_memory : steps.of_kernel)[event.id - 1];
}

}  // namespace

void make_timeline_table(const Index& index, const Selection& selection, LaneBy by, TimelineOptions options,
                         const DevicePlaces* places) {
  options.window = window_of(selection);
  const DeviceColumns columns(index, selection, by, Times::kWindow, places);
  const LaunchColumns launches(index);
  const std::vector<LaneTimeline> lanes = timelines(columns.work(), launches.calls(), options);
  const LaneIds ids(index, columns, by);
  TempTable table(index.database(), "timeline",
                  "device_id INTEGER, stream_id INTEGER, kernels INTEGER, memory_ops INTEGER, begin INTEGER, "
                  "span INTEGER, busy INTEGER, idle INTEGER, computation INTEGER, comm INTEGER, copy INTEGER, "
                  "exposed_comm INTEGER, exposed_copy INTEGER, host_wait INTEGER, kernel_wait INTEGER, "
                  "graph_gap INTEGER, other INTEGER, unknown INTEGER, gaps INTEGER, micro_idle INTEGER, "
                  "macro_idle INTEGER, unselected INTEGER, fused_comm INTEGER",
                  23);
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const LaneTimeline& lane = lanes[i];
    if (lane.kernels + lane.memory_ops == 0) continue;
    Statement& row = table.insert();
    ids.bind(row, i);
    row.bind(3, lane.kernels).bind(4, lane.memory_ops).bind(5, lane.begin).bind(6, lane.span).bind(7, lane.busy);
    row.bind(8, lane.idle).bind(9, lane.computation).bind(10, lane.comm).bind(11, lane.copy);
    row.bind(12, lane.exposed_comm).bind(13, lane.exposed_copy);
    for (std::size_t cause = 0; cause < kIdleCauses; ++cause) {
      row.bind(14 + static_cast<int>(cause), lane.idle_by_cause[cause]);
    }
    row.bind(19, lane.gaps).bind(20, lane.micro_idle).bind(21, lane.macro_idle).bind(22, lane.unselected);
    row.bind(23, lane.fused_comm);
    row.run();
  }
}

GapSums make_gap_table(const Index& index, const Selection& selection, LaneBy by, TimelineOptions options,
                       std::size_t limit, const DevicePlaces* places) {
  options.window = window_of(selection);
  const DeviceColumns columns(index, selection, by, Times::kWindow, places);
  const LaunchColumns launches(index);
  const Gaps gaps = idle_gaps(columns.work(), launches.calls(), options, limit);
  const LaneIds ids(index, columns, by);
  TempTable table(
      index.database(), "gap",
      "device_id INTEGER, stream_id INTEGER, ts INTEGER, dur INTEGER, cause TEXT, before_kernel_id INTEGER, "
      "before_memory_op_id INTEGER, after_kernel_id INTEGER, after_memory_op_id INTEGER, step INTEGER",
      10);
  for (const Gap& gap : gaps.longest) {
    Statement& row = table.insert();
    ids.bind(row, gap.lane);
    row.bind(3, gap.ts).bind(4, gap.dur).bind(5, to_string(gap.cause));
    bind_event(row, 6, gap.before);
    bind_event(row, 8, gap.after);
    if (const std::uint32_t step = places == nullptr ? 0 : step_of(places->steps, gap.after)) {
      row.bind(10, std::int64_t{step} - 1);
    }
    row.run();
  }
  return {gaps.count, gaps.total};
}

}  // namespace tracedb
