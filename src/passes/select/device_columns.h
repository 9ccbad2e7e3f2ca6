// The events of a workload as passes over time want them (device_events.h, timeline.h).
#pragma once

#include <cstdint>
#include <vector>

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
  DeviceColumns(const DeviceColumns&) = delete;
  DeviceColumns& operator=(const DeviceColumns&) = delete;

  // Refers to this object.
  [[nodiscard]] DeviceWork work() const;
  // The device or stream that a lane is; 0: those of streams that are not in the table stream.
  [[nodiscard]] std::uint32_t lane_id(std::size_t lane) const { return lane_ids_[lane]; }

 private:
  void number_lanes();

  const EventTables& events_;
  std::vector<std::uint8_t> kernels_left_out_, memory_ops_left_out_;
  std::vector<std::uint32_t> lane_of_stream_, lane_ids_;
};

// Of all work of the devices of a trace.
IdleSums idle_sums(const Index& index, const EventTables& events, const Window& window = {});

// From the start of the first kernel in a step to the end of the last; of all kernels where none is in one.
Window window_of_steps(const EventTables& events, const StepSet& steps);

Window window_of(const Selection& selection);

class LaunchColumns {
 public:
  explicit LaunchColumns(const Index& index);
  [[nodiscard]] LaunchCalls calls() const { return {columns_.int64s("ts"), is_graph_}; }  // refers to this object

 private:
  EventColumns columns_;
  std::vector<std::uint8_t> is_graph_;
};

}  // namespace tracedb
