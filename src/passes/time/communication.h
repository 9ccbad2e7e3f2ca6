// Collectives: their exposed time, bandwidth and waiting.
//
// Exposed communication, during which a device communicates and computes nothing, shared out to groups of communication
// kernels. Pure, linear.
//
// An instant at which several kernels communicate belongs to the one that started first, so the sums over all groups of
// a device are exactly `comm` and `exposed_comm` of its timeline (timeline.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "index/index.h"
#include "passes/columns/device_events.h"
#include "passes/columns/group_stats.h"

namespace tracedb {

struct ExposedTime {
  std::int64_t busy = 0;     // at most 2^63 - 1, as the other
  std::int64_t exposed = 0;  // of it, without computation on the device
};

// Lanes are devices. `group_of_kernel`: by id - 1; kNoGroup: not looked at. Everything of kind kCompute counts as
// computation, also what is left out (device_events.h).
std::vector<ExposedTime> exposed_time(const DeviceWork& work, std::span<const GroupId> group_of_kernel,
                                      std::size_t groups);

// Bytes of an element, by the name a framework gives its type: "BFloat16", "Float8_e4m3fn", "Long" ...
std::optional<std::int64_t> element_size(std::string_view dtype);

// Bus bandwidth / algorithm bandwidth among `ranks`, as nccl-tests count (schema/METRICS.md 6): 2(n-1)/n for
// all-reduce, (n-1)/n for all-gather, reduce-scatter, all-to-all, gather and scatter, 1 for broadcast, reduce, send and
// receive. Unknown for other names and no ranks.
std::optional<double> bus_factor(std::string_view collective, std::int64_t ranks);

// How long collectives wait for other ranks where the trace has the tasks that they are made of: those on the planes of
// Ascend's HCCL. A collective waits while it waits for a notice of another rank and no task of it moves data.
// Times in ns, sums over collectives that have tasks; at most one of them runs at a time.
struct TaskWaits {
  std::int64_t time = 0, waiting = 0;
  [[nodiscard]] double share() const { return time > 0 ? static_cast<double>(waiting) / static_cast<double>(time) : 0; }
};

// Of collectives that start in [from, to).
TaskWaits task_waits(const Index& index, std::int64_t from = std::numeric_limits<std::int64_t>::min(),
                     std::int64_t to = std::numeric_limits<std::int64_t>::max());

}  // namespace tracedb
