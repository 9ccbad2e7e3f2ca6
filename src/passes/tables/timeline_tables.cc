// Time of devices or streams (passes/time/timeline.h), and where the host was while they were idle.
#include "passes/tables/lanes.h"

namespace tracedb {
namespace {

// What the gaps of each lane have in common.
struct IdleLane {
  std::vector<std::uint32_t> gaps;
  std::int64_t between_steps = 0;
};

std::vector<IdleLane> idle_lanes(const std::vector<Gap>& gaps, const GapSteps& steps, std::size_t lanes) {
  std::vector<IdleLane> out(lanes);
  for (std::uint32_t i = 0; i < gaps.size(); ++i) {
    IdleLane& lane = out[gaps[i].lane];
    lane.gaps.push_back(i);
    if (steps.is_between(gaps[i]).value_or(false)) lane.between_steps += gaps[i].dur;
  }
  return out;
}

void fill_timeline(Workload& workload, const PassOptions& options, TableRows& rows) {
  const Lanes lanes(workload, options);
  const std::vector<LaneTimeline> all = lanes.timelines();
  const std::vector<Gap> gaps = lanes.gaps_from(0).listed;
  const GapSteps steps(workload);
  const std::vector<IdleLane> idle_gaps_of = idle_lanes(gaps, steps, all.size());
  const HostActivities host = host_activities(workload, gaps);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const LaneTimeline& lane = all[i];
    if (lane.kernels + lane.memory_ops == 0) continue;
    lanes.add(rows, i);
    rows.add(lane.kernels).add(lane.memory_ops).add(lane.begin).add(lane.span).add(lane.busy).add(lane.idle);
    rows.add(lane.computation).add(lane.comm).add(lane.fused_comm).add(lane.copy);
    rows.add(lane.exposed_comm).add(lane.exposed_copy);
    for (const std::int64_t idle : lane.idle_by_cause) rows.add(idle);
    rows.add(lane.gaps).add(lane.micro_idle).add(lane.macro_idle).add(options.timeline.micro_idle);
    rows.add(lane.unselected);
    rows.add(steps.are_known() ? std::optional(idle_gaps_of[i].between_steps) : std::nullopt);
    add_host(rows, host, host_cells(host.sum(idle_gaps_of[i].gaps)));
  }
}

}  // namespace

PassTable timeline_table() {
  using enum ColumnType;
  return {
      "timeline", "how the time of each device is spent; with --per-stream, of each stream",
      with_host_columns(
          {kDeviceColumn,
           kStreamColumn,
           {"kernels", kInteger, "count", "kernels that are selected"},
           {"memory_ops", kInteger, "count", "copies and fills that are selected"},
           {"begin", kInteger, "ns", "start of the first of them"},
           {"span", kInteger, "ns", "from the first start to the last end"},
           {"busy", kInteger, "ns", "time during which any of them ran"},
           {"idle", kInteger, "ns", "span without busy; computation + exposed_comm + exposed_copy + idle = span"},
           {"computation", kInteger, "ns", "time during which compute kernels or fills ran"},
           {"comm", kInteger, "ns", "time during which collectives ran"},
           {"fused_comm", kInteger, "ns", "of comm, of kernels that also compute"},
           {"copy", kInteger, "ns", "time during which copies ran"},
           {"exposed_comm", kInteger, "ns", "of comm, without computation at the same time"},
           {"exposed_copy", kInteger, "ns", "of copy, without computation or communication at the same time"},
           {"host_wait", kInteger, "ns", "idle before work that was launched only after the gap began"},
           {"kernel_wait", kInteger, "ns", "idle in gaps below --kernel-wait before work that was already launched"},
           {"graph_gap", kInteger, "ns", "idle between kernels of one graph launch"},
           {"other", kInteger, "ns", "idle before work that waited for something else"},
           {"unknown", kInteger, "ns", "idle before work whose launch is not in the trace"},
           {"gaps", kInteger, "count", "gaps; their time adds up to idle"},
           {"micro_idle", kInteger, "ns", "idle in gaps below micro_idle_limit"},
           {"macro_idle", kInteger, "ns", "idle in the other gaps"},
           {"micro_idle_limit", kInteger, "ns", "of --micro-idle"},
           {"unselected", kInteger, "ns", "of idle, time during which events outside the selection ran"},
           {"between_steps", kInteger, "ns",
            "of idle, gaps whose neighbours are not of one step, whatever the cause; NULL: there are no steps"}}),
      fill_timeline};
}

}  // namespace tracedb
