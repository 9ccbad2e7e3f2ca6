// The tables kernel_rows and launch_rows of trace-query sql: what the views kernels and launches show of each kernel
// and of each launch of one, as arrays (sql/tables/column_table.h). A column is made when a statement first needs it
// (KernelRows below).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "passes/select/workload.h"
#include "sql/tables/array_column.h"
#include "trace/hlo_kernel.h"

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
  explicit KernelRows(Workload& workload)
      : workload_(workload), index_(workload.index()), kernels_(workload.events().kernels) {}

  [[nodiscard]] std::size_t size() const { return kernels_.size(); }

  // By its name in the view, which it must have.
  [[nodiscard]] ArrayColumn column(std::string_view name) const;
  static bool is_text(std::string_view name);

  // Columns of table kernel.
  [[nodiscard]] ArrayColumn id() const;
  [[nodiscard]] ArrayColumn number(std::string_view column) const { return ArrayColumn::of_numbers(numbers(column)); }
  [[nodiscard]] ArrayColumn ids(std::string_view column) const { return ArrayColumn::of_ids(kernels_.ids(column)); }
  [[nodiscard]] ArrayColumn end() const;  // ts + dur
  [[nodiscard]] ArrayColumn dur_us() const { return ArrayColumn::of_thousandths(numbers("dur")); }
  [[nodiscard]] ArrayColumn choice(std::string_view column, std::span<const std::string_view> names) const;
  // A number of the profiler, which is a text where no 64 bits hold it.
  [[nodiscard]] ArrayColumn profiler_number(const std::string& column) const;

  // Columns of other tables. What `sql`, rows of an id and a value, says of the ids in `column`.
  [[nodiscard]] ArrayColumn looked_up(std::string_view column, std::string_view sql) const;
  [[nodiscard]] ArrayColumn launched_with(std::string_view expression) const;  // of columns of launch_config
  // The name of the row in `table` that has the id in `column`.
  [[nodiscard]] ArrayColumn name_of(std::string_view column, std::string_view table) const;
  [[nodiscard]] ArrayColumn input_dims() const;
  [[nodiscard]] ArrayColumn hlo(std::string_view HloKernel::*part) const;
  [[nodiscard]] ArrayColumn module() const;

  // What passes find.
  [[nodiscard]] ArrayColumn op() const;
  [[nodiscard]] ArrayColumn step() const;
  [[nodiscard]] ArrayColumn phase() const;
  [[nodiscard]] ArrayColumn stack() const;
  [[nodiscard]] ArrayColumn layer() const;
  [[nodiscard]] ArrayColumn layer_part() const;
  [[nodiscard]] ArrayColumn role() const;
  [[nodiscard]] ArrayColumn role_source() const;
  [[nodiscard]] ArrayColumn role_confidence() const;

  [[nodiscard]] const Index& index() const { return index_; }
  [[nodiscard]] std::span<const std::int64_t> numbers(std::string_view column) const { return kernels_.int64s(column); }
  [[nodiscard]] std::span<const std::uint32_t> all_ids(std::string_view column) const { return kernels_.ids(column); }

 private:
  Workload& workload_;
  const Index& index_;
  const EventColumns& kernels_;
};

// The values of `sql`, rows of an id and a value, by id.
ArrayValues values_by_id(const Index& index, std::string_view sql);

// Texts by their id in table string.
ArrayColumn texts_of(const Index& index, LargeVector<std::uint32_t> ids);

// The texts of a kChoice (sql/file/column_scan.h) by its number.
ArrayValues choice_values(std::span<const std::string_view> names);

// ts + dur where both are known; Error{kInput} where 64 bits do not hold it, which no index says.
LargeVector<std::int64_t> sums(const Index& index, std::span<const std::int64_t> a, std::span<const std::int64_t> b);
LargeVector<std::int64_t> differences(const Index& index, std::span<const std::int64_t> a,
                                      std::span<const std::int64_t> b);

}  // namespace tracedb
