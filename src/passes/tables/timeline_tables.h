// Time of devices and its gaps as temporary tables that reports join (timeline.h says what the figures are):
//
//   temp.timeline(device_id, stream_id, kernels, memory_ops, begin, span, busy, idle, computation, comm, copy,
//                 exposed_comm, exposed_copy, host_wait, kernel_wait, graph_gap, other, unknown, gaps, micro_idle,
//                 macro_idle, unselected), all INTEGER
//   temp.gap(device_id, stream_id, ts, dur, cause TEXT, before_kernel_id, before_memory_op_id, after_kernel_id,
//            after_memory_op_id, step), the others INTEGER
//
// One row for each device, or stream, with events of the selection; stream_id is NULL for devices. Its --from and --to
// are a window that cuts events and gaps off. `step`: number of that of the event after; NULL without places.
#pragma once

#include <cstddef>
#include <cstdint>

#include "index/index.h"
#include "passes/select/device_columns.h"

namespace tracedb {

// Options but the window, which is the selection's.
void make_timeline_table(const Index& index, const Selection& selection, LaneBy by, TimelineOptions options,
                         const DevicePlaces* places = nullptr);

struct GapSums {
  std::int64_t count = 0, total = 0;  // of all gaps
};
// The `limit` longest gaps; 0: all.
GapSums make_gap_table(const Index& index, const Selection& selection, LaneBy by, TimelineOptions options,
                       std::size_t limit, const DevicePlaces* places = nullptr);

}  // namespace tracedb
