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
  bool by_pass = false;  // the view of the index does not have it, or has it otherwise
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
    {integer("step"), [](K k) { return k.step(); }, true},
    {text("phase"), [](K k) { return k.phase(); }, true},
    {text("kind"), [](K k) { return k.choice("kind", kKernelKindNames); }},
    {text("pass"), [](K k) { return k.choice("pass", kPassNames); }},
    {text("cpu_op"), [](K k) { return k.name_of("cpu_op_id", "cpu_op"); }},
    {text_expression("module"), [](K k) { return k.module(); }},
    {text("annotation"), [](K k) { return k.name_of("annotation_id", "annotation"); }},
    {integer("correlation"), [](K k) { return k.profiler_number("correlation"); }},
    {text_expression("grid"), [](K k) { return k.launched_with("grid_x || ',' || grid_y || ',' || grid_z"); }},
    {text_expression("block"), [](K k) { return k.launched_with("block_x || ',' || block_y || ',' || block_z"); }},
    {integer("registers"), [](K k) { return k.launched_with("registers"); }},
    {integer("shared_memory"), [](K k) { return k.launched_with("shared_memory"); }},
    {real("occupancy_pct"), [](K k) { return k.launched_with("occupancy_pct"); }},
    {real("theoretical_occupancy_pct"), [](K k) { return k.launched_with("theoretical_occupancy_pct"); }},
    {integer("external_id"), [](K k) { return k.profiler_number("external_id"); }},
    {integer("graph_id"), [](K k) { return k.profiler_number("graph_id"); }},
    {integer("graph_node_id"), [](K k) { return k.profiler_number("graph_node_id"); }},
    {integer("launch_id"), [](K k) { return k.ids("launch_id"); }},
    {integer("stack_id"), [](K k) { return k.ids("stack_id"); }},
    {text_expression("op"), [](K k) { return k.op(); }, true},
    {text_expression("stack"), [](K k) { return k.stack(); }, true},
    {number_expression("layer"), [](K k) { return k.layer(); }, true},
    {text_expression("layer_part"), [](K k) { return k.layer_part(); }, true},
    {text("input_dims"), [](K k) { return k.input_dims(); }, true},
    {text_expression("hlo_module"), [](K k) { return k.hlo(&HloKernel::module); }, true},
    {text_expression("hlo_op"), [](K k) { return k.hlo(&HloKernel::op); }, true},
    {text_expression("hlo_opcode"), [](K k) { return k.hlo(&HloKernel::opcode); }, true},
    {text_expression("hlo_shape"), [](K k) { return k.hlo(&HloKernel::shape); }, true},
    {text_expression("role"), [](K k) { return k.role(); }, true},
    {text_expression("role_source"), [](K k) { return k.role_source(); }, true},
    {number_expression("role_confidence_pct"), [](K k) { return k.role_confidence(); }, true},
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

using Ids = std::span<const std::uint32_t>;
using Numbers = std::span<const std::int64_t>;

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

// `value` of what `part`, a number below 256, says of a kernel's role, where it has one.
template <class Part, class Value>
ArrayColumn of_role(std::size_t size, const KernelRoles& roles, Part part, Value value) {
  constexpr std::uint32_t kNoRole = 256;
  return by_place(
      size, kNoRole + 1,
      [&](std::size_t i) {
        const KernelRole role = roles.of(i);
        return role.role == Role::kNone ? kNoRole : static_cast<std::uint32_t>(part(role));
      },
      [&](std::uint32_t place) { return place == kNoRole ? ArrayValue() : value(place); });
}

const Column<KernelRows>& column_of_view(std::string_view name) {
  return *std::find_if(std::begin(kKernelColumns), std::end(kKernelColumns),
                       [name](const Column<KernelRows>& column) { return column.declared.name == name; });
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

}  // namespace

void add_event_rows(Database& database, std::string_view prefix, const WorkloadSource& workload) {
  const std::string before(prefix);
  add_rows<KernelRows>(database, before + "kernel_rows", before + "kernels", kKernelColumns, workload);
  add_rows<LaunchRows>(database, before + "launch_rows", before + "launches", kLaunchColumns, workload);
}

ArrayValues values_by_id(const Index& index, std::string_view sql) {
  return by_id<ArrayValue>(index, sql, [&](const Statement& row) { return value_of(index, row, 1); });
}

