// The SQLite files of Ascend's profilers: ascend_pytorch_profiler_*.db of the framework profiler and msprof_*.db of
// msprof. Their tables, by name; times are integer nanoseconds since 1970, and nearly every text is stored as an id in
// STRING_IDS.
//
//   COMPUTE_TASK_INFO, COMMUNICATION_SCHEDULE_TASK_INFO with TASK    kernels, named by the type of the operation
//   COMMUNICATION_OP                                                 kernels too, one for each collective
//   other rows of TASK                                               memory operations and slices
//   CANN_API                                                         runtime calls, tied to tasks by connectionId
//   PYTORCH_API                                                      operators, python calls, annotations, slices
//   MSTX_EVENTS                                                      annotations and instants
//   STEP_TIME                                                        steps, where PYTORCH_API has no ProfilerStep
//
// The names of the other tables are kept (meta, trace.tables_not_read). A torch operator launches from a queue that
// another thread empties; CONNECTION_IDS ties it to its tasks, which becomes a flow, as in trace_view.json.
#pragma once

#include <vector>

#include "ingest/rows/source_rows.h"

namespace tracedb {

// Whether a database with these tables is one.
bool is_ascend_database(const std::vector<std::string>& tables);

void read_ascend_database(SourceTables& tables, RowSink& sink, TraceFacts& facts);

}  // namespace tracedb
