#include "passes/sql/kernel_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/files/input_file.h"
#include "base/unknown.h"
#include "trace/event_kinds.h"

namespace tracedb {
namespace {

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
  const auto [least, most] = std::minmax_element(found.begin(), found.end());
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

ArrayValues values_by_id(const Index& index, std::string_view sql) {
  ArrayValues values;
  Statement rows(index.database(), sql);
  while (rows.step()) {
    const std::uint32_t id = rows.id(0);
    if (id >= values.size()) values.resize(std::size_t{id} + 1);
    values[id] = value_of(index, rows, 1);
  }
  return values;
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
  const bool texts = std::find(all.begin(), all.end(), kUnknownValue) != all.end() &&
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

ArrayColumn KernelRows::name_of(std::string_view column, std::string_view table) const {
  const EventColumns other(index_, table);
  return texts_of(index_, through(all_ids(column), other.ids("name_id")));
}

ArrayColumn KernelRows::input_dims() const {
  const EventColumns operators(index_, "cpu_op");
  return ArrayColumn::of_values(through(all_ids("cpu_op_id"), operators.ids("shape_id")),
                                values_by_id(index_, "SELECT id, dims FROM op_shape"));
}

// The innermost nn.Module of each stack. A parent comes before its children.
ArrayColumn KernelRows::module() const {
  const EventColumns stacks(index_, "stack", {"parent_id", "frame_id"});
  const ArrayValues names =
      values_by_id(index_,
                   "SELECT f.id, substr(t.value, 12) FROM frame f JOIN string t ON t.id = f.name_id WHERE t.value GLOB "
                   "'nn.Module: *'");
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
