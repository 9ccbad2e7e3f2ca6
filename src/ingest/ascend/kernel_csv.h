// The tables of kernels that Ascend's profilers write as CSV: kernel_details.csv of the framework profiler and
// op_summary_*.csv of msprof, in all their versions. They are recognised and read by the names of their columns, of
// which there are 8 to 50 in any order. Times are microseconds in decimal, exact to the nanosecond.
//
// A row becomes a kernel, named by the type of its operation (by the task's own name where no type is given, as at
// level 0); task name, core, block dimensions and shapes go to launch_config and task_info, and a row of a collective
// to `collective` too. Where rows have a step number, each step becomes an annotation on every stream from its first
// row to its last.
#pragma once

#include <string_view>

#include "base/stream/byte_source.h"
#include "ingest/read/trace_header.h"
#include "ingest/rows/row_sink.h"

namespace tracedb {

// Whether a file that begins like this has the columns of such a table: a start, a duration, and a name or type.
bool begins_as_ascend_kernel_csv(std::string_view head);

// Reads to the end of `source`. Throws what the source throws.
void read_ascend_kernel_csv(ByteSource& source, RowSink& sink, TraceFacts& facts);

}  // namespace tracedb