ArrayColumn texts_of(const Index& index, LargeVector<std::uint32_t> ids) {
  // Values are those that are used, in the order of their ids.
  std::vector<std::uint32_t> place_of;
  for (const std::uint32_t id : ids) {
    if (id >= place_of.size()) place_of.resize(std::size_t{id} + 1);
    place_of[id] = 1;
  }
  ArrayValues values(1);
  Statement text(index.database(), "SELECT value FROM string WHERE id = ?");
  for (std::size_t id = 1; id < place_of.size(); ++id) {
    if (place_of[id] == 0) continue;
    place_of[id] = static_cast<std::uint32_t>(values.size());
    text.bind(1, static_cast<std::int64_t>(id));
    values.push_back(text.step() ? value_of(index, text, 0) : ArrayValue());
    text.reset();
  }
  for (std::uint32_t& id : ids) id = id == 0 ? 0 : place_of[id];
  return ArrayColumn::of_values(std::move(ids), std::move(values));
}

ArrayValues choice_values(std::span<const std::string_view> names) {
  ArrayValues values(1);
  for (const std::string_view name : names) values.emplace_back(std::string(name));
  return values;
}

LargeVector<std::int64_t> sums(const Index& index, Numbers a, Numbers b) {
  return combined(index, a, b,
                  [](std::int64_t x, std::int64_t y, std::int64_t* out) { return __builtin_add_overflow(x, y, out); });
}

LargeVector<std::int64_t> differences(const Index& index, Numbers a, Numbers b) {
  return combined(index, a, b,
                  [](std::int64_t x, std::int64_t y, std::int64_t* out) { return __builtin_sub_overflow(x, y, out); });
}

ArrayColumn KernelRows::column(std::string_view name) const { return column_of_view(name).make(*this); }

bool KernelRows::is_text(std::string_view name) { return column_of_view(name).declared.type == ColumnType::kText; }

ArrayColumn KernelRows::id() const {
  LargeVector<std::uint32_t> ids(size());
  std::iota(ids.begin(), ids.end(), 1U);
  return ArrayColumn::of_ids(std::move(ids));
}

ArrayColumn KernelRows::end() const { return ArrayColumn::of_numbers(sums(index_, numbers("ts"), numbers("dur"))); }

ArrayColumn KernelRows::choice(std::string_view column, std::span<const std::string_view> names) const {
  return ArrayColumn::of_values(all_ids(column), choice_values(names));
}

ArrayColumn KernelRows::profiler_number(const std::string& column) const {
  const auto all = numbers(column);
  const bool texts = std::ranges::find(all, kUnknownValue) != all.end() &&
                     index_.database().query_int64("SELECT 1 FROM kernel WHERE \"" + column + "\" IS NOT NULL AND (\"" +
                                                   column + "\" = -9223372036854775807 - 1 OR typeof(\"" + column +
                                                   "\") <> 'integer') LIMIT 1");
  if (!texts) return ArrayColumn::of_numbers(all);
  LargeVector<std::uint32_t> places(size());
  std::map<ArrayValue, std::uint32_t> known;
  ArrayValues values;
  Statement rows(index_.database(), "SELECT id, \"" + column + "\" FROM kernel");
  while (rows.step()) {
    const std::uint32_t id = rows.id(0);
    const auto [entry, is_new] = known.emplace(value_of(index_, rows, 1), static_cast<std::uint32_t>(values.size()));
    if (is_new) values.push_back(entry->first);
    if (id > 0 && id <= size()) places[id - 1] = entry->second;
  }
  return ArrayColumn::of_values(std::move(places), std::move(values));
}

ArrayColumn KernelRows::looked_up(std::string_view column, std::string_view sql) const {
  return ArrayColumn::of_values(all_ids(column), values_by_id(index_, sql));
}

ArrayColumn KernelRows::launched_with(std::string_view expression) const {
  return looked_up("launch_config_id", fmt::format("SELECT id, {} FROM launch_config", expression));
}

ArrayColumn KernelRows::name_of(std::string_view column, std::string_view table) const {
  const EventColumns other(index_, table);
  return texts_of(index_, through(all_ids(column), other.ids("name_id")));
}

ArrayColumn KernelRows::input_dims() const {
  const EventColumns operators(index_, "cpu_op");
  return ArrayColumn::of_values(through(all_ids("cpu_op_id"), operators.ids("shape_id")),
                                values_by_id(index_, "SELECT id, dims FROM op_shape"));
}

