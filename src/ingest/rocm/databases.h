// Databases of AMD's profilers.
//
// Those of rocprofv3 (--output-format rocpd), by their tables; times are integer nanoseconds. The names of
// the tables end in an id of the process that wrote them; a database may hold the tables of several processes.
//
//   rocpd_kernel_dispatch   kernels, by their display names
//   rocpd_memory_copy       copies
//   rocpd_region            HIP and HSA calls, roctx ranges (annotations), calls of other libraries (slices)
//   rocpd_sample            roctx marks (instants)
//   rocpd_memory_allocate   slices
//   rocpd_event             ties kernels and copies to calls, and has the messages of ranges
//
// The names of other tables with rows are kept (meta, trace.tables_not_read). Schema: rocprofiler-sdk,
// share/rocprofiler-sdk-rocpd/rocpd_tables.sql, version 3.
//
// Those of rocmProfileData (.rpd), by their tables; times are integer nanoseconds.
//
//   rocpd_op        kernels, by the name in their description; copies and fills; barriers: slices
//   rocpd_api       HIP calls, tied to operations by rocpd_api_ops; user markers (roctx): annotations
//   rocpd_kernelapi, rocpd_copyapi   dimensions of launches, sizes of copies
//   rocpd_monitor   counters of the device
//
// Schema: rocmProfileData, rocpd_python/rocpd/schema_data/tableSchema.cmd.
#pragma once

#include <string>
#include <vector>

#include "ingest/rows/source_rows.h"

namespace tracedb {

// Whether a database with these tables is one.
bool is_rocpd_database(const std::vector<std::string>& tables);

void read_rocpd_database(SourceTables& tables, RowSink& sink, TraceFacts& facts);

bool is_rpd_database(const std::vector<std::string>& tables);
void read_rpd_database(SourceTables& tables, RowSink& sink, TraceFacts& facts);

}  // namespace tracedb
