// A read-only table whose rows C++ makes when a statement first reads them: an eponymous virtual table of SQLite, which
// every statement of the connection finds by its name unless the database has a table or view of that name.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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
  struct Text {
    std::uint32_t place;  // in texts()
  };
  using Cell = std::variant<std::monostate, std::int64_t, double, Text>;

  explicit TableRows(std::size_t columns) : columns_(columns) {}

  TableRows& add(std::integral auto value) {
    cells_.emplace_back(static_cast<std::int64_t>(value));
    return *this;
  }
  TableRows& add(double value) {
    cells_.emplace_back(value);
    return *this;
  }
  TableRows& add(std::string_view value);  // copied
  TableRows& add_null() {
    cells_.emplace_back();
    return *this;
  }
  // What is not known is NULL.
  template <class T>
  TableRows& add(const std::optional<T>& value) {
    return value ? add(*value) : add_null();
  }

  [[nodiscard]] std::size_t size() const { return cells_.size() / columns_; }
  [[nodiscard]] bool is_whole() const { return cells_.size() % columns_ == 0; }
  [[nodiscard]] const Cell& cell(std::size_t row, std::size_t column) const { return cells_[row * columns_ + column]; }
  [[nodiscard]] const std::string& text(Text text) const { return *texts_[text.place]; }

 private:
  std::size_t columns_;
  std::vector<Cell> cells_;
  std::map<std::string, std::uint32_t, std::less<>> places_;  // of each text, once
  std::vector<const std::string*> texts_;                     // keys of places_
};

using FillTable = std::function<void(TableRows&)>;

// Makes a table known to `database`, which must not be moved from then on. `fill` is called at most once, when a
// statement first reads a row; what it throws ends that statement, and is what Statement::step() then throws. It may
// read the database itself.
void add_table_function(Database& database, std::string_view name, std::span<const TableColumn> columns,
                        FillTable fill);

}  // namespace tracedb
