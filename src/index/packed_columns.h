// Reads columns of event tables from packed_column (column_codec.h), several times as fast as from a table. Of kernel
// and runtime_call the packed columns are second copies; python_call, flow_unmatched and memory_event are packed alone,
// without a table (schema/packed.sql).
//
// For databases opened kReadOnly. A second copy that cannot be, or has not as many rows as the table, gives
// Error{kInput}; that its values are those of the table is for `verify` to say. Of a table that is packed alone a
// damaged block has unknown values, and the database keeps a note of it (Database::take_notes). One thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/unknown.h"
#include "index/column_codec.h"
#include "sql/file/column_scan.h"

namespace tracedb {

// As scan_columns(). Throws std::logic_error for a column that neither is packed nor in the table.
ScannedColumns read_columns(Database& database, std::string_view table, std::span<const ScanColumn> columns);

// The columns that ingest packs, by table. A kChoice is packed as its place in the list of texts, plus 1.
struct PackedTable {
  std::string_view name;
  std::span<const ScanColumn> columns;
  bool alone = false;  // these are all its columns but for the id, and there is no table
};
std::span<const PackedTable> packed_tables();
const PackedTable* packed_table(std::string_view name);  // null: nothing of it is packed

// Whether read_columns() takes this column from packed_column.
bool is_packed(Database& database, std::string_view table, std::string_view column);

// Rows of an event table: ids go from 1 to this.
std::size_t row_count(Database& database, std::string_view table);

// What table packed_block says of a block of a table that is packed alone.
struct PackedBlock {
  std::size_t rows = 0;
  // ns; kUnknownValue: no time is known
  std::int64_t first_ts = kUnknownValue, last_ts = kUnknownValue, latest_end = kUnknownValue;

  void add(std::int64_t ts, std::int64_t dur) {  // the times of a row
    if (ts == kUnknownValue) return;
    first_ts = first_ts == kUnknownValue ? ts : std::min(first_ts, ts);
    last_ts = std::max(last_ts, ts);
    latest_end = std::max(latest_end, saturating_add(ts, duration_or_zero(dur)));
  }
  bool operator==(const PackedBlock&) const = default;
};

// The rows of a table that is packed alone, a block after the other in the same memory: what is read once, in order,
// needs no array of all rows. Blocks in which a column is damaged are passed over, with a note.
class BlockReader {
 public:
  BlockReader(Database& database, std::string_view table, std::span<const ScanColumn> columns);

  bool next();                                                  // false: there is no further block
  void skip_to(std::size_t row) { block_ = row / kBlockRows; }  // the next block is the one that holds it
  [[nodiscard]] std::size_t rows() const { return rows_; }      // of the block
  [[nodiscard]] std::size_t first() const { return first_; }    // row of the block's first, whose id is first() + 1
  // By position among the columns that were asked for; valid until next().
  [[nodiscard]] std::span<const std::int64_t> numbers(std::size_t column) const { return columns_[column].numbers; }
  [[nodiscard]] std::span<const std::uint32_t> ids(std::size_t column) const { return columns_[column].ids; }
  // How many rows start before `ts`, in a table whose first column asked for is ts. Reads a block at most; fast for
  // times that ascend. The block that next() gave is then another.
  std::size_t rows_before(std::int64_t ts);

 private:
  struct Column {
    ScanColumn what;
    std::vector<std::int64_t> numbers;
    std::vector<std::uint32_t> ids;
  };
  bool read_block(Column& column, std::size_t rows);

  Database& database_;
  std::string table_;
  std::vector<PackedBlock> blocks_;
  std::vector<Column> columns_;
  Statement data_;
  std::size_t block_ = 0, first_ = 0, rows_ = 0;
  std::optional<std::size_t> held_;  // the block whose values the columns have
};

// The blocks of a table that is packed alone. Error{kInput} where packed_block is damaged.
std::vector<PackedBlock> packed_blocks(Database& database, std::string_view table);

}  // namespace tracedb
