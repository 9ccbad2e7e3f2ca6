// A read-only table over arrays (array_column.h): SQL over a million rows in a tenth of the time that a table of SQLite
// takes. Comparisons of a column with a value are looked up or tried on the array before SQLite sees a row, and where a
// statement groups or sorts by columns, rows come in that order: SQLite does not sort them.
//
// An eponymous virtual table, as those of table_function.h. A column is made when a statement first needs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sql/database.h"
#include "sql/tables/array_column.h"
#include "sql/tables/table_function.h"

namespace tracedb {

// Looks single values up: of a row, of a column by its number. nullopt: this column has to be made.
using ValueReader = std::function<std::optional<ArrayValue>(std::size_t column, std::size_t row)>;

struct ColumnSource {
  std::function<std::size_t()> guess;  // about how many rows; costs nothing
  std::function<std::size_t()> rows;
  // Column number `column` of those declared. A text column must have no numbers among its values, an integer column
  // may have texts. Throws what ends the statement.
  std::function<ArrayColumn(std::size_t column)> make;
  // For statements that end after a few rows, which need no columns. A cursor owns its reader, which so ends with the
  // statement that is asked. Empty: all columns have to be made.
  std::function<ValueReader()> reader = {};
};

// The row ids are 1, 2, 3 ... `view`: a view of the rows of the table alone,
// with its columns under their names and perhaps more; "": none (user_sql.cc).
void add_column_table(Database& database, std::string_view name, std::span<const TableColumn> columns,
                      ColumnSource source, std::string_view view = {});

// How a column table answers. Inside of src/sql only.

// A comparison of a column with a value that is known when rows are asked for.
struct ColumnTerm {
  int column;
  unsigned char op;
  bool is_list;  // column IN (...)
  bool operator==(const ColumnTerm&) const = default;
};

// Hidden columns behind those declared, for user_sql.cc.
inline constexpr std::size_t kSpareColumns = 4;
std::string spare_name(std::size_t number);

// How rows are found and in which order they come: what xBestIndex decides and xFilter does.
struct ColumnPlan {
  std::vector<ColumnTerm> terms;
  std::vector<std::pair<int, bool>> order;  // columns; descending
  bool grouped = false;                     // for GROUP BY or DISTINCT, which read all rows
  std::uint64_t used = 0;                   // columns, as SQLite has them: the last bit is of all from 63 on
  bool operator==(const ColumnPlan&) const = default;
};

// One table of one connection.
struct ColumnTableSource {
  Database& database;
  std::string name, view;
  std::string declaration;
  std::vector<std::string> names;  // those of spare columns say what is in them
  std::vector<ColumnType> types;
  ColumnSource from;
  std::vector<std::optional<ArrayColumn>> columns;
  std::vector<LargeVector<std::uint32_t>> rows_by_key;  // of columns in which single values were looked up
  std::vector<unsigned> lookups;                        // of single values, by column
  std::vector<unsigned> read;                           // single values of columns that were not made, by column
  std::deque<ColumnPlan> plans;                         // they stay where they are
  std::optional<std::size_t> size;

  std::size_t rows();
  const ArrayColumn& column(int number);
  // One of the first values of a column that is not made; nullopt: column() has it.
  std::optional<ArrayValue> one(int column, std::size_t row, ValueReader& reader);
  [[nodiscard]] int number_of(std::string_view column) const;  // of those declared; -1: there is none
};

// The table of a database that a view stands for, by its name in letters of any case; null: there is none.
ColumnTableSource* column_table(const Database& database, std::string_view view);
inline void forget(const ColumnTableSource& table) { table.database.forget(&table); }

}  // namespace tracedb
