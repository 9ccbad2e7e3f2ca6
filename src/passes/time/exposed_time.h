// Exposed communication, during which a device communicates and computes nothing, shared out to groups of communication
// kernels. Pure, linear.
//
// An instant at which several kernels communicate belongs to the one that started first, so the sums over all groups of
// a device are exactly `comm` and `exposed_comm` of its timeline (timeline.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

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

}  // namespace tracedb
