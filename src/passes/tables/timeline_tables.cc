// Time of devices or streams, and the gaps in it (passes/time/timeline.h).
#include <array>

#include "passes/tables/pass_tables.h"

namespace tracedb {
namespace {

// The lanes of a workload's work, and what a row says of one.
class Lanes {
 public:
  Lanes(Workload& workload, const PassOptions& options)
      : columns_(workload, options.lanes, Times::kWindow),
        launches_(workload.index()),
        options_(options.timeline),
        by_(options.lanes),
        device_of_stream_(workload.events().device_of_stream) {
    options_.window = window_of(workload.selection());
  }
  [[nodiscard]] std::vector<LaneTimeline> timelines() const {
    return tracedb::timelines(columns_.work(), launches_.calls(), options_);
  }
  [[nodiscard]] Gaps gaps(std::size_t limit) const {
    return idle_gaps(columns_.work(), launches_.calls(), options_, limit);
  }
  // Columns device_id and stream_id.
  void add(TableRows& rows, std::size_t lane) const {
    const std::uint32_t id = columns_.lane_id(lane);
    if (by_ == LaneBy::kDevice) {
      rows.add(id).add_null();
    } else {
      rows.add(id < device_of_stream_.size() ? device_of_stream_[id] : 0).add(id);
    }
  }

 private:
  DeviceColumns columns_;
  LaunchColumns launches_;
  TimelineOptions options_;
  LaneBy by_;
  const std::vector<std::uint32_t>& device_of_stream_;
};

constexpr TableColumn kDevice = {"device_id", ColumnType::kInteger, "", "id in device"};
constexpr TableColumn kStream = {"stream_id", ColumnType::kInteger, "", "id in stream; NULL: a whole device"};

void fill_timeline(Workload& workload, const PassOptions& options, TableRows& rows) {
  const Lanes lanes(workload, options);
  const std::vector<LaneTimeline> all = lanes.timelines();
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
  }
}

// Ids of a kernel and of a memory operation, of which the event has one.
void add_event(TableRows& rows, const EventRef& event) {
  const std::optional<std::uint32_t> id = event.id == 0 ? std::nullopt : std::optional(event.id);
  rows.add(event.is_memory_op ? std::nullopt : id).add(event.is_memory_op ? id : std::nullopt);
}

// Steps are those that are marked: to infer them takes longer than to find the gaps.
void fill_gaps(Workload& workload, const PassOptions& options, TableRows& rows) {
  const bool has_steps = workload.selection().names_steps() || workload.has_marked_steps();
  const StepSet* steps = has_steps ? &workload.steps() : nullptr;
  const Lanes lanes(workload, options);
  const Gaps gaps = lanes.gaps(options.most_gaps);
  for (const Gap& gap : gaps.longest) {
    lanes.add(rows, gap.lane);
    rows.add(gap.ts).add(gap.dur).add(to_string(gap.cause));
    add_event(rows, gap.before);
    add_event(rows, gap.after);
    std::uint32_t step = 0;
    if (steps != nullptr) step = (gap.after.is_memory_op ? steps->of_memory : steps->of_kernel)[gap.after.id - 1];
    rows.add(step == 0 ? std::nullopt : std::optional(step - 1)).add(gaps.count).add(gaps.total);
  }
}

void fill_causes(Workload& workload, const PassOptions& options, TableRows& rows) {
  struct Sum {
    std::int64_t gaps = 0, time = 0, longest = 0;
  };
  const Lanes lanes(workload, options);
  std::vector<std::array<Sum, kIdleCauses>> sums;
  for (const Gap& gap : lanes.gaps(0).longest) {
    if (gap.lane >= sums.size()) sums.resize(gap.lane + std::size_t{1});
    Sum& sum = sums[gap.lane].at(static_cast<std::size_t>(gap.cause));
    ++sum.gaps;
    sum.time += gap.dur;  // at most the span of the lane
    sum.longest = std::max(sum.longest, gap.dur);
  }
  for (std::size_t lane = 0; lane < sums.size(); ++lane) {
    for (std::size_t cause = 0; cause < kIdleCauses; ++cause) {
      const Sum& sum = sums[lane].at(cause);
      if (sum.gaps == 0) continue;
      lanes.add(rows, lane);
      rows.add(to_string(static_cast<IdleCause>(cause))).add(sum.gaps).add(sum.time).add(sum.longest);
    }
  }
}

}  // namespace

PassTable timeline_table() {
  using enum ColumnType;
  return {"timeline",
          "how the time of each device is spent; with --per-stream, of each stream",
          {kDevice,
           kStream,
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
           {"unselected", kInteger, "ns", "of idle, time during which events outside the selection ran"}},
          fill_timeline};
}

PassTable idle_gaps_table() {
  using enum ColumnType;
  return {"idle_gaps",
          "one row per time at which a device ran nothing of the selection, longest first",
          {kDevice,
           kStream,
           {"ts", kInteger, "ns", "start, from meta.base_time_ns"},
           {"dur", kInteger, "ns", "length"},
           {"cause", kText, "", "host_wait, kernel_wait, graph_gap, other or unknown, as in timeline"},
           {"before_kernel_id", kInteger, "", "id in kernel, if a kernel ended last before it"},
           {"before_memory_op_id", kInteger, "", "id in memory_op, if a copy or fill did"},
           {"after_kernel_id", kInteger, "", "id in kernel, if a kernel ended it"},
           {"after_memory_op_id", kInteger, "", "id in memory_op, if a copy or fill did"},
           {"step", kInteger, "", "number of the step of what ended it; NULL: none, or steps are inferred"},
           {"all_gaps", kInteger, "count", "gaps there are, in all rows and those a limit leaves out"},
           {"all_idle", kInteger, "ns", "time of all of them: idle in timeline"}},
          fill_gaps};
}

PassTable gaps_by_cause_table() {
  using enum ColumnType;
  return {"gaps_by_cause",
          "idle time of each device by its cause; with --per-stream, of each stream",
          {kDevice,
           kStream,
           {"cause", kText, "", "as in idle_gaps"},
           {"gaps", kInteger, "count", "gaps of this cause"},
           {"time", kInteger, "ns", "their time; over all causes it is idle in timeline"},
           {"longest", kInteger, "ns", "of the longest"}},
          fill_causes};
}

}  // namespace tracedb
