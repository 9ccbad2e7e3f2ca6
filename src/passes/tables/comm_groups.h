// Communication kernels by collective as a temporary table that reports join:
//
//   temp.comm_group(name TEXT, group_name TEXT, group_description TEXT, group_size INTEGER, dtype TEXT, bytes INTEGER,
//                   n INTEGER, known INTEGER, total INTEGER, busy INTEGER, exposed INTEGER, min INTEGER, max INTEGER,
//                   median REAL, p99 INTEGER, factor REAL, described INTEGER, kind TEXT)
//
// One row for each distinct collective, group, type and size. Kernels that the trace does not describe are in a row per
// short name, described = 0; kernels of kind comm_compute have rows of their own. `bytes`: the larger of input and
// output of one collective. `busy` and `exposed` as in exposed_time.h, `factor` as in collective_size.h, the others as
// in group_stats.h.
#pragma once

#include "index/index.h"
#include "passes/select/device_columns.h"

namespace tracedb {

// `places` may be null: steps are those of the index then.
void make_comm_group_table(const Index& index, const Selection& selection, const DevicePlaces* places = nullptr);

}  // namespace tracedb
