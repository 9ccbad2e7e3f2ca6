// From the launching call to the start of its work, by name of the call (schema/METRICS.md 4). Pure, linear, one
// walk.
//
// A call is counted once, however many kernels, copies and fills it launches, and its delays are those of the first of
// them: the later ones of a graph wait for each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "passes/columns/device_events.h"
#include "passes/columns/group_stats.h"

namespace tracedb {

// Runtime calls by id - 1.
struct RuntimeCalls {
  std::span<const std::int64_t> ts, dur;
  std::span<const GroupId> group;              // by name; kNoGroup: never counted
  std::span<const std::uint8_t> is_launching;  // not 0: counted even if nothing that it launched is there
};

struct LaunchStats {
  std::int64_t calls = 0;
  std::int64_t launching = 0;  // calls with at least one kernel, copy or fill
  std::int64_t kernels = 0, memory_ops = 0;
  GroupStats api;                  // time in the call, where known
  GroupStats delay;                // from the return of the call to the start of its first work, at least 0
  std::int64_t started_early = 0;  // first works that started before the call returned: their delay counts as 0
  GroupStats queue;                // of the delay, what is not due to earlier work on the same stream
};

struct Launches {
  std::vector<LaunchStats> groups;
  std::int64_t kernels_without_launch = 0;
};

// Lanes must be streams. What is left out (device_events.h) keeps streams busy and is not counted; then, calls without
// work that is selected are not counted either.
Launches launch_stats(const DeviceWork& work, const RuntimeCalls& calls, std::size_t groups);

}  // namespace tracedb
