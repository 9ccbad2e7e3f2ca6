// Writes windows of one or two traces as one Chrome JSON: processes, threads, streams, python frames, operators,
// runtime calls, annotations, kernels, copies and fills, counters, a flow from each launch to what it launched; above
// the streams of each device its steps, layers, roles and idle times by cause. On demand the critical path of the
// selection, with flows from track to track along it, and the queues and copy rates as counters.
//
// Events carry the arguments that Kineto gives them, so that trace-ingest reads a window as it reads a trace: its
// kernels, launches and flows are those of the trace. What lasts beyond the window is cut off there, and says so
// (full_dur); kernels, copies and fills are never cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "base/time_cover.h"
#include "passes/select/workload.h"

namespace tracedb {

// What of a trace a window shows: the kernels, copies and fills that a selection chooses, and the times at which the
// host is looked at: from the calls that launched them to their end.

struct TraceWindow {
  std::vector<std::uint32_t> kernels, memory_ops;  // rows, ascending: the id less 1
  std::vector<Extent> spans;                       // ns from meta.base_time_ns; in order, apart from each other
  std::int64_t device_begin = 0;                   // of the first kernel, else copy, else span

  [[nodiscard]] bool empty() const { return kernels.empty() && memory_ops.empty(); }
  // From the begin of the first span to the end of the last.
  [[nodiscard]] Extent hull() const { return spans.empty() ? Extent{} : Extent{spans.front().begin, spans.back().end}; }
  // Whether an event touches a span.
  [[nodiscard]] bool touches(std::int64_t begin, std::int64_t end) const;
};

// Of the workload's selection. `top_gaps` > 0: of what it chooses, only that around the longest gaps in which a device
// ran nothing at all, as many as that, with half the length of the gap before and behind it.
//
// A selection of steps or layers has a span for each step; it holds the step's own annotation unless layers or names
// choose a part of the step. Any other selection has one span, from --from to --to where they are given.
TraceWindow find_window(Workload& workload, std::size_t top_gaps);

struct WindowSide {
  Workload& workload;
  const TraceWindow& window;
  std::string prefix;  // of the names of its processes; "" where it is the only one
  bool with_path = false, with_queues = false;
};

struct WindowCounts {
  std::int64_t kernels = 0, memory_ops = 0, host_events = 0, flows = 0;
};

// Category of what is derived: marks above the streams, counters. A window of a window leaves it out.
inline constexpr std::string_view kMarkCategory = "tracedb";

// One side: times count from meta.base_time_ns, which is the baseTimeNanoseconds of the file. Two: the first kernel
// of both is at the same time.
WindowCounts write_windows(std::ostream& out, std::span<const WindowSide> sides);

}  // namespace tracedb
