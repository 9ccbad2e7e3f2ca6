// Rows on their way from one connection of SQLite to another, and single values of them.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

struct sqlite3_context;
struct sqlite3_value;

namespace tracedb {

struct SqlBlob {
  std::string bytes;
  auto operator<=>(const SqlBlob&) const = default;
};
using SqlValue = std::variant<std::monostate, std::int64_t, double, std::string, SqlBlob>;  // the first: NULL

SqlValue to_sql_value(sqlite3_value* value);
// `lasts`: until the statement goes on, so that nothing is copied.
void give_result(sqlite3_context* result, const SqlValue& value, bool lasts = false);

// Rows of a fixed number of cells, in few allocations. With no cells at all it still counts its rows.
class RowBatch {
 public:
  explicit RowBatch(std::size_t columns) : columns_(columns) {}

  void add(sqlite3_value* value);  // the next cell
  void end_rows(std::int64_t rows = 1) { rows_ += rows; }

  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::size_t bytes() const { return cells_.size() * sizeof(Cell) + texts_.size(); }
  void give_cell(sqlite3_context* result, std::int64_t row, std::size_t column) const;

 private:
  struct Cell {
    int type;            // SQLITE_NULL ...
    std::uint32_t size;  // of a text or blob
    union {
      std::int64_t integer;
      double real;
      std::size_t offset;  // in texts_
    };
  };

  std::size_t columns_;
  std::int64_t rows_ = 0;
  std::vector<Cell> cells_;
  std::string texts_;
};

}  // namespace tracedb
