// What the passes find out about one kernel, for trace-query sql: as SQL functions (op_class(name), kernel_layer(id)
// and others; kernel_sql_functions.cc declares them), and as columns of temporary views that replace the index's own
// (schema/sql_views.sql).
//
// Nothing is computed before a statement needs it: rules are read with the first name, steps and layers are found with
// the first kernel.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "passes/select/workload.h"
#include "passes/sql/event_rows.h"
#include "sql/sql_function.h"

namespace tracedb {

// The workload must outlive it. One thread at a time.
class KernelSqlFunctions {
 public:
  explicit KernelSqlFunctions(Workload& workload) : workload_([&workload]() -> Workload& { return workload; }) {}
  // Asks for the workload when a statement first needs it. Where `rules` are given there is none to ask for, but
  // op_class() answers by these.
  explicit KernelSqlFunctions(WorkloadSource workload, const ActiveRules* rules = nullptr)
      : workload_(std::move(workload)), rules_(rules) {}
  KernelSqlFunctions& operator=(KernelSqlFunctions&&) = delete;

  [[nodiscard]] Workload& workload() { return workload_(); }
  [[nodiscard]] std::string_view op_class(std::string_view name);  // valid until the next call
  // What a column of opinions in kernel_rows (event_rows.h: stack, layer, role, step ...) says of a kernel; NULL:
  // nothing, or there is no such kernel. Valid as long as the object.
  [[nodiscard]] const ArrayValue& of_kernel(std::string_view column, std::int64_t kernel_id);
  [[nodiscard]] bool is_selected(std::int64_t kernel_id);  // Error{kUsage} where no kernel is
  // The operator and the innermost module that launched a kernel in the capture.
  [[nodiscard]] std::optional<std::string_view> capture_op(std::int64_t kernel_id);
  [[nodiscard]] std::optional<std::string_view> capture_module(std::int64_t kernel_id);

 private:
  // Texts of the capture by id; "": there is none.
  using Texts = std::unordered_map<std::uint32_t, std::string>;

  const Launcher* launcher(std::int64_t kernel_id);  // null: none
  std::optional<std::string_view> capture_text(std::uint32_t id, Texts& texts, std::string_view sql);

  WorkloadSource workload_;
  const ActiveRules* rules_ = nullptr;
  std::optional<Classifier> classifier_;
  std::unordered_map<std::string, ClassId> classes_;  // by name
  std::string name_;                                  // the key at hand: its memory is used again
  std::optional<KernelRows> kernels_;
  std::map<std::string_view, ArrayColumn> columns_;  // those that were asked for
  std::optional<EventFilter> filter_;
  Texts operators_, modules_;  // by id of string; by id of stack
};

// `functions` may be null: they are there, but have no answers. They must outlive the database's last statement.
void register_kernel_functions(Database& database, KernelSqlFunctions* functions);

std::vector<SqlFunctionHelp> kernel_functions_help();

// The temporary views, over those of a database in which the functions and tables of passes are registered. All of them
// or, where it throws, none. Of the connection nothing else changes.
void add_kernel_views(Database& database);
// The same for a connection of our own, whose temporary data then stays in memory.
void make_kernel_views(Database& database);

}  // namespace tracedb
