// The kernels of a trace as a file of Parquet, for warehouses: a row for each kernel that a selection chooses, in order
// of name and time, which is what packs well and what readers look for.
//
// Columns: trace_id, rank, ts_ns (since the epoch as far as the trace tells it), dur_ns, name, short_name, op, device,
// stream, correlation, kind, step, phase, layer, stack, layer_part, role, grid_x ... block_z, registers,
// shared_memory. Integers and texts only; NULL: unknown.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

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

// The columns of a file of kernels: numbers, or places in a list of texts.
struct KernelColumn {
  const char* name;
  // Of rows of table kernel; kUnknownValue: NULL.
  std::function<void(std::span<const std::uint32_t> rows, std::int64_t* values)> fill;
  bool is_text = false;
  std::vector<std::string> texts = {};  // the values are places in them, each text once
};

// The workload must outlive the object.
class KernelColumns {
 public:
  explicit KernelColumns(Workload& workload);
  KernelColumns(const KernelColumns&) = delete;
  KernelColumns& operator=(const KernelColumns&) = delete;

  [[nodiscard]] const std::vector<KernelColumn>& columns() const { return columns_; }
  [[nodiscard]] std::size_t rows() const { return rows_.size(); }
  // Rows of table kernel, in order of name, then time.
  [[nodiscard]] std::span<const std::uint32_t> rows(std::size_t first, std::size_t count) const {
    return std::span(rows_).subspan(first, count);
  }
  [[nodiscard]] std::int64_t time() const;  // ns, of all known durations

 private:
  template <class Value>
  void add_numbers(const char* name, Value value);
  template <class Place>
  void add_texts(const char* name, Place place, std::vector<std::string> texts);
  void choose_rows(const std::vector<std::uint32_t>& rank_of_name);
  void add_times();
  void add_names();
  void add_places();
  void add_passes();
  void add_launch_configs();

  Workload& workload_;
  std::vector<KernelColumn> columns_;
  std::vector<std::uint32_t> rows_;
};

}  // namespace tracedb
