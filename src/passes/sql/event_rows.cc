#include "passes/sql/event_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "base/files/input_file.h"
#include "base/unknown.h"
#include "sql/tables/column_table.h"
#include "trace/event_names.h"
#include "trace/step_grammar.h"

namespace tracedb {
namespace {

using K = const KernelRows&;
using Ids = std::span<const std::uint32_t>;
using Numbers = std::span<const std::int64_t>;

[[noreturn]] void fail_damaged(const Index& index, std::string_view what) {
  throw Error(ErrorCode::kInput, fmt::format("{}: {}: the index is damaged: build it again (trace-ingest --force)",
                                             printable_path(index.database().path()), what));
}

ArrayValue value_of(const Index& index, const Statement& statement, int column) {
  switch (statement.type(column)) {
    case ValueType::kInteger:
      return statement.int64(column);
    case ValueType::kReal:
      return statement.real(column);
    case ValueType::kText:
      return std::string(statement.text(column));
    case ValueType::kNull:
      return std::monostate();
    case ValueType::kBlob:
      break;
  }
  fail_damaged(index, "a blob among texts and numbers");
}

// The values of `sql`, rows of an id and a value, by id.
ArrayValues values_by_id(const Index& index, std::string_view sql) {
  return by_id<ArrayValue>(index, sql, [&](const Statement& row) { return value_of(index, row, 1); });
}

// Texts by their id in table string.
ArrayColumn strings_of(const Index& index, LargeVector<std::uint32_t> ids) {
  // Values are those that are used, in the order of their ids.
  std::vector<std::uint32_t> place_of;
  for (const std::uint32_t id : ids) for_id(place_of, id) = 1;
  ArrayValues values(1);
  TextById texts(index);
  for (std::size_t id = 1; id < place_of.size(); ++id) {
    if (place_of[id] == 0) continue;
    place_of[id] = static_cast<std::uint32_t>(values.size());
    const Statement* const text = texts.row(static_cast<std::int64_t>(id));
    values.push_back(text == nullptr ? ArrayValue() : value_of(index, *text, 0));
  }
  for (std::uint32_t& id : ids) id = id == 0 ? 0 : place_of[id];
  return ArrayColumn::of_values(std::move(ids), std::move(values));
}

// The texts of a kChoice (sql/file/column_scan.h) by its number.
ArrayValues choice_values(std::span<const std::string_view> names) {
  ArrayValues values(1);
  for (const std::string_view name : names) values.emplace_back(std::string(name));
  return values;
}

// For ids of a table: what that table has in `column`; 0: nothing.
LargeVector<std::uint32_t> through(Ids ids, Ids column) {
  LargeVector<std::uint32_t> out(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) out[i] = ids[i] > 0 && ids[i] <= column.size() ? column[ids[i] - 1] : 0;
  return out;
}

template <class Sum>
LargeVector<std::int64_t> combined(const Index& index, Numbers a, Numbers b, Sum sum) {
  LargeVector<std::int64_t> out(a.size());
  bool overflow = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool known = a[i] != kUnknownValue && b[i] != kUnknownValue;
    overflow |= sum(a[i], b[i], &out[i]) && known;
    if (!known) out[i] = kUnknownValue;
  }
  if (overflow) fail_damaged(index, "a time beyond 64 bits");
  return out;
}

// Of the first `size` rows, `value_of_place(places[row])`, where places are numbered from 0 to `end`.
template <class Place, class Value>
ArrayColumn by_place(std::size_t size, std::uint32_t end, Place place, Value value) {
  LargeVector<std::uint32_t> places(size);
  for (std::size_t i = 0; i < size; ++i) places[i] = place(i);
  ArrayValues values;
  for (std::uint32_t p = 0; p < end; ++p) values.push_back(value(p));
  return ArrayColumn::of_values(std::move(places), std::move(values));
}

// `value` of the number of a layer, as LayerSet numbers them, and the stacks.
template <class Value>
ArrayColumn of_layer(std::size_t size, const LayerSet& layers, Value value) {
  const auto& found = layers.of_kernel;
  const auto [least, most] = std::ranges::minmax_element(found);
  const std::int32_t first = found.empty() ? kNoLayer : std::min(*least, kNoLayer);
  const std::int32_t last = found.empty() ? kNoLayer : std::max(*most, kNoLayer);
  return by_place(
      size, static_cast<std::uint32_t>(last - first) + 1,
      [&](std::size_t i) { return static_cast<std::uint32_t>((i < found.size() ? found[i] : kNoLayer) - first); },
      [&](std::uint32_t place) -> ArrayValue { return value(static_cast<std::int32_t>(place) + first); });
}

// `value` of what `part`, a number below `end`, says of a kernel's role, where it has one.
template <class Part, class Value>
ArrayColumn of_role(K k, std::uint32_t end, Part part, Value value) {
  const KernelRoles& roles = k.workload().roles();
  return by_place(
      k.size(), end + 1,
      [&](std::size_t i) {
        const KernelRole role = roles.of(i);
        return role.role == Role::kNone ? end : static_cast<std::uint32_t>(part(role));
      },
      [&](std::uint32_t place) { return place == end ? ArrayValue() : value(place); });
}

// `value` of the number of a step.
template <class Value>
ArrayColumn of_step(std::size_t size, const StepSet& steps, Value value) {
  const auto& found = steps.of_kernel;
  return by_place(
      size, static_cast<std::uint32_t>(steps.steps.size()) + 1,
      [&](std::size_t i) { return i < found.size() ? found[i] : 0; },
      [&](std::uint32_t place) -> ArrayValue { return place == 0 ? ArrayValue() : value(place - 1); });
}

// ts + dur where both are known; Error{kInput} where 64 bits do not hold it, which no index says.
LargeVector<std::int64_t> ends_of(const Index& index, Numbers ts, Numbers dur) {
  return combined(index, ts, dur,
                  [](std::int64_t x, std::int64_t y, std::int64_t* out) { return __builtin_add_overflow(x, y, out); });
}

ArrayColumn id_column(K k) {
  LargeVector<std::uint32_t> ids(k.size());
  std::iota(ids.begin(), ids.end(), 1U);
  return ArrayColumn::of_ids(std::move(ids));
}

ArrayColumn end_column(K k) { return ArrayColumn::of_numbers(ends_of(k.index(), k.numbers("ts"), k.numbers("dur"))); }

ArrayColumn choice_column(K k, std::string_view column, std::span<const std::string_view> names) {
  return ArrayColumn::of_values(k.ids(column), choice_values(names));
}

// A number of the profiler, which is a text where no 64 bits hold it.
ArrayColumn profiler_number(K k, const std::string& column) {
  const auto all = k.numbers(column);
  const bool texts = std::ranges::find(all, kUnknownValue) != all.end() &&
                     k.index().database().query_int64(
                         "SELECT 1 FROM kernel WHERE \"" + column + "\" IS NOT NULL AND (\"" + column +
                         "\" = -9223372036854775807 - 1 OR typeof(\"" + column + "\") <> 'integer') LIMIT 1");
  if (!texts) return ArrayColumn::of_numbers(all);
  LargeVector<std::uint32_t> places(k.size());
  std::map<ArrayValue, std::uint32_t> known;
  ArrayValues values;
  Statement rows(k.index().database(), "SELECT id, \"" + column + "\" FROM kernel");
  while (rows.step()) {
    const std::uint32_t id = rows.id(0);
    const auto [entry, is_new] = known.emplace(value_of(k.index(), rows, 1), static_cast<std::uint32_t>(values.size()));
    if (is_new) values.push_back(entry->first);
    if (id > 0 && id <= k.size()) places[id - 1] = entry->second;
  }
  return ArrayColumn::of_values(std::move(places), std::move(values));
}

// Of columns of launch_config.
ArrayColumn launched_with(K k, std::string_view expression) {
  return k.looked_up("launch_config_id", fmt::format("SELECT id, {} FROM launch_config", expression));
}

// The name of the row in `table` that has the id in `column`.
ArrayColumn name_column(K k, std::string_view column, std::string_view table) {
  const EventColumns other(k.index(), table);
  return strings_of(k.index(), through(k.ids(column), other.ids("name_id")));
}

ArrayColumn input_dims(K k) {
  const EventColumns operators(k.index(), "cpu_op");
  return ArrayColumn::of_values(through(k.ids("cpu_op_id"), operators.ids("shape_id")),
                                values_by_id(k.index(), "SELECT id, dims FROM op_shape"));
}

ArrayColumn hlo_column(K k, std::string_view HloKernel::*part) {
  const auto value = [&](const Statement& row) {
    const auto own = parse_hlo_kernel(row.text(1));
    return own && !((*own).*part).empty() ? ArrayValue(std::string((*own).*part)) : ArrayValue();
  };
  return ArrayColumn::of_values(k.ids("name_id"), by_id<ArrayValue>(k.index(), kKernelTexts, value));
}

// The innermost nn.Module of each stack. A parent comes before its children.
ArrayColumn module_column(K k) {
  const EventColumns stacks(k.index(), "stack", {"parent_id", "frame_id"});
  const ArrayValues names = values_by_id(k.index(),
                                         "SELECT f.id, substr(t.value, 12) FROM frame f JOIN string t ON t.id = "
                                         "f.name_id WHERE t.value GLOB 'nn.Module: *'");
  const Ids parents = stacks.ids("parent_id"), frames = stacks.ids("frame_id");
  std::vector<std::uint32_t> frame_of(parents.size());  // of the module; 0: none
  for (std::size_t i = 0; i < parents.size(); ++i) {
    const bool own = frames[i] < names.size() && names[frames[i]].index() != 0;
    if (parents[i] > i) fail_damaged(k.index(), "a stack before its parent");
    frame_of[i] = own ? frames[i] : parents[i] > 0 ? frame_of[parents[i] - 1] : 0;
  }
  return ArrayColumn::of_values(through(k.ids("stack_id"), frame_of), names);
}

ArrayColumn op_column(K k) {
  const KernelClasses& classes = k.workload().classes();
  ArrayValues values(classes.end());
  for (std::uint32_t name = 1; name < classes.end(); ++name) {
    if (classes.of(name).known) values[name] = std::string(classes.class_of(name));
  }
  return ArrayColumn::of_values(k.ids("name_id"), std::move(values));
}

ArrayColumn step_column(K k) {
  return of_step(k.size(), k.workload().steps(), [](std::uint32_t step) { return std::int64_t{step}; });
}

ArrayColumn phase_column(K k) {
  const StepSet& steps = k.workload().steps();
  return of_step(k.size(), steps,
                 [&](std::uint32_t step) { return std::string(to_string(steps.steps[step].info.kind)); });
}

ArrayColumn stack_column(K k) {
  const LayerSet& layers = k.workload().layers();
  return of_layer(k.size(), layers, [&](std::int32_t layer) {
    const LayerStack* stack = stack_of(layer, layers.stacks);
    return stack == nullptr ? ArrayValue() : ArrayValue(stack->name);
  });
}

ArrayColumn layer_column(K k) {
  const LayerSet& layers = k.workload().layers();
  return of_layer(k.size(), layers, [&](std::int32_t layer) {
    const LayerStack* stack = stack_of(layer, layers.stacks);
    return stack == nullptr ? ArrayValue() : ArrayValue(std::int64_t{layer - stack->first});
  });
}

ArrayColumn layer_part_column(K k) {
  return of_layer(k.size(), k.workload().layers(), [](std::int32_t layer) {
    if (layer == kNoLayer) return ArrayValue();
    return ArrayValue(std::string(layer == kHead ? "head" : layer == kTail ? "tail" : "layer"));
  });
}

ArrayColumn role_column(K k) {
  return of_role(
      k, static_cast<std::uint32_t>(kAllRoles.size()), [](KernelRole role) { return role.role; },
      [](std::uint32_t role) -> ArrayValue { return std::string(to_string(static_cast<Role>(role))); });
}

ArrayColumn role_source_column(K k) {
  return of_role(
      k, static_cast<std::uint32_t>(RoleSource::kOrder) + 1, [](KernelRole role) { return role.source; },
      [](std::uint32_t source) -> ArrayValue { return std::string(to_string(static_cast<RoleSource>(source))); });
}

ArrayColumn role_confidence_column(K k) {
  constexpr std::uint32_t kPercents = 256;
  return of_role(
      k, kPercents, [](KernelRole role) { return role.confidence; },
      [](std::uint32_t confidence) { return ArrayValue(std::int64_t{confidence}); });
}

// Kernels whose launching call is known, and that call.
class LaunchRows {
 public:
  explicit LaunchRows(Workload& workload)
      : kernels_(workload), calls_(workload.index(), "runtime_call"), launches_(kernels_.ids("launch_id")) {
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
  [[nodiscard]] ArrayColumn call() const { return strings_of(kernels_.index(), of_calls(calls_.ids("name_id"))); }
  [[nodiscard]] ArrayColumn of_thread(std::string_view sql) const {
    return ArrayColumn::of_values(of_calls(calls_.ids("thread_id")), values_by_id(kernels_.index(), sql));
  }
  [[nodiscard]] ArrayColumn end() const { return ArrayColumn::of_numbers(ends()); }
  [[nodiscard]] ArrayColumn end_to_end() const { return ArrayColumn::of_numbers(until_kernel(of_calls(starts()))); }
  [[nodiscard]] ArrayColumn launch_delay() const { return ArrayColumn::of_numbers(until_kernel(ends())); }
  [[nodiscard]] ArrayColumn queue_delay() const {
    const auto first = kernels_.ids("first_of_launch");
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
    return of_calls(Numbers(ends_of(kernels_.index(), starts(), calls_.int64s("dur"))));
  }
  [[nodiscard]] LargeVector<std::int64_t> until_kernel(const LargeVector<std::int64_t>& from) const {
    const Numbers starts = kernels_.numbers("ts");
    LargeVector<std::int64_t> own(size());
    for (std::size_t i = 0; i < size(); ++i) own[i] = starts[rows_[i]];
    return combined(kernels_.index(), own, from, [](std::int64_t x, std::int64_t y, std::int64_t* out) {
      return __builtin_sub_overflow(x, y, out);
    });
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
  bool by_pass = false;  // the view of the index does not have it, or has it otherwise
};

// Typed where the column of the view is that of a table: SQLite's comparisons depend on it.
constexpr TableColumn integer(std::string_view name) { return {name, ColumnType::kInteger}; }
constexpr TableColumn real(std::string_view name) { return {name, ColumnType::kReal}; }
constexpr TableColumn text(std::string_view name) { return {name, ColumnType::kText}; }
constexpr TableColumn number_expression(std::string_view name) { return {name, ColumnType::kInteger, "", "", true}; }
constexpr TableColumn text_expression(std::string_view name) { return {name, ColumnType::kText, "", "", true}; }

using L = const LaunchRows&;

// As schema/sql_views.sql and schema/views.sql have them.
constexpr Column<KernelRows> kKernelColumns[] = {
    {integer("id"), id_column},
    {text("name"), [](K k) { return k.looked_up("name_id", "SELECT id, name FROM kernel_name"); }},
    {text("short_name"), [](K k) { return k.looked_up("name_id", "SELECT id, short_name FROM kernel_name"); }},
    {integer("ts"), [](K k) { return ArrayColumn::of_numbers(k.numbers("ts")); }},
    {number_expression("ts_end"), end_column},
    {integer("dur"), [](K k) { return ArrayColumn::of_numbers(k.numbers("dur")); }},
    {number_expression("dur_us"), [](K k) { return ArrayColumn::of_thousandths(k.numbers("dur")); }},
    {integer("device"),
     [](K k) {
       return k.looked_up("stream_id", "SELECT s.id, d.ordinal FROM stream s JOIN device d ON d.id = s.device_id");
     }},
    {integer("stream"), [](K k) { return k.looked_up("stream_id", "SELECT id, number FROM stream"); }},
    {integer("step"), step_column, true},
    {text("phase"), phase_column, true},
    {text("kind"), [](K k) { return choice_column(k, "kind", kKernelKindNames); }},
    {text("pass"), [](K k) { return choice_column(k, "pass", kPassNames); }},
    {text("cpu_op"), [](K k) { return name_column(k, "cpu_op_id", "cpu_op"); }},
    {text_expression("module"), module_column},
    {text("annotation"), [](K k) { return name_column(k, "annotation_id", "annotation"); }},
    {integer("correlation"), [](K k) { return profiler_number(k, "correlation"); }},
    {text_expression("grid"), [](K k) { return launched_with(k, "grid_x || ',' || grid_y || ',' || grid_z"); }},
    {text_expression("block"), [](K k) { return launched_with(k, "block_x || ',' || block_y || ',' || block_z"); }},
    {integer("registers"), [](K k) { return launched_with(k, "registers"); }},
    {integer("shared_memory"), [](K k) { return launched_with(k, "shared_memory"); }},
    {real("occupancy_pct"), [](K k) { return launched_with(k, "occupancy_pct"); }},
    {real("theoretical_occupancy_pct"), [](K k) { return launched_with(k, "theoretical_occupancy_pct"); }},
    {integer("external_id"), [](K k) { return profiler_number(k, "external_id"); }},
    {integer("graph_id"), [](K k) { return profiler_number(k, "graph_id"); }},
    {integer("graph_node_id"), [](K k) { return profiler_number(k, "graph_node_id"); }},
    {integer("launch_id"), [](K k) { return ArrayColumn::of_ids(k.ids("launch_id")); }},
    {integer("stack_id"), [](K k) { return ArrayColumn::of_ids(k.ids("stack_id")); }},
    {text_expression("op"), op_column, true},
    {text_expression("stack"), stack_column, true},
    {number_expression("layer"), layer_column, true},
    {text_expression("layer_part"), layer_part_column, true},
    {text("input_dims"), input_dims, true},
    {text_expression("hlo_module"), [](K k) { return hlo_column(k, &HloKernel::module); }, true},
    {text_expression("hlo_op"), [](K k) { return hlo_column(k, &HloKernel::op); }, true},
    {text_expression("hlo_opcode"), [](K k) { return hlo_column(k, &HloKernel::opcode); }, true},
    {text_expression("hlo_shape"), [](K k) { return hlo_column(k, &HloKernel::shape); }, true},
    {text_expression("role"), role_column, true},
    {text_expression("role_source"), role_source_column, true},
    {number_expression("role_confidence_pct"), role_confidence_column, true},
};

constexpr Column<LaunchRows> kLaunchColumns[] = {
    {integer("kernel_id"), [](L l) { return l.of_kernel(id_column(l.kernels())); }},
    {integer("launch_id"), [](L l) { return l.of_kernel(ArrayColumn::of_ids(l.kernels().ids("launch_id"))); }},
    {text("kernel"),
     [](L l) { return l.of_kernel(l.kernels().looked_up("name_id", "SELECT id, name FROM kernel_name")); }},
    {text("call"), [](L l) { return l.call(); }},
    {text("kind"), [](L l) { return l.kind(); }},
    {integer("ts"), [](L l) { return l.number("ts"); }},
    {number_expression("ts_end"), [](L l) { return l.end(); }},
    {integer("dur"), [](L l) { return l.number("dur"); }},
    {integer("kernel_ts"), [](L l) { return l.of_kernel(ArrayColumn::of_numbers(l.kernels().numbers("ts"))); }},
    {integer("kernel_dur"), [](L l) { return l.of_kernel(ArrayColumn::of_numbers(l.kernels().numbers("dur"))); }},
    {number_expression("launch_delay"), [](L l) { return l.launch_delay(); }},
    {number_expression("queue_delay"), [](L l) { return l.queue_delay(); }},
    {number_expression("end_to_end"), [](L l) { return l.end_to_end(); }},
    {integer("pid"),
     [](L l) { return l.of_thread("SELECT t.id, p.pid FROM thread t JOIN process p ON p.id = t.process_id"); }},
    {integer("tid"), [](L l) { return l.of_thread("SELECT id, tid FROM thread"); }},
    {integer("correlation"), [](L l) { return l.of_kernel(profiler_number(l.kernels(), "correlation")); }},
    {text_expression("op"), [](L l) { return l.of_kernel(op_column(l.kernels())); }},
    {text_expression("stack"), [](L l) { return l.of_kernel(stack_column(l.kernels())); }},
    {number_expression("layer"), [](L l) { return l.of_kernel(layer_column(l.kernels())); }},
    {text_expression("role"), [](L l) { return l.of_kernel(role_column(l.kernels())); }},
};

const Column<KernelRows>& column_of_view(std::string_view name) {
  return *std::ranges::find_if(kKernelColumns, [name](const auto& column) { return column.declared.name == name; });
}

// Single kernels, as the view of the index has them.
class KernelReader {
 public:
  explicit KernelReader(const Index& index) : index_(index), select_(index.database(), select_text()) {}

  std::optional<ArrayValue> value(std::size_t column, std::size_t row) {
    if (kKernelColumns[column].by_pass) return std::nullopt;
    if (row_ != row) {
      row_.reset();
      select_.reset();
      select_.bind(1, static_cast<std::int64_t>(row) + 1);
      if (!select_.step()) fail_damaged(index_, fmt::format("there is no kernel {}", row + 1));
      row_ = row;
    }
    return value_of(index_, select_, static_cast<int>(column));
  }

 private:
  static std::string select_text() {
    std::string names;
    for (const Column<KernelRows>& column : kKernelColumns) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ", column.by_pass ? "NULL" : column.declared.name);
    }
    return fmt::format("SELECT {} FROM main.kernels WHERE id = ?", names);
  }

  const Index& index_;
  Statement select_;
  std::optional<std::size_t> row_;  // that select_ is at
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
  if constexpr (std::is_same_v<Rows, KernelRows>) {
    source.reader = [rows]() -> ValueReader {
      const auto reader = std::make_shared<KernelReader>(rows().index());
      return [reader](std::size_t column, std::size_t row) { return reader->value(column, row); };
    };
  }
  add_column_table(database, name, declared, std::move(source), view);
}

}  // namespace

void add_event_rows(Database& database, std::string_view prefix, const WorkloadSource& workload) {
  const std::string before(prefix);
  add_rows<KernelRows>(database, before + "kernel_rows", before + "kernels", kKernelColumns, workload);
  add_rows<LaunchRows>(database, before + "launch_rows", before + "launches", kLaunchColumns, workload);
}

ArrayColumn KernelRows::column(std::string_view name) const { return column_of_view(name).make(*this); }

bool KernelRows::is_text(std::string_view name) { return column_of_view(name).declared.type == ColumnType::kText; }

ArrayColumn KernelRows::looked_up(std::string_view column, std::string_view sql) const {
  return ArrayColumn::of_values(ids(column), values_by_id(index(), sql));
}

}  // namespace tracedb
