#include "passes/sql/event_rows.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/unknown.h"
#include "passes/sql/kernel_rows.h"
#include "sql/tables/column_table.h"
#include "trace/event_kinds.h"
#include "trace/training.h"

namespace tracedb {
namespace {

using Numbers = std::span<const std::int64_t>;

// Kernels whose launching call is known, and that call.
class LaunchRows {
 public:
  explicit LaunchRows(Workload& workload)
      : kernels_(workload), calls_(workload.index(), "runtime_call"), launches_(kernels_.all_ids("launch_id")) {
    rows_.reserve(launches_.size());
    for (std::size_t row = 0; row < launches_.size(); ++row) {
      if (launches_[row] > 0 && launches_[row] <= calls_.size()) rows_.push_back(static_cast<std::uint32_t>(row));
    }
  }

  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] const KernelRows& kernels() const { return kernels_; }
  [[nodiscard]] ArrayColumn of_kernel(ArrayColumn column) const {
    return size() == launches_.size() ? std::move(column) : column.of_rows(rows_);
  }

  [[nodiscard]] ArrayColumn number(std::string_view column) const {
    return ArrayColumn::of_numbers(of_calls(calls_.int64s(column)));
  }
  [[nodiscard]] ArrayColumn kind() const {
    return ArrayColumn::of_values(of_calls(calls_.ids("kind")), choice_values(kCallKindNames));
  }
  [[nodiscard]] ArrayColumn call() const { return texts_of(kernels_.index(), of_calls(calls_.ids("name_id"))); }
  [[nodiscard]] ArrayColumn of_thread(std::string_view sql) const {
    return ArrayColumn::of_values(of_calls(calls_.ids("thread_id")), values_by_id(kernels_.index(), sql));
  }
  [[nodiscard]] ArrayColumn end() const { return ArrayColumn::of_numbers(ends()); }
  [[nodiscard]] ArrayColumn end_to_end() const { return ArrayColumn::of_numbers(until_kernel(of_calls(starts()))); }
  [[nodiscard]] ArrayColumn launch_delay() const { return ArrayColumn::of_numbers(until_kernel(ends())); }
  [[nodiscard]] ArrayColumn queue_delay() const {
    const auto first = kernels_.all_ids("first_of_launch");
    auto delays = until_kernel(ends());
    for (std::size_t i = 0; i < delays.size(); ++i) {
      if (first[rows_[i]] != 1) {
        delays[i] = kUnknownValue;
      } else if (delays[i] != kUnknownValue) {
        delays[i] = std::max<std::int64_t>(delays[i], 0);
      }
    }
    return ArrayColumn::of_numbers(std::move(delays));
  }

 private:
  [[nodiscard]] Numbers starts() const { return calls_.int64s("ts"); }

  template <class T>
  [[nodiscard]] LargeVector<T> of_calls(std::span<const T> column) const {
    LargeVector<T> out(size());
    for (std::size_t i = 0; i < size(); ++i) out[i] = column[launches_[rows_[i]] - 1];
    return out;
  }
  [[nodiscard]] LargeVector<std::int64_t> ends() const {
    return of_calls(Numbers(sums(kernels_.index(), starts(), calls_.int64s("dur"))));
  }
  [[nodiscard]] LargeVector<std::int64_t> until_kernel(const LargeVector<std::int64_t>& from) const {
    const Numbers starts = kernels_.numbers("ts");
    LargeVector<std::int64_t> own(size());
    for (std::size_t i = 0; i < size(); ++i) own[i] = starts[rows_[i]];
    return differences(kernels_.index(), own, from);
  }

