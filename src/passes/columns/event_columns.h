// Columns of an event table as arrays, for passes that look at every kernel or copy: reading a million rows this way
// takes a few milliseconds per column (sql/packed_columns.h). Rows are in time order; row i has id i + 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "index/index.h"
#include "sql/column_scan.h"

namespace tracedb {

// Values of the column kind. Not the enums of trace/event_names.h: 0 is whatever is none of them.
enum class StoredKernelKind : std::uint32_t { kUnknown, kCompute, kComm, kCopyKernel, kCommCompute };  // kernel.kind
enum class StoredMemoryKind : std::uint32_t { kUnknown, kMemcpy, kMemset };                            // memory_op.kind
enum class StoredCallKind : std::uint32_t {
  kUnknown,
  kLaunch,
  kGraphLaunch,
  kCopy,
  kSync,
  kOther
};  // runtime_call.kind

class EventColumns {
 public:
  // `table`: kernel, memory_op, runtime_call, annotation, cpu_op. `columns`: ts, dur, kind (not of annotations and
  // operators), external_id and correlation (as numbers), ids (name_id, stream_id, step_id ...), pass of kernel and
  // memory_op, and bytes, direction and bandwidth_gb_s of memory_op.
  EventColumns(const Index& index, std::string_view table, std::vector<std::string_view> columns);

  [[nodiscard]] std::size_t size() const { return scanned_.rows; }
  [[nodiscard]] bool has(std::string_view column) const;
  // ts and dur, in ns, bytes, external_id and correlation, and the bits of bandwidth_gb_s, a double; an unknown one is
  // kNullCell.
  [[nodiscard]] std::span<const std::int64_t> times(std::string_view column) const;
  // The others; 0: unknown. "kind" has the values of the table's enum above, "direction" is a place in
  // copy_directions(), "pass" one in pass_names(), plus 1.
  [[nodiscard]] std::span<const std::uint32_t> ids(std::string_view column) const;

 private:
  [[nodiscard]] const ColumnValues& find(std::string_view column) const;

  std::vector<std::string_view> names_;
  ScannedColumns scanned_;
};

// By id of stream: its device_id. Element 0, and streams that are not in the table, have 0.
std::vector<std::uint32_t> devices_of_streams(const Index& index);

}  // namespace tracedb
