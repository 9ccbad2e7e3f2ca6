// The kernels of a trace as a file of Parquet, for warehouses: a row for each kernel that a selection chooses, in order
// of name and time, which is what packs well and what readers look for.
//
// Columns: trace_id, rank, ts_ns (since the epoch as far as the trace tells it), dur_ns, name, short_name, op, device,
// stream, correlation, kind, step, phase, layer, stack, layer_part, role, grid_x ... block_z, registers,
// shared_memory. Integers and texts only; NULL: unknown.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "passes/select/workload.h"

namespace tracedb {

struct KernelFile {
  std::int64_t rows = 0;
  std::filesystem::path path;
};

// "2026-11-01": the day on which a trace began, in UTC; "unknown" where its times tell no date.
std::string night_of(const Index& index);
// At most 64 of A-Z a-z 0-9 . _ -, others replaced by "_", and no name with a meaning of its own: "", ".", "..".
std::string path_word(const std::string& text);

// Writes FOLDER/night=NIGHT/job=JOB/TRACE_ID.parquet, or FOLDER itself where its name ends in .parquet. The file
// appears under its name when it is complete and was read back with as many rows and as much time as there are in the
// trace. Error{kResource} where DuckDB is missing or fails.
KernelFile write_kernel_file(Workload& workload, const std::filesystem::path& target, const std::string& night,
                             const std::string& job);

}  // namespace tracedb
