// Columns of an event table as arrays, for passes that look at every kernel or copy. A column is read when it is first
// asked for: a million rows take a few milliseconds (index/packed_columns.h). Rows are in time order; row i has id i
// + 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "index/index.h"
#include "sql/file/column_scan.h"
#include "trace/event_kinds.h"

namespace tracedb {

// The index must outlive the object. One thread at a time.
class EventColumns {
 public:
  // `table`: kernel, memory_op, runtime_call, annotation, cpu_op, stack. `together`: columns that are read at once with
  // the first of them, for tables without packed copies.
  EventColumns(const Index& index, std::string_view table, std::vector<std::string_view> together = {});

  [[nodiscard]] std::size_t size() const { return rows_ ? *rows_ : count_rows(); }  // rows
  // ts and dur, in ns, bytes, external_id, correlation, graph_id and graph_node_id, and the bits of bandwidth_gb_s, a
  // double; an unknown one is kUnknownValue. The span lives as long as the object.
  [[nodiscard]] std::span<const std::int64_t> int64s(std::string_view column) const;
  // Ids (name_id, stream_id, step_id ...), kind (not of annotations and operators), direction of memory_op, pass of
  // kernel and memory_op; 0: unknown. "kind" is a kind of trace/event_kinds.h, "direction" is a place in
  // copy_directions(), "pass" one in kPassNames, plus 1.
  [[nodiscard]] std::span<const std::uint32_t> ids(std::string_view column) const;

 private:
  using Columns = std::map<std::string, ColumnValues, std::less<>>;

  std::size_t count_rows() const;
  [[nodiscard]] const ColumnValues& find(std::string_view column) const;

  Database* database_;
  std::string_view table_;
  std::vector<std::string_view> together_;
  mutable Columns read_;  // so far
  mutable std::optional<std::size_t> rows_;
};

// By id of stream: its device_id. Element 0, and streams that are not in the table, have 0.
std::vector<std::uint32_t> devices_of_streams(const Index& index);

}  // namespace tracedb
