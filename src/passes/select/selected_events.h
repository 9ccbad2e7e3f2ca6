// The device events that a selection leaves, in one walk, for sums by what launched them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/unknown.h"
#include "passes/select/device_columns.h"

namespace tracedb {

// Calls visit(DeviceEvent) for each kernel, copy and fill that is selected, in order of start.
template <class Visit>
void for_each_selected(Workload& workload, Visit visit) {
  const DeviceColumns columns(workload, LaneBy::kDevice, Times::kOfStart);
  for_each_in_order(columns.work(), [&](const DeviceEvent& event) {
    if (!event.left_out) visit(event);
  });
}

// A column of ids that both tables of device events have. The tables must outlive the object.
class EventIds {
 public:
  EventIds(const EventTables& events, std::string_view column)
      : kernels_(events.kernels.ids(column)), memory_(events.memory.ids(column)) {}
  // 0: not known.
  std::uint32_t operator[](const EventRef& event) const {
    return (event.is_memory_op ? memory_ : kernels_)[event.id - 1];
  }

 private:
  std::span<const std::uint32_t> kernels_, memory_;
};

// Of some device events, in ns.
struct DeviceSums {
  std::int64_t total = 0, busy = 0, kernels = 0;  // sum, union added up over devices, and number

  // In order of start.
  void add(const DeviceEvent& event) {
    total = saturating_add(total, event.end - event.ts);
    if (event.lane >= until_.size()) until_.resize(event.lane + std::size_t{1});
    std::int64_t& until = until_[event.lane];
    if (event.end > until) busy = saturating_add(busy, event.end - std::max(event.ts, until));
    until = std::max(until, event.end);
    kernels += event.ref.is_memory_op ? 0 : 1;
  }

 private:
  std::vector<std::int64_t> until_;  // by device
};

}  // namespace tracedb
