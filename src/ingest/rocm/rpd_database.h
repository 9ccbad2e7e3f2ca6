// The databases of rocmProfileData (.rpd), by their tables; times are integer nanoseconds.
//
//   rocpd_op        kernels, by the name in their description; copies and fills; barriers: slices
//   rocpd_api       HIP calls, tied to operations by rocpd_api_ops; user markers (roctx): annotations
//   rocpd_kernelapi, rocpd_copyapi   dimensions of launches, sizes of copies
//   rocpd_monitor   counters of the device
//
// Schema: rocmProfileData, rocpd_python/rocpd/schema_data/tableSchema.cmd.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "ingest/read/trace_header.h"
#include "ingest/rows/row_sink.h"

namespace tracedb {

// Whether a database with these tables is one.
bool is_rpd_database(const std::vector<std::string>& tables);

// Throws Error{kInput} where nothing of it can be read, Error{kInterrupted}.
void read_rpd_database(const std::filesystem::path& file, const std::atomic<bool>* cancel, RowSink& sink,
                       TraceFacts& facts);

}  // namespace tracedb