ArrayColumn KernelRows::hlo(std::string_view HloKernel::*part) const {
  const auto value = [&](const Statement& row) {
    const auto own = parse_hlo_kernel(row.text(1));
    return own && !((*own).*part).empty() ? ArrayValue(std::string((*own).*part)) : ArrayValue();
  };
  return ArrayColumn::of_values(all_ids("name_id"), by_id<ArrayValue>(index_, kKernelTexts, value));
}

// The innermost nn.Module of each stack. A parent comes before its children.
ArrayColumn KernelRows::module() const {
  const EventColumns stacks(index_, "stack", {"parent_id", "frame_id"});
  const ArrayValues names = values_by_id(index_,
                                         "SELECT f.id, substr(t.value, 12) FROM frame f JOIN string t ON t.id = "
                                         "f.name_id WHERE t.value GLOB 'nn.Module: *'");
  const Ids parents = stacks.ids("parent_id"), frames = stacks.ids("frame_id");
  std::vector<std::uint32_t> frame_of(parents.size());  // of the module; 0: none
  for (std::size_t i = 0; i < parents.size(); ++i) {
    const bool own = frames[i] < names.size() && names[frames[i]].index() != 0;
    if (parents[i] > i) fail_damaged(index_, "a stack before its parent");
    frame_of[i] = own ? frames[i] : parents[i] > 0 ? frame_of[parents[i] - 1] : 0;
  }
  return ArrayColumn::of_values(through(all_ids("stack_id"), frame_of), names);
}

ArrayColumn KernelRows::op() const {
  const KernelClasses& classes = workload_.classes();
  ArrayValues values(classes.end());
  for (std::uint32_t name = 1; name < classes.end(); ++name) {
    if (classes.of(name).known) values[name] = std::string(classes.class_of(name));
  }
  return ArrayColumn::of_values(all_ids("name_id"), std::move(values));
}

ArrayColumn KernelRows::step() const {
  return of_step(size(), workload_.steps(), [](std::uint32_t step) { return std::int64_t{step}; });
}

ArrayColumn KernelRows::phase() const {
  const StepSet& steps = workload_.steps();
  return of_step(size(), steps,
                 [&](std::uint32_t step) { return std::string(to_string(steps.steps[step].info.kind)); });
}

ArrayColumn KernelRows::stack() const {
  const LayerSet& layers = workload_.layers();
  return of_layer(size(), layers, [&](std::int32_t layer) {
    const LayerStack* stack = stack_of(layer, layers.stacks);
    return stack == nullptr ? ArrayValue() : ArrayValue(stack->name);
  });
}

ArrayColumn KernelRows::layer() const {
  const LayerSet& layers = workload_.layers();
  return of_layer(size(), layers, [&](std::int32_t layer) {
    const LayerStack* stack = stack_of(layer, layers.stacks);
    return stack == nullptr ? ArrayValue() : ArrayValue(std::int64_t{layer - stack->first});
  });
}

ArrayColumn KernelRows::layer_part() const {
  return of_layer(size(), workload_.layers(), [](std::int32_t layer) {
    if (layer == kNoLayer) return ArrayValue();
    return ArrayValue(std::string(layer == kHead ? "head" : layer == kTail ? "tail" : "layer"));
  });
}

ArrayColumn KernelRows::role() const {
  return of_role(
      size(), workload_.roles(), [](KernelRole role) { return role.role; },
      [](std::uint32_t role) -> ArrayValue {
        if (role >= roles().size()) return {};
        return std::string(to_string(static_cast<Role>(role)));
      });
}

ArrayColumn KernelRows::role_source() const {
  return of_role(
      size(), workload_.roles(), [](KernelRole role) { return role.source; },
      [](std::uint32_t source) -> ArrayValue {
        if (source > static_cast<std::uint32_t>(RoleSource::kOrder)) return {};
        return std::string(to_string(static_cast<RoleSource>(source)));
      });
}

ArrayColumn KernelRows::role_confidence() const {
  return of_role(
      size(), workload_.roles(), [](KernelRole role) { return role.confidence; },
      [](std::uint32_t confidence) { return ArrayValue(std::int64_t{confidence}); });
}

}  // namespace tracedb
