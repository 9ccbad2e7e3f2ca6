// A read-only table whose rows C++ makes when a statement first reads them: an eponymous virtual table of SQLite, which
// every statement of the connection finds by its name unless the database has a table or view of that name.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sql/database.h"

namespace tracedb {

enum class ColumnType { kInteger, kReal, kText };
std::string_view to_string(ColumnType type);  // as in CREATE TABLE

struct TableColumn {
  std::string_view name;
  ColumnType type = ColumnType::kInteger;
  std::string_view unit = {};  // "ns", "bytes", "count" ...; "": none
  std::string_view meaning = {};
  bool untyped = false;  // an expression: SQLite converts nothing to compare with it
};

// The rows of a table, cell after cell in the order of its columns.
class TableRows {
 public:
  using Cell = std::variant<std::monostate, std::int64_t, double, const std::string*>;  // a text lives as long as they

  static constexpr std::uint64_t kAllColumns = ~std::uint64_t{0};

  // `used`: bit c for column c, the last one for it and all behind. `most`: rows; 0: all.
  explicit TableRows(std::size_t columns, std::uint64_t used = kAllColumns, std::size_t most = 0,
                     std::vector<std::int64_t> arguments = {})
      : columns_(columns), used_(used), most_(most), arguments_(std::move(arguments)) {}

  // What the statement gives for the table's arguments; kUnknownValue for NULL.
  [[nodiscard]] std::span<const std::int64_t> arguments() const { return arguments_; }

  // For rows that cost much: what is not read may be left out. Whether a statement reads this column or one behind it;
  // where it does not, they may be NULL.
  [[nodiscard]] bool wants(std::size_t column) const;
  // How many rows are enough, of a table with an order; 0: all.
  [[nodiscard]] std::size_t most() const;
  // Whether these are enough for a statement too that reads these columns and so many rows.
  [[nodiscard]] bool serve(std::uint64_t used, std::size_t most) const;
  [[nodiscard]] std::uint64_t used() const { return used_; }

  TableRows& add(std::integral auto value) {
    cells_.emplace_back(static_cast<std::int64_t>(value));
    return *this;
  }
  TableRows& add(double value) {
    cells_.emplace_back(value);
    return *this;
  }
  TableRows& add(std::string_view value);  // copied
  TableRows& add_null(std::size_t cells = 1) {
    cells_.resize(cells_.size() + cells);
    return *this;
  }
  // What is not known is NULL.
  TableRows& add(std::monostate) { return add_null(); }
  template <class T>
  TableRows& add(const std::optional<T>& value) {
    return value ? add(*value) : add_null();
  }
  template <class... Cells>
  requires(sizeof...(Cells) > 1) TableRows& add(const Cells&... cells) {
    (add(cells), ...);
    return *this;
  }

  [[nodiscard]] std::size_t size() const { return cells_.size() / columns_; }
  [[nodiscard]] bool is_whole() const { return cells_.size() % columns_ == 0; }
  [[nodiscard]] const Cell& cell(std::size_t row, std::size_t column) const { return cells_[row * columns_ + column]; }

 private:
  std::size_t columns_;
  std::uint64_t used_;
  std::size_t most_;
  std::vector<std::int64_t> arguments_;
  mutable bool lacks_columns_ = false, lacks_rows_ = false;
  std::vector<Cell> cells_;
  std::set<std::string, std::less<>> texts_;
};

using FillTable = std::function<void(TableRows&)>;

// The order that rows are made in, by values of columns: ORDER BY it needs no sorting, and with LIMIT no more rows.
struct RowOrder {
  std::size_t column;
  bool descending = false;
};

// Makes a table known to `database`. `fill` is called when a statement first reads a row, and again only for one that
// reads what it left out; what it throws ends that statement, and is what Statement::step() then throws. It may read
// the database itself. `arguments`: integers that a statement must give, as in "FROM name(7, 1000)"; `fill` is called
// for each list of them.
void add_table_function(Database& database, std::string_view name, std::span<const TableColumn> columns, FillTable fill,
                        std::vector<RowOrder> order = {}, std::span<const std::string_view> arguments = {});

}  // namespace tracedb
