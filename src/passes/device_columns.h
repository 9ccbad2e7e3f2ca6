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
// What --from and --to of a selection are about.
enum class Times {
  kOfStart,  // like its other parts: what starts outside is left out
  kWindow,   // not the selection's business: window_of() cuts events off
};

enum class KernelNames { kIfSelected, kRead };

class DeviceColumns {
 public:
  DeviceColumns(const Index& index, const Selection& selection, LaneBy by, Times times,
                KernelNames names = KernelNames::kIfSelected);

  // Refers to this object.
  [[nodiscard]] DeviceWork work() const;
  // The device or stream that a lane is; 0: those of streams that are not in the table stream.
  [[nodiscard]] std::uint32_t lane_id(std::size_t lane) const { return lane_ids_[lane]; }
  [[nodiscard]] std::span<const std::uint32_t> kernel_names() const { return kernels_.ids("name_id"); }  // kRead

 private:
  DeviceColumns(const Index& index, const EventFilter& filter, LaneBy by, KernelNames names);

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
