// The tables kernel_rows and launch_rows of trace-query sql: what the views kernels and launches show of each kernel
// and of each launch of one, as arrays (sql/tables/column_table.h). A column is made when a statement first needs it
// (KernelRows below).
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "passes/select/workload.h"
#include "sql/tables/array_column.h"
#include "trace/kernel_name.h"

namespace tracedb {

// `prefix` goes before both names, where one connection has several indexes: the tables are those of the workload's
// index, whatever `database` is open on. What is asked for the workload must outlive the last statement of `database`;
// where there is none to ask, the tables have no rows.
void add_event_rows(Database& database, std::string_view prefix, const WorkloadSource& workload);

using ArrayValues = std::vector<ArrayValue>;

// What the view kernels shows of each kernel, column by column, as arrays (sql/tables/array_column.h): made from the
// packed columns of the index, the small tables they refer to, and the passes. Row i is the kernel with id i + 1.
//
// Memory: 4 bytes a kernel for a column, 8 for times, and the values that there are, each once.
//
// The workload must outlive it and the columns. One thread at a time. Errors: Error{kInput} for an index that is
// damaged.
class KernelRows {
 public:
  explicit KernelRows(Workload& workload) : workload_(workload), kernels_(workload.events().kernels) {}

  [[nodiscard]] std::size_t size() const { return kernels_.size(); }

  // By its name in the view, which it must have.
  [[nodiscard]] ArrayColumn column(std::string_view name) const;
  static bool is_text(std::string_view name);

  // What `sql`, rows of an id and a value, says of the ids in `column`.
  [[nodiscard]] ArrayColumn looked_up(std::string_view column, std::string_view sql) const;
  // Columns of table kernel.
  [[nodiscard]] std::span<const std::int64_t> numbers(std::string_view column) const { return kernels_.int64s(column); }
  [[nodiscard]] std::span<const std::uint32_t> ids(std::string_view column) const { return kernels_.ids(column); }

  [[nodiscard]] Workload& workload() const { return workload_; }
  [[nodiscard]] const Index& index() const { return workload_.index(); }

 private:
  Workload& workload_;
  const EventColumns& kernels_;
};

}  // namespace tracedb
