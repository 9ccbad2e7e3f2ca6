// A read-only table over arrays (array_column.h): SQL over a million rows in a tenth of the time that a table of SQLite
// takes. Comparisons of a column with a value are looked up or tried on the array before SQLite sees a row, and where a
// statement groups or sorts by columns, rows come in that order: SQLite does not sort them.
//
// An eponymous virtual table, as those of table_function.h. A column is made when a statement first needs it.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>

#include "sql/database.h"
#include "sql/tables/array_column.h"
#include "sql/tables/table_function.h"

namespace tracedb {

struct ColumnSource {
  std::function<std::size_t()> guess;  // about how many rows; costs nothing
  std::function<std::size_t()> rows;
  // Column number `column` of those declared. A text column must have no numbers among its values, an integer column
  // may have texts. Throws what ends the statement.
  std::function<ArrayColumn(std::size_t column)> make;
};

// `database` must not be moved from then on. The row ids are 1, 2, 3 ... `view`: a view of the rows of the table alone,
// with its columns under their names and perhaps more; "": none (group_columns.h).
void add_column_table(Database& database, std::string_view name, std::span<const TableColumn> columns,
                      ColumnSource source, std::string_view view = {});

}  // namespace tracedb
