#include "passes/select/device_columns.h"

#include <algorithm>
#include <numeric>

namespace tracedb {
namespace {

Selection meant(Selection selection, Times times) {
  if (times == Times::kOfStart) return selection;
  selection.from.reset();
  selection.to.reset();
  return selection;
}

// Names and steps are read only where a selection asks for them.
std::optional<EventColumns> kernel_columns(const Index& index, bool all, KernelNames names) {
  if (all && names == KernelNames::kIfSelected) {
    return EventColumns(index, "kernel", {"ts", "dur", "stream_id", "launch_id", "kind"});
  }
  if (all) return EventColumns(index, "kernel", {"ts", "dur", "name_id", "stream_id", "launch_id", "kind"});
  return EventColumns(index, "kernel", {"ts", "dur", "name_id", "stream_id", "launch_id", "step_id", "kind"});
}
std::optional<EventColumns> memory_columns(const Index& index, bool all) {
  if (all) return EventColumns(index, "memory_op", {"ts", "dur", "kind", "stream_id", "launch_id"});
  return EventColumns(index, "memory_op", {"ts", "dur", "kind", "stream_id", "launch_id", "step_id"});
}

enum class Names { kOfKernels, kNone };

std::vector<std::uint8_t> left_out(const EventColumns& columns, const EventFilter& filter, Names names,
                                   std::span<const std::uint32_t> step) {
  std::vector<std::uint8_t> out(columns.size());
  const auto ts = columns.int64s("ts");
  const auto name = names == Names::kOfKernels ? columns.ids("name_id") : std::span<const std::uint32_t>();
  const auto stream = columns.ids("stream_id");
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = filter.keeps(ts[i], name.empty() ? 0 : name[i], stream[i], step[i]) ? 0 : 1;
  }
  return out;
}

DeviceEvents events(const EventColumns& columns, const WorkOfKind& work_of_kind,
                    std::span<const std::uint8_t> left_out) {
  return {columns.int64s("ts"),
          columns.int64s("dur"),
          columns.ids("stream_id"),
          columns.ids("launch_id"),
          columns.ids("kind"),
          work_of_kind,
          left_out};
}

// By StoredKernelKind and StoredMemoryKind; fills count as computing.
constexpr WorkOfKind kKernelWork = {Work::kCompute, Work::kCompute, Work::kComm, Work::kCopy, Work::kFusedComm};
constexpr WorkOfKind kMemoryWork = {Work::kCopy, Work::kCopy, Work::kCompute, Work::kCopy};

}  // namespace

DeviceColumns::DeviceColumns(const Index& index, const Selection& selection, LaneBy by, Times times,
                             const DevicePlaces* places, KernelNames names)
    : DeviceColumns(index, EventFilter(index, meant(selection, times), places == nullptr ? nullptr : &places->steps),
                    by, places, names) {}

DeviceColumns::DeviceColumns(const Index& index, const EventFilter& filter, LaneBy by, const DevicePlaces* places,
                             KernelNames names)
    : own_kernels_(places == nullptr ? kernel_columns(index, filter.keeps_all(), names) : std::nullopt),
      own_memory_ops_(places == nullptr ? memory_columns(index, filter.keeps_all()) : std::nullopt),
      kernels_(places == nullptr ? &*own_kernels_ : &places->events.kernels),
      memory_ops_(places == nullptr ? &*own_memory_ops_ : &places->events.memory),
      lane_of_stream_(devices_of_streams(index)) {
  if (!filter.keeps_all()) {
    kernels_left_out_ = left_out(*kernels_, filter, Names::kOfKernels,
                                 places == nullptr ? kernels_->ids("step_id") : places->steps.of_kernel);
    memory_ops_left_out_ = left_out(*memory_ops_, filter, Names::kNone,
                                    places == nullptr ? memory_ops_->ids("step_id") : places->steps.of_memory);
  }
  if (by == LaneBy::kStream) std::iota(lane_of_stream_.begin(), lane_of_stream_.end(), 0U);
  lane_ids_ = lane_of_stream_;  // sorted, each once, so that lanes have no gaps whatever the ids
  std::sort(lane_ids_.begin(), lane_ids_.end());
  lane_ids_.erase(std::unique(lane_ids_.begin(), lane_ids_.end()), lane_ids_.end());
  for (std::uint32_t& lane : lane_of_stream_) {
    const auto found = std::lower_bound(lane_ids_.begin(), lane_ids_.end(), lane);
    lane = static_cast<std::uint32_t>(found - lane_ids_.begin());
  }
}

DeviceWork DeviceColumns::work() const {
  return {events(*kernels_, kKernelWork, kernels_left_out_), events(*memory_ops_, kMemoryWork, memory_ops_left_out_),
          lane_of_stream_, lane_ids_.size()};
}

Window window_of(const Selection& selection) {
  Window window;
  if (selection.from) window.from = std::max<std::int64_t>(*selection.from, 0);
  if (selection.to) window.to = *selection.to;
  return window;
}

LaunchColumns::LaunchColumns(const Index& index)
    : columns_(index, "runtime_call", {"ts", "kind"}), is_graph_(columns_.size()) {
  const auto kinds = columns_.ids("kind");
  constexpr auto kGraph = static_cast<std::uint32_t>(StoredCallKind::kGraphLaunch);
  for (std::size_t i = 0; i < kinds.size(); ++i) is_graph_[i] = kinds[i] == kGraph ? 1 : 0;
}

}  // namespace tracedb
