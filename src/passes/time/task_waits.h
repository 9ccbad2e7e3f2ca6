// How long collectives wait for other ranks where the trace has the tasks that they are made of: those on the planes of
// Ascend's HCCL. A collective waits while it waits for a notice of another rank and no task of it moves data.
#pragma once

#include <cstdint>
#include <limits>

#include "index/index.h"

namespace tracedb {

// Times in ns, sums over collectives that have tasks; at most one of them runs at a time.
struct TaskWaits {
  std::int64_t time = 0, waiting = 0;
  [[nodiscard]] double share() const { return time > 0 ? static_cast<double>(waiting) / static_cast<double>(time) : 0; }
};

// Of collectives that start in [from, to).
TaskWaits task_waits(const Index& index, std::int64_t from = std::numeric_limits<std::int64_t>::min(),
                     std::int64_t to = std::numeric_limits<std::int64_t>::max());

}  // namespace tracedb
