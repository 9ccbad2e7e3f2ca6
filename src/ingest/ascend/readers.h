// Readers of what Ascend's profilers write but for Chrome traces (tasks.h), and what tells their files.
#pragma once

#include <string_view>
#include <vector>

#include "base/stream/byte_source.h"
#include "ingest/read/trace_header.h"
#include "ingest/rows/row_sink.h"
#include "ingest/rows/source_rows.h"

namespace tracedb {

// The SQLite files of Ascend's profilers: ascend_pytorch_profiler_*.db of the framework profiler and msprof_*.db of
// msprof. Their tables, by name; times are integer nanoseconds since 1970, and nearly every text is stored as an id in
// STRING_IDS.
//
//   COMPUTE_TASK_INFO, COMMUNICATION_SCHEDULE_TASK_INFO with TASK    kernels, named by the type of the operation
//   COMMUNICATION_OP                                                 kernels too, one for each collective
//   other rows of TASK                                               memory operations, slices, and kernels named by
//                                                                    the type of task where no operation is recorded
//   CANN_API                                                         runtime calls, tied to tasks by connectionId
//   PYTORCH_API                                                      operators, python calls, annotations, slices
//   MSTX_EVENTS                                                      annotations and instants
//   STEP_TIME                                                        steps, where PYTORCH_API has no ProfilerStep
//
// The names of the other tables are kept (meta, trace.tables_not_read). A torch operator launches from a queue that
// another thread empties; CONNECTION_IDS ties it to its tasks, which becomes a flow, as in trace_view.json.

// Whether a database with these tables is one.
bool is_ascend_database(const std::vector<std::string>& tables);

void read_ascend_database(SourceTables& tables, RowSink& sink, TraceFacts& facts);

// The tables of kernels that Ascend's profilers write as CSV: kernel_details.csv of the framework profiler and
// op_summary_*.csv of msprof, in all their versions. They are recognised and read by the names of their columns, of
// which there are 8 to 50 in any order. Times are microseconds in decimal, exact to the nanosecond.
//
// A row becomes a kernel, named by the type of its operation (by the task's own name where no type is given, as at
// level 0); task name, core, block dimensions and shapes go to launch_config and task_info, and a row of a collective
// to `collective` too. A second row of a collective is a slice, with the type as its category. Where rows have a step
// number, each step becomes an annotation on every stream from its first row to its last.

// Whether a file that begins like this has the columns of such a table: a start, a duration, and a name or type.
bool begins_as_ascend_kernel_csv(std::string_view head);

// Reads to the end of `source`. Throws what the source throws.
void read_ascend_kernel_csv(ByteSource& source, RowSink& sink, TraceFacts& facts);

}  // namespace tracedb
