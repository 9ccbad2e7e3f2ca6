// The tables kernel, memory_op and runtime_call of an index as passes over time take them (device_events.h,
// timeline.h).
#pragma once

#include <cstdint>
#include <vector>

#include "index/index.h"
#include "passes/device_events.h"
#include "passes/event_columns.h"
#include "passes/selection.h"
#include "passes/timeline.h"

namespace tracedb {

enum class LaneBy { kDevice, kStream };

class DeviceColumns {
 public:
  // All of the selection but its --from and --to decides what is left out; these are a window: window_of().
  DeviceColumns(const Index& index, const Selection& selection, LaneBy by);

  // Refers to this object.
  [[nodiscard]] DeviceWork work() const;
  // The device or stream that a lane is; 0: those of streams that are not in the table stream.
  [[nodiscard]] std::uint32_t lane_id(std::size_t lane) const { return lane_ids_[lane]; }
  [[nodiscard]] std::size_t lanes() const { return lane_ids_.size(); }
  [[nodiscard]] bool empty() const { return kernels_.size() + memory_ops_.size() == 0; }

 private:
  EventColumns kernels_, memory_ops_;
  std::vector<std::uint8_t> kernels_left_out_, memory_ops_left_out_;
  std::vector<std::uint32_t> lane_of_stream_, lane_ids_;
};

Window window_of(const Selection& selection);

class LaunchColumns {
 public:
  explicit LaunchColumns(const Index& index);
  [[nodiscard]] LaunchCalls calls() const { return {columns_.times("ts"), is_graph_}; }  // refers to this object

 private:
  EventColumns columns_;
  std::vector<std::uint8_t> is_graph_;
};

}  // namespace tracedb
