// Launching calls by name as a temporary table that reports join (launch_stats.h says what the figures are):
//
//   temp.launch_group(call TEXT, calls, launching, kernels, api_known, api_total, api_median REAL, api_p99, api_max,
//                     delays, delay_total, delay_median REAL, delay_p99, started_early, queues, queue_total,
//                     queue_median REAL, queue_p99), the others INTEGER
//
// Kernels whose launch is not in the trace are in a row "[no launch]" whose other figures are NULL. NULL too: figures
// of no values.
#pragma once

#include "index/index.h"
#include "passes/select/device_columns.h"

namespace tracedb {

// `places` may be null: steps are those of the index then.
void make_launch_group_table(const Index& index, const Selection& selection, const DevicePlaces* places = nullptr);

}  // namespace tracedb
