// What the passes say of one kernel, for trace-query sql: as SQL functions, and as columns of temporary views that
// replace the index's own (schema/sql_views.sql):
//
//   op_class(name)          operation class of any kernel name under the active rules
//   kernel_stack(id)        stack of layers (layer_stacks.h) of a kernel; NULL: in none
//   kernel_layer(id)        index of the layer in its stack; NULL: in none
//   kernel_layer_part(id)   layer; head, tail: before the first and after the last layer of a step; NULL: unknown
//   kernel_step(id)         number of the kernel's step, from 0; NULL: in none; memory_step(id) of a memory operation
//   kernel_phase(id)        kind of that step; memory_phase(id) likewise
//   capture_op(id)          operator that launched the kernel in the capture; a graph replay has none of its own
//   capture_module(id)      innermost module there
//
// Nothing is computed before a statement needs it: rules are read with the first name, steps and layers are found with
// the first kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "passes/select/workload.h"

namespace tracedb {

// The workload must outlive it. One thread at a time.
class KernelSqlFunctions {
 public:
  explicit KernelSqlFunctions(Workload& workload) : workload_(workload) {}
  KernelSqlFunctions(const KernelSqlFunctions&) = delete;
  KernelSqlFunctions& operator=(const KernelSqlFunctions&) = delete;

  [[nodiscard]] Workload& workload() { return workload_; }
  [[nodiscard]] std::string_view op_class(std::string_view name);  // valid until the next call
  [[nodiscard]] std::int32_t layer(std::int64_t kernel_id);        // kNoLayer ... as in layers.h
  [[nodiscard]] const LayerStack* stack(std::int64_t kernel_id);   // null: in no layer
  // The operator and the innermost module that launched a kernel in the capture.
  [[nodiscard]] std::optional<std::string_view> capture_op(std::int64_t kernel_id);
  [[nodiscard]] std::optional<std::string_view> capture_module(std::int64_t kernel_id);

 private:
  // Texts of the capture by id; "": there is none.
  using Texts = std::unordered_map<std::uint32_t, std::string>;

  const Launcher* launcher(std::int64_t kernel_id);  // null: none
  std::optional<std::string_view> capture_text(std::uint32_t id, Texts& texts, std::string_view sql);

  Workload& workload_;
  std::optional<Classifier> classifier_;
  std::unordered_map<std::string, ClassId> classes_;  // by name
  std::string name_;                                  // the key at hand: its memory is used again
  Texts operators_, modules_;                         // by id of string; by id of stack
};

// `functions` may be null: they are there, but have no answers. They must outlive the database's last statement.
void register_kernel_functions(Database& database, KernelSqlFunctions* functions);

// The temporary views, over those of a database in which the functions and tables of passes are registered.
void make_kernel_views(Database& database);

}  // namespace tracedb