  KernelRows kernels_;
  EventColumns calls_;
  std::span<const std::uint32_t> launches_;
  LargeVector<std::uint32_t> rows_;  // of kernels
};

template <class Rows>
struct Column {
  TableColumn declared;
  ArrayColumn (*make)(const Rows&);
};

// Typed where the column of the view is that of a table: SQLite's comparisons depend on it.
constexpr TableColumn integer(std::string_view name) { return {name, ColumnType::kInteger}; }
constexpr TableColumn real(std::string_view name) { return {name, ColumnType::kReal}; }
constexpr TableColumn text(std::string_view name) { return {name, ColumnType::kText}; }
constexpr TableColumn number_expression(std::string_view name) { return {name, ColumnType::kInteger, "", "", true}; }
constexpr TableColumn text_expression(std::string_view name) { return {name, ColumnType::kText, "", "", true}; }

using K = const KernelRows&;
using L = const LaunchRows&;

// As schema/sql_views.sql and schema/views.sql have them.
constexpr Column<KernelRows> kKernelColumns[] = {
    {integer("id"), [](K k) { return k.id(); }},
    {text("name"), [](K k) { return k.looked_up("name_id", "SELECT id, name FROM kernel_name"); }},
    {text("short_name"), [](K k) { return k.looked_up("name_id", "SELECT id, short_name FROM kernel_name"); }},
    {integer("ts"), [](K k) { return k.number("ts"); }},
    {number_expression("ts_end"), [](K k) { return k.end(); }},
    {integer("dur"), [](K k) { return k.number("dur"); }},
    {number_expression("dur_us"), [](K k) { return k.dur_us(); }},
    {integer("device"),
     [](K k) {
       return k.looked_up("stream_id", "SELECT s.id, d.ordinal FROM stream s JOIN device d ON d.id = s.device_id");
     }},
    {integer("stream"), [](K k) { return k.looked_up("stream_id", "SELECT id, number FROM stream"); }},
    {integer("step"), [](K k) { return k.step(); }},
    {text("phase"), [](K k) { return k.phase(); }},
    {text("kind"), [](K k) { return k.choice("kind", kKernelKindNames); }},
    {text("pass"), [](K k) { return k.choice("pass", kPassNames); }},
    {text("cpu_op"), [](K k) { return k.name_of("cpu_op_id", "cpu_op"); }},
    {text_expression("module"), [](K k) { return k.module(); }},
    {text("annotation"), [](K k) { return k.name_of("annotation_id", "annotation"); }},
    {integer("correlation"), [](K k) { return k.profiler_number("correlation"); }},
    {text_expression("grid"),
     [](K k) {
       return k.looked_up("launch_config_id", "SELECT id, grid_x || ',' || grid_y || ',' || grid_z FROM launch_config");
     }},
    {text_expression("block"),
     [](K k) {
       return k.looked_up("launch_config_id",
                          "SELECT id, block_x || ',' || block_y || ',' || block_z FROM launch_config");
     }},
    {integer("registers"),
     [](K k) { return k.looked_up("launch_config_id", "SELECT id, registers FROM launch_config"); }},
    {integer("shared_memory"),
     [](K k) { return k.looked_up("launch_config_id", "SELECT id, shared_memory FROM launch_config"); }},
    {real("occupancy_pct"),
     [](K k) { return k.looked_up("launch_config_id", "SELECT id, occupancy_pct FROM launch_config"); }},
    {real("theoretical_occupancy_pct"),
     [](K k) { return k.looked_up("launch_config_id", "SELECT id, theoretical_occupancy_pct FROM launch_config"); }},
    {integer("external_id"), [](K k) { return k.profiler_number("external_id"); }},
    {integer("graph_id"), [](K k) { return k.profiler_number("graph_id"); }},
    {integer("graph_node_id"), [](K k) { return k.profiler_number("graph_node_id"); }},
    {integer("launch_id"), [](K k) { return k.ids("launch_id"); }},
    {integer("stack_id"), [](K k) { return k.ids("stack_id"); }},
    {text_expression("op"), [](K k) { return k.op(); }},
    {text_expression("stack"), [](K k) { return k.stack(); }},
    {number_expression("layer"), [](K k) { return k.layer(); }},
    {text_expression("layer_part"), [](K k) { return k.layer_part(); }},
    {text("input_dims"), [](K k) { return k.input_dims(); }},
    {text_expression("role"), [](K k) { return k.role(); }},
    {text_expression("role_source"), [](K k) { return k.role_source(); }},
    {number_expression("role_confidence_pct"), [](K k) { return k.role_confidence(); }},
};

constexpr Column<LaunchRows> kLaunchColumns[] = {
    {integer("kernel_id"), [](L l) { return l.of_kernel(l.kernels().id()); }},
    {integer("launch_id"), [](L l) { return l.of_kernel(l.kernels().ids("launch_id")); }},
    {text("kernel"),
     [](L l) { return l.of_kernel(l.kernels().looked_up("name_id", "SELECT id, name FROM kernel_name")); }},
    {text("call"), [](L l) { return l.call(); }},
    {text("kind"), [](L l) { return l.kind(); }},
    {integer("ts"), [](L l) { return l.number("ts"); }},
    {number_expression("ts_end"), [](L l) { return l.end(); }},
    {integer("dur"), [](L l) { return l.number("dur"); }},
    {integer("kernel_ts"), [](L l) { return l.of_kernel(l.kernels().number("ts")); }},
    {integer("kernel_dur"), [](L l) { return l.of_kernel(l.kernels().number("dur")); }},
    {number_expression("launch_delay"), [](L l) { return l.launch_delay(); }},
    {number_expression("queue_delay"), [](L l) { return l.queue_delay(); }},
    {number_expression("end_to_end"), [](L l) { return l.end_to_end(); }},
    {integer("pid"),
     [](L l) { return l.of_thread("SELECT t.id, p.pid FROM thread t JOIN process p ON p.id = t.process_id"); }},
    {integer("tid"), [](L l) { return l.of_thread("SELECT id, tid FROM thread"); }},
    {integer("correlation"), [](L l) { return l.of_kernel(l.kernels().profiler_number("correlation")); }},
    {text_expression("op"), [](L l) { return l.of_kernel(l.kernels().op()); }},
    {text_expression("stack"), [](L l) { return l.of_kernel(l.kernels().stack()); }},
    {number_expression("layer"), [](L l) { return l.of_kernel(l.kernels().layer()); }},
    {text_expression("role"), [](L l) { return l.of_kernel(l.kernels().role()); }},
};

// Rows are made with the first column that is needed.
template <class Rows>
void add_rows(Database& database, const std::string& name, const std::string& view,
              std::span<const Column<Rows>> columns, const WorkloadSource& workload) {
  std::vector<TableColumn> declared;
  for (const Column<Rows>& column : columns) declared.push_back(column.declared);
  const auto made = std::make_shared<std::optional<Rows>>();
  const auto rows = [made, workload]() -> const Rows& {
    if (!*made) made->emplace(workload());
    return **made;
  };
  ColumnSource source;
  source.guess = [workload] { return workload ? workload().events().kernels.size() : 0; };
  source.rows = [rows, workload] { return workload ? rows().size() : 0; };
  source.make = [rows, columns](std::size_t number) { return columns[number].make(rows()); };
  add_column_table(database, name, declared, std::move(source), view);
}

}  // namespace

void add_event_rows(Database& database, std::string_view prefix, const WorkloadSource& workload) {
  const std::string before(prefix);
  add_rows<KernelRows>(database, before + "kernel_rows", before + "kernels", kKernelColumns, workload);
  add_rows<LaunchRows>(database, before + "launch_rows", before + "launches", kLaunchColumns, workload);
}

}  // namespace tracedb
