// Fast loading of one table from rows of integers in memory. Rows are pulled by SQLite through a virtual table
// (INSERT ... SELECT), which costs about half of binding and stepping a prepared INSERT per row.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/database.h"

namespace tracedb {

struct BulkColumn {
  std::string_view name;
  std::span<const std::string_view> texts = {};  // not empty: cells are positions in it, stored as that text
};

class BulkInserter {
 public:
  static constexpr std::int64_t kNullCell = std::numeric_limits<std::int64_t>::min();

  // `table` must have an INTEGER PRIMARY KEY that is not among `columns`: it is numbered on from the last row.
  BulkInserter(Database& database, std::string_view table, std::vector<BulkColumn> columns);
  ~BulkInserter();
  BulkInserter(const BulkInserter&) = delete;
  BulkInserter& operator=(const BulkInserter&) = delete;

  // Row-major cells, one per column and row; kNullCell is NULL.
  void insert(std::span<const std::int64_t> cells);
  [[nodiscard]] std::uint64_t rows() const { return rows_; }
  [[nodiscard]] std::size_t column_count() const;

 private:
  struct Source;
  std::unique_ptr<Source> source_;
  std::unique_ptr<Statement> statement_;
  std::uint64_t rows_ = 0;
};

}  // namespace tracedb
