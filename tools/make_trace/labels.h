// The answer sheet kernel by kernel, in the order of the trace file: one TSV row each.
#pragma once

#include <string>

#include "make_trace/trace_writer.h"

namespace tracedb {

// Columns: step, layer (-1 head, -2 tail), role, class, stream, correlation, dur in ns, ts in ns as in the file. Throws
// Error{kResource}.
void write_labels(const TraceOptions& options, const StepRunner& run, const std::string& path);

}  // namespace tracedb
