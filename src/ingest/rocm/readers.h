// Readers of what AMD's profilers write, and what tells their files.
#pragma once

#include <string>
#include <vector>

#include "base/stream/byte_source.h"
#include "ingest/read/trace_header.h"
#include "ingest/rows/row_sink.h"
#include "ingest/rows/source_rows.h"

namespace tracedb {

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

// Whether a database with these tables is one.
bool is_rocpd_database(const std::vector<std::string>& tables);

void read_rocpd_database(SourceTables& tables, RowSink& sink, TraceFacts& facts);

bool is_rpd_database(const std::vector<std::string>& tables);
void read_rpd_database(SourceTables& tables, RowSink& sink, TraceFacts& facts);

// The JSON files of rocprofv3 (--output-format json), "rocprofiler-sdk-tool": one object for each process, of which are
// read
//
//   metadata, agents, kernel_symbols, strings   what the records name by number
//   buffer_records   kernel_dispatch: kernels; memory_copy: copies; hip_api, hsa_api: calls; marker_api: roctx ranges
//                    (annotations) and marks (instants); records of other lists that have times: slices
//
// Times are integer nanoseconds. Counters of kernels (callback_records) and samples of program counters have no place
// in an index: they are counted as skipped, and those kept in meta, trace.tables_not_read. In front of the records
// stand the names; a kernel without one is an issue.

// false: there are no lists of records in it.
bool read_rocprof_json(ByteSource& source, RowSink& sink, TraceFacts& facts);

}  // namespace tracedb
