// Reads whole columns of a table from its packed copies in table packed_column (column_codec.h), several times as
// fast as from the table itself; those that have no copy from the table (sql/file/column_scan.h).
//
// For databases opened kReadOnly. A copy that cannot be, or has not as many rows as the table, gives Error{kInput};
// that its values are those of the table is for `verify` to say. One thread.
#pragma once

#include <span>
#include <string_view>

#include "sql/file/column_scan.h"

namespace tracedb {

// As scan_columns(). Throws std::logic_error for a column that neither is packed nor in the table.
ScannedColumns read_columns(Database& database, std::string_view table, std::span<const ScanColumn> columns);

// The columns that ingest packs, by table. A kChoice is packed as its place in the list of texts, plus 1.
struct PackedTable {
  std::string_view name;
  std::span<const ScanColumn> columns;
};
std::span<const PackedTable> packed_tables();

// Whether read_columns() takes this column from a copy.
bool is_packed(Database& database, std::string_view table, std::string_view column);

}  // namespace tracedb
