// The SQLite exports of Nsight Systems (nsys export --type sqlite), by their tables; times are integer nanoseconds.
//
//   CUPTI_ACTIVITY_KIND_KERNEL, _GRAPH_TRACE   kernels, by their demangled names; a graph traced as one is a kernel
//   CUPTI_ACTIVITY_KIND_MEMCPY, _MEMSET        memory operations, named as the PyTorch profiler names them
//   CUPTI_ACTIVITY_KIND_RUNTIME                runtime and driver calls, without the versions in their names
//   NVTX_EVENTS                                ranges: annotations, which steps are found by; those of PyTorch's
//                                              emit_nvtx ("aten::mul, seq = 7, op_id = 9"): operators; marks: instants
//   CUPTI_ACTIVITY_KIND_SYNCHRONIZATION        slices, and what calls and streams wait for (table sync)
//   OSRT_API                                   slices
//
// Table and column names: "SQLite Schema Reference" of the Nsight Systems user guide. The names of other tables with
// rows are kept (meta, trace.tables_not_read).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/rows/source_rows.h"

namespace tracedb {

// Whether a database with these tables is one.
bool is_nsys_database(const std::vector<std::string>& tables);

void read_nsys_database(SourceTables& tables, RowSink& sink, TraceFacts& facts);

// Parses the name of a range of PyTorch's emit_nvtx: "aten::mul, seq = 7, op_id = 9, sizes = [[2, 3], []]" is operator
// aten::mul.
struct NvtxOperator {
  std::string_view name;  // "aten::mul"
  std::optional<std::int64_t> sequence_number;
  std::string_view sizes;  // JSON list; empty: not recorded
};

// nullopt: a range of somebody else.
std::optional<NvtxOperator> parse_nvtx_operator(std::string_view text);

// "cudaLaunchKernel_v7000" -> "cudaLaunchKernel"
std::string_view without_api_version(std::string_view name);

}  // namespace tracedb
