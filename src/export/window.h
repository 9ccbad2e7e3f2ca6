// What of a trace a window shows: the kernels, copies and fills that a selection chooses, and the times at which the
// host is looked at: from the calls that launched them to their end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "passes/select/workload.h"

namespace tracedb {

// [begin, end), in ns from meta.base_time_ns.
struct WindowSpan {
  std::int64_t begin = 0, end = 0;
};

struct TraceWindow {
  std::vector<std::uint32_t> kernels, memory_ops;  // rows, ascending: the id less 1
  std::vector<WindowSpan> spans;                   // in order, apart from each other
  std::int64_t device_begin = 0;                   // of the first kernel, else copy, else span

  [[nodiscard]] bool empty() const { return kernels.empty() && memory_ops.empty(); }
  // From the begin of the first span to the end of the last.
  [[nodiscard]] WindowSpan hull() const {
    return spans.empty() ? WindowSpan{} : WindowSpan{spans.front().begin, spans.back().end};
  }
  // Whether an event touches a span.
  [[nodiscard]] bool touches(std::int64_t begin, std::int64_t end) const;
};

// Of the workload's selection. `top_gaps` > 0: of what it chooses, only that around the longest gaps in which a device
// ran nothing at all, as many as that, with half the length of the gap before and behind it.
//
// A selection of steps or layers has a span for each step; it holds the step's own annotation unless layers or names
// choose a part of the step. Any other selection has one span, from --from to --to where they are given.
TraceWindow find_window(Workload& workload, std::size_t top_gaps);

}  // namespace tracedb
