// Columns of an event table as arrays, for passes that look at every kernel or copy. A column is read when it is first
// asked for: a million rows take a few milliseconds (index/packed_columns.h). Rows are in time order; row i has id i
// + 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/large_vector.h"
#include "index/index.h"
#include "passes/columns/device_events.h"
#include "sql/file/column_scan.h"
#include "trace/event_names.h"

namespace tracedb {

// The index must outlive the object. One thread at a time.
class EventColumns {
 public:
  // `table`: kernel, memory_op, runtime_call, annotation, cpu_op, stack. `together`: columns that are read at once with
  // the first of them, for tables without packed copies.
  EventColumns(const Index& index, std::string_view table, std::vector<std::string_view> together = {});

  // Reads those that are not there yet in one scan of the table: what a pass is going to ask for.
  void read(std::vector<std::string_view> columns) const;

  [[nodiscard]] Database& database() const { return *database_; }
  [[nodiscard]] std::size_t size() const;  // rows
  // ts and dur, in ns, bytes, external_id, correlation, sequence_number, graph_id and graph_node_id, and the bits of
  // bandwidth_gb_s, a double; an unknown one is kUnknownValue. The span lives as long as the object.
  [[nodiscard]] std::span<const std::int64_t> int64s(std::string_view column) const;
  // Of kernel and memory_op: "dur", but 0 of what is in flight while the device may do nothing (kInFlightStream).
  [[nodiscard]] std::span<const std::int64_t> busy_durs() const;
  // Ids (name_id, stream_id, step_id ...), kind (not of annotations and operators), direction of memory_op, pass of
  // kernel and memory_op; 0: unknown. "kind" is a kind of trace/event_names.h, "direction" is a place in
  // copy_directions(), "pass" one in kPassNames, plus 1.
  [[nodiscard]] std::span<const std::uint32_t> ids(std::string_view column) const;

 private:
  using Columns = std::map<std::string, ColumnValues, std::less<>>;

  [[nodiscard]] const ColumnValues& find(std::string_view column) const;

  Database* database_;
  std::string_view table_;
  std::vector<std::string_view> together_;
  mutable Columns read_;                                        // so far
  mutable std::optional<std::vector<std::int64_t>> busy_durs_;  // empty: "dur" itself
  mutable std::optional<std::size_t> rows_;
};

// By id of a table's rows: the ids in one of its columns. Element 0 is 0.
std::vector<std::uint32_t> ids_by_id(const Index& index, std::string_view table, std::string_view column);

// Element `id`, to which `values` grow where they are fewer.
template <class Values>
decltype(auto) for_id(Values& values, std::size_t id, typename Values::value_type none = {}) {
  if (id >= values.size()) values.resize(id + 1, none);
  return values[id];
}

// By id, which is the first column of a statement: what value(row) makes of its row; `none` where there is none, and
// for element 0.
template <class T, class Value>
std::vector<T> by_id(const Index& index, std::string_view sql, Value value, const T& none = {}) {
  std::vector<T> out(1, none);
  Statement rows(index.database(), sql);
  while (rows.step()) {
    for_id(out, rows.id(0), none) = value(rows);
  }
  return out;
}

// By id: whether it is in the first column of a statement.
inline std::vector<bool> ids_in(const Index& index, std::string_view sql) {
  return by_id<bool>(index, sql, [](const Statement&) { return true; });
}

// Looks up texts by id: the first column of a statement whose parameter is the id. The index must outlive the object.
class TextById {
 public:
  explicit TextById(const Index& index, std::string_view sql = "SELECT value FROM string WHERE id = ?")
      : row_(index.database(), sql) {}
  // Valid until the next call; nullopt: there is no row.
  std::optional<std::string_view> of(std::uint32_t id) {
    const Statement* const found = row(id);
    return found == nullptr ? std::nullopt : std::optional(found->text(0));
  }
  // With all columns of the statement, as long valid; null: there is none.
  const Statement* row(std::int64_t id) {
    row_.reset();
    row_.bind(1, id);
    return row_.step() ? &row_ : nullptr;
  }

 private:
  Statement row_;
};

// The events that passes look at, each column read once for all of them.
struct EventTables {
  EventColumns kernels, memory;                // of devices: tables kernel and memory_op
  EventColumns calls, operators, annotations;  // of the host: runtime_call, cpu_op, annotation
  std::vector<std::uint32_t> device_of_stream;
  std::vector<std::int64_t> device_ordinals;  // by device, as the profiler numbers them; 0 where it does not
  explicit EventTables(const Index& index);
};

// A column of ids that both tables of device events have. The tables must outlive the object.
class EventIds {
 public:
  EventIds(const EventTables& events, std::string_view column)
      : kernels_(events.kernels.ids(column)), memory_(events.memory.ids(column)) {}
  // 0: not known.
  std::uint32_t operator[](const EventRef& event) const {
    return (event.is_memory_op ? memory_ : kernels_)[event.id - 1];
  }

 private:
  std::span<const std::uint32_t> kernels_, memory_;
};

// By id of runtime_call: whether it launches a graph.
std::vector<bool> graph_launches(const Index& index);
inline bool has_id(const std::vector<bool>& ids, std::uint32_t id) { return id < ids.size() && ids[id]; }

// Calls run(begin, end) for each run of the numbers below `size` of which neighbours are alike(before, behind).
template <class Alike, class Run>
void for_each_run(std::size_t size, Alike alike, Run run) {
  for (std::size_t begin = 0, end = 0; begin < size; begin = end) {
    do ++end;
    while (end < size && alike(end - 1, end));
    run(begin, end);
  }
}

// Rows of kernels by step, in time order within each. Those of step s (a place + 1; 0: in none) are [begin[s], begin[s
// + 1]) of `rows`.
struct RowsByStep {
  LargeVector<std::uint32_t> rows;
  std::vector<std::size_t> begin;

  RowsByStep(std::span<const std::uint32_t> step, std::size_t steps) : rows(step.size()), begin(steps + 2, 0) {
    // The kernels of a step mostly follow each other.
    const auto alike = [&](std::size_t a, std::size_t b) { return step[a] == step[b]; };
    for_each_run(step.size(), alike, [&](std::size_t from, std::size_t to) { begin[step[from] + 1] += to - from; });
    for (std::size_t s = 1; s < begin.size(); ++s) begin[s] += begin[s - 1];
    std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
    for_each_run(step.size(), alike, [&](std::size_t from, std::size_t to) {
      std::size_t& at = next[step[from]];
      std::iota(&rows[at], &rows[at] + (to - from), static_cast<std::uint32_t>(from));
      at += to - from;
    });
  }
  [[nodiscard]] std::span<std::uint32_t> of(std::size_t step) {
    return std::span(rows).subspan(begin[step], begin[step + 1] - begin[step]);
  }
};

}  // namespace tracedb
