// The answer sheet kernel by kernel, in the order of the trace file: one TSV row each.
#pragma once

#include <string>

#include "make_trace/model/model.h"
#include "make_trace/write/trace_writer.h"

namespace tracedb {

// Columns: step, layer (within its stack; -1 head, -2 tail, -3 between stacks or passes), role, class of the name,
// stream, correlation, dur in ns, ts in ns as in the file, stack, iteration (which pass over the stacks), pass
// (forward, backward, optimizer; empty where nothing is trained), operator that launches it. Throws Error{kResource}.
void write_labels(const TraceOptions& options, const Model& model, const StepRunner& run, const std::string& path);

}  // namespace tracedb
