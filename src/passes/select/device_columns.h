// The events of a workload as passes over time want them (device_events.h, timeline.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/unknown.h"
#include "passes/columns/device_events.h"
#include "passes/select/workload.h"
#include "passes/time/timeline.h"

namespace tracedb {

enum class LaneBy { kDevice, kStream };

// The workload or the tables must outlive the object.
class DeviceColumns {
 public:
  DeviceColumns(const EventTables& events, LaneBy by);  // all that is in them
  DeviceColumns(Workload& workload, LaneBy by, Times times);
  DeviceColumns& operator=(DeviceColumns&&) = delete;

  // Refers to this object.
  [[nodiscard]] DeviceWork work() const;
  // The device or stream that a lane is; 0: those of streams that are not in the table stream.
  [[nodiscard]] std::uint32_t lane_id(std::size_t lane) const { return lane_ids_[lane]; }

 private:
  const EventTables& events_;
  std::vector<std::uint8_t> kernels_left_out_, memory_ops_left_out_;
  std::vector<std::uint32_t> lane_of_stream_, lane_ids_;
};

// Of all work of the devices of a trace.
IdleSums idle_sums(const EventTables& events, const Window& window = {});

// From the start of the first kernel in a step to the end of the last; of all kernels where none is in one.
Window window_of_steps(const EventTables& events, const StepSet& steps);

Window window_of(const Selection& selection);

// Of table runtime_call, which the result refers to.
inline LaunchCalls launch_calls(const EventColumns& calls) { return {calls.int64s("ts"), calls.ids("kind")}; }

// The steps to which kernels and copies belong.
class GapSteps {
 public:
  explicit GapSteps(Workload& workload) : steps_(workload.steps()) {}
  [[nodiscard]] bool are_known() const { return !steps_.steps.empty(); }
  // Number of the step of what ended the gap.
  [[nodiscard]] std::optional<std::uint32_t> step(const Gap& gap) const {
    const std::uint32_t after = are_known() ? place(gap.after) : 0;
    return after == 0 ? std::nullopt : std::optional(after - 1);
  }
  // Whether a step ends or begins in it: what is before and after it is not of one step. nullopt: there are no steps.
  [[nodiscard]] std::optional<bool> is_between(const Gap& gap) const {
    return are_known() ? std::optional(place(gap.before) != place(gap.after)) : std::nullopt;
  }

 private:
  // + 1; 0: in none.
  [[nodiscard]] std::uint32_t place(const EventRef& event) const { return event.id == 0 ? 0 : steps_.of(event); }

  const StepSet& steps_;
};

// Calls visit(DeviceEvent) for each kernel, copy and fill that is selected, in order of start.
template <class Visit>
void for_each_selected(Workload& workload, Visit visit) {
  const DeviceColumns columns(workload, LaneBy::kDevice, Times::kOfStart);
  for_each_in_order(columns.work(), [&](const DeviceEvent& event) {
    if (!event.left_out) visit(event);
  });
}

// Of some device events, in ns.
struct DeviceSums {
  std::int64_t total = 0, busy = 0, kernels = 0;  // sum, union added up over devices, and number

  // In order of start.
  void add(const DeviceEvent& event) {
    total = saturating_add(total, event.end - event.ts);
    std::int64_t& until = for_id(until_, event.lane);
    if (event.end > until) busy = saturating_add(busy, event.end - std::max(event.ts, until));
    until = std::max(until, event.end);
    kernels += event.ref.is_memory_op ? 0 : 1;
  }

 private:
  std::vector<std::int64_t> until_;  // by device
};

}  // namespace tracedb
