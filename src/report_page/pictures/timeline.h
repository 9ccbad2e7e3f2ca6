// What the host did during a step, on the thread that launched its first kernel: Python calls or, where none were
// recorded, operators, nested by time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compare/trace/compared_trace.h"

namespace tracedb {

struct HostBar {
  std::int64_t depth = 0;
  std::int64_t begin = 0, dur = 0;  // ns, within the step, `begin` since its start
  std::string name;                 // "llama.py:374 forward"
};

// The longest, in order of time; shorter ones are left out. Host and device times of a trace are on one clock.
std::vector<HostBar> host_lane(const Index& index, const ComparedTrace& trace, const DeviceStep& step);

}  // namespace tracedb
