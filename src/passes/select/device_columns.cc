#include "passes/select/device_columns.h"

#include <limits>
#include <numeric>

namespace tracedb {
namespace {

// By KernelKind and MemoryKind; fills count as computing.
constexpr WorkOfKind kKernelWork = {Work::kCompute, Work::kCompute, Work::kComm, Work::kCopy, Work::kFusedComm};
constexpr WorkOfKind kMemoryWork = {Work::kCopy, Work::kCopy, Work::kCompute, Work::kCopy};

DeviceEvents events(const EventColumns& columns, const WorkOfKind& work_of_kind,
                    std::span<const std::uint8_t> left_out) {
  return {columns.int64s("ts"),
          columns.int64s("dur"),
          columns.ids("stream_id"),
          columns.ids("launch_id"),
          columns.ids("kind"),
          work_of_kind,
          left_out,
          columns.busy_durs()};
}

}  // namespace

DeviceColumns::DeviceColumns(const EventTables& events, LaneBy by)
    : events_(events), lane_of_stream_(events_.device_of_stream) {
  if (by == LaneBy::kStream) std::iota(lane_of_stream_.begin(), lane_of_stream_.end(), 0U);
  lane_ids_ = lane_of_stream_;  // sorted, each once, so that lanes have no gaps whatever the ids
  std::ranges::sort(lane_ids_);
  lane_ids_.erase(std::unique(lane_ids_.begin(), lane_ids_.end()), lane_ids_.end());
  for (std::uint32_t& lane : lane_of_stream_) {
    lane = static_cast<std::uint32_t>(std::ranges::lower_bound(lane_ids_, lane) - lane_ids_.begin());
  }
}

DeviceColumns::DeviceColumns(Workload& workload, LaneBy by, Times times) : DeviceColumns(workload.events(), by) {
  const EventFilter filter = workload.filter(times);
  if (!filter.keeps_all()) {
    kernels_left_out_.resize(events_.kernels.size());
    memory_ops_left_out_.resize(events_.memory.size());
    for (std::size_t i = 0; i < kernels_left_out_.size(); ++i) kernels_left_out_[i] = filter.keeps_kernel(i) ? 0 : 1;
    for (std::size_t i = 0; i < memory_ops_left_out_.size(); ++i) {
      memory_ops_left_out_[i] = filter.keeps_memory_op(i) ? 0 : 1;
    }
  }
}

DeviceWork DeviceColumns::work() const {
  return {events(events_.kernels, kKernelWork, kernels_left_out_),
          events(events_.memory, kMemoryWork, memory_ops_left_out_), lane_of_stream_, lane_ids_.size()};
}

IdleSums idle_sums(const EventTables& events, const Window& window) {
  const DeviceColumns columns(events, LaneBy::kDevice);
  return idle_sums(timelines(columns.work(), launch_calls(events.calls), {.window = window}));
}

Window window_of_steps(const EventTables& events, const StepSet& steps) {
  const auto ts = events.kernels.int64s("ts"), dur = events.kernels.int64s("dur");
  Window out{std::numeric_limits<std::int64_t>::max(), 0};
  const bool any = std::ranges::any_of(steps.of_kernel, [](auto step) { return step != 0; });
  for (std::size_t i = 0; i < ts.size(); ++i) {
    if (any && steps.of_kernel[i] == 0) continue;
    out.from = std::min(out.from, std::max<std::int64_t>(ts[i], 0));
    out.to = std::max(out.to, saturating_add(ts[i], duration_or_zero(dur[i])));
  }
  return out.to > out.from ? out : Window{};
}

Window window_of(const Selection& selection) {
  Window window;
  if (selection.from) window.from = std::max<std::int64_t>(*selection.from, 0);
  if (selection.to) window.to = *selection.to;
  return window;
}

}  // namespace tracedb
