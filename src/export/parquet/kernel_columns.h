// The columns of a file of kernels: numbers, or places in a list of texts.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "passes/select/workload.h"

namespace tracedb {

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
