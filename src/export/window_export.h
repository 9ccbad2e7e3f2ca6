// Writes windows of one or two traces as one Chrome JSON: processes, threads, streams, python frames, operators,
// runtime calls, annotations, kernels, copies and fills, counters, a flow from each launch to what it launched; above
// the streams of each device its steps, layers, roles and idle times by cause.
//
// Events carry the arguments that Kineto gives them, so that trace-ingest reads a window as it reads a trace: its
// kernels, launches and flows are those of the trace. What lasts beyond the window is cut off there, and says so
// (full_dur); kernels, copies and fills are never cut.
#pragma once

#include <cstdint>
#include <ostream>
#include <span>
#include <string>

#include "export/window.h"
#include "passes/select/workload.h"

namespace tracedb {

struct WindowSide {
  Workload& workload;
  const TraceWindow& window;
  std::string prefix;  // of the names of its processes; "" where it is the only one
};

struct WindowCounts {
  std::int64_t kernels = 0, memory_ops = 0, host_events = 0, flows = 0;
};

// Category of what is derived: the marks above the streams. A window of a window leaves such slices out.
inline constexpr std::string_view kMarkCategory = "tracedb";

// One side: times count from meta.base_time_ns, which is the baseTimeNanoseconds of the file. Two: the first kernel
// of both is at the same time.
WindowCounts write_windows(std::ostream& out, std::span<const WindowSide> sides);

}  // namespace tracedb
