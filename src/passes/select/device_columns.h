// Loads the tables kernel, memory_op and runtime_call of an index for passes over time (device_events.h, timeline.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "index/index.h"
#include "passes/columns/device_events.h"
#include "passes/columns/event_columns.h"
#include "passes/select/selection.h"
#include "passes/steps/step_set.h"
#include "passes/time/timeline.h"

namespace tracedb {

enum class LaneBy { kDevice, kStream };
// What --from and --to of a selection are about.
enum class Times {
  kOfStart,  // like its other parts: what starts outside is left out
  kWindow,   // not the selection's business: window_of() cuts events off
};

// Steps that are not those of the index, for selections that name some. Both must outlive what is made with them.
struct DevicePlaces {
  const EventTables& events;
  const StepSet& steps;
};

enum class KernelNames { kIfSelected, kRead };

class DeviceColumns {
 public:
  // `places` may be null: steps are those of the index then.
  DeviceColumns(const Index& index, const Selection& selection, LaneBy by, Times times, const DevicePlaces* places,
                KernelNames names = KernelNames::kIfSelected);
  DeviceColumns(const DeviceColumns&) = delete;
  DeviceColumns& operator=(const DeviceColumns&) = delete;

  // Refers to this object.
  [[nodiscard]] DeviceWork work() const;
  // The device or stream that a lane is; 0: those of streams that are not in the table stream.
  [[nodiscard]] std::uint32_t lane_id(std::size_t lane) const { return lane_ids_[lane]; }
  [[nodiscard]] std::span<const std::uint32_t> kernel_names() const { return kernels_->ids("name_id"); }  // kRead

 private:
  DeviceColumns(const Index& index, const EventFilter& filter, LaneBy by, const DevicePlaces* places,
                KernelNames names);

  std::optional<EventColumns> own_kernels_, own_memory_ops_;  // unless places have them
  const EventColumns* kernels_;
  const EventColumns* memory_ops_;
  std::vector<std::uint8_t> kernels_left_out_, memory_ops_left_out_;
  std::vector<std::uint32_t> lane_of_stream_, lane_ids_;
};

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
