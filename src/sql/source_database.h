// A database written by a profiler, opened for reading: nothing is written to the file or beside it. It may be damaged
// or hostile. Only real tables are read, never views, virtual tables or generated columns, which could make a scan run
// for ever, and only by plain scans, which use no index of the file.
//
// One thread. Throws Error{kInput} in one line for a file that cannot be read at all, and Error{kInterrupted}.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/database.h"

namespace tracedb {

// A column of the current row; no value: the table lacks the column.
class SourceCell {
 public:
  SourceCell(const Statement& row, int column) : row_(row), column_(column) {}

  [[nodiscard]] bool is_null() const { return column_ < 0 || row_.is_null(column_); }
  // An integer, or text or a real number that is one; nullopt: anything else, and NULL.
  [[nodiscard]] std::optional<std::int64_t> integer() const;
  [[nodiscard]] std::string_view text() const;  // empty for NULL; valid until the next row

 private:
  const Statement& row_;
  int column_;
};

class SourceDatabase {
 public:
  // `cancel` (may be null): once true, statements end with Error{kInterrupted}. Throws Error{kInput} also where the
  // program that wrote the file left a part of it in a journal.
  explicit SourceDatabase(const std::filesystem::path& path, const std::atomic<bool>* cancel = nullptr);

  // Names of real tables; in the order of the schema.
  [[nodiscard]] const std::vector<std::string>& tables() const { return tables_; }
  [[nodiscard]] bool has_table(std::string_view name) const;
  // Whether something else, such as a view, has the name of a table.
  [[nodiscard]] bool has_impostor(std::string_view name) const;

  // Whether a real table has any row that can be read.
  [[nodiscard]] bool has_rows(std::string_view table);

  enum class Outcome { kRead, kAbsent, kImpostor, kLacksColumns, kDamaged };
  // What is to be read of a table, by column: several names for one column are tried in turn ("blockNum|blockDim").
  struct Columns {
    std::vector<std::string_view> required, optional;
  };
  using Row = std::function<void(std::span<const SourceCell>)>;
  // Calls `row` for each row in the order of the table, with the required columns and then the optional ones. kDamaged:
  // the rows before the damage were given. `missing` gets the optional columns that there are not.
  Outcome scan(std::string_view table, const Columns& columns, const Row& row,
               std::vector<std::string_view>* missing = nullptr);

 private:
  [[nodiscard]] std::vector<std::string> columns_of(std::string_view table);

  Database database_;
  std::vector<std::string> tables_, impostors_;
};

// The names of the real tables of an SQLite file; empty where it cannot be read.
std::vector<std::string> table_names(const std::filesystem::path& path);

}  // namespace tracedb
