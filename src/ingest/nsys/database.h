// The SQLite exports of Nsight Systems (nsys export --type sqlite), by their tables; times are integer nanoseconds.
//
//   CUPTI_ACTIVITY_KIND_KERNEL, _GRAPH_TRACE   kernels, by their demangled names; a graph traced as one is a kernel
//   CUPTI_ACTIVITY_KIND_MEMCPY, _MEMSET        memory operations, named as the PyTorch profiler names them
//   CUPTI_ACTIVITY_KIND_RUNTIME                runtime and driver calls, without the versions in their names
//   NVTX_EVENTS                                ranges: annotations, which steps are found by; those of PyTorch's
//                                              emit_nvtx ("aten::mul, seq = 7, op_id = 9"): operators; marks: instants
//   CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, OSRT_API   slices
//
// Table and column names: "SQLite Schema Reference" of the Nsight Systems user guide. The names of other tables with
// rows are kept (meta, trace.tables_not_read).
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "ingest/read/trace_facts.h"
#include "ingest/rows/row_sink.h"

namespace tracedb {

// Whether a database with these tables is one.
bool is_nsys_database(const std::vector<std::string>& tables);

// Throws Error{kInput} where nothing of it can be read, Error{kInterrupted}.
void read_nsys_database(const std::filesystem::path& file, const std::atomic<bool>* cancel, RowSink& sink,
                        TraceFacts& facts);

}  // namespace tracedb
