// How devices of one process count that share its steps unequally. The mean over devices is of none of them where one
// hardly works, or where they work one after the other (a pipeline, device_map): the first is left out, and in turns a
// step lasts on each from its first work on any to its last. Traces that are compared have one answer, or their figures
// would differ by it.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/time_cover.h"
#include "passes/steps/step_set.h"

namespace tracedb {

// What the devices of a trace do, by the profiler's numbers. Without parts for one device, and where numbers do not
// tell several apart: all work then.
struct DeviceUse {
  struct Part {
    std::uint32_t step;  // 1 and more; 0: the trace has none
    std::int64_t device;
    Extent time;  // from its first kernel to its last
  };
  std::map<std::int64_t, std::int64_t> time;  // ns of kernels, in steps or not
  std::vector<Part> parts;                    // in order of step
};
// `kernel_rows`: in order of step, device and time.
DeviceUse device_use(const EventTables& events, const StepSet& steps, std::span<const std::uint32_t> kernel_rows);

struct DeviceShares {
  std::vector<std::int64_t> idle;  // numbers of devices that hardly work in any of the traces
  bool in_turns = false;           // in all of them in which several work
};
DeviceShares device_shares(std::span<const DeviceUse> traces);

}  // namespace tracedb
