// A database written by a profiler, opened for reading: nothing is written to the file or beside it. It may be damaged
// or hostile. Only real tables are read, never views, virtual tables or generated columns, which could make a scan run
// for ever, and only by plain scans, which use no index of the file.
//
// Rows may share the bytes of a long text: what all texts given to the caller may sum up to is what the file can hold.
//
// One thread. Throws Error{kInput} in one line for a file that cannot be read at all, and Error{kInterrupted}.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/database.h"

namespace tracedb {

// A column of the current row; no value: the table lacks the column.
class SourceCell {
 public:
  // `given` counts the bytes of long texts.
  SourceCell(const Statement& row, int column, std::uint64_t& given) : row_(row), column_(column), given_(given) {}

  [[nodiscard]] bool is_null() const { return column_ < 0 || row_.is_null(column_); }
  // An integer, or text or a real number that is one; nullopt: anything else, and NULL.
  [[nodiscard]] std::optional<std::int64_t> integer() const;
  [[nodiscard]] std::string_view text() const;  // empty for NULL; valid until the next row

 private:
  const Statement& row_;
  int column_;
  std::uint64_t& given_;
};

class SourceDatabase {
 public:
  // `cancel` (may be null): once true, statements end with Error{kInterrupted}. Throws Error{kInput} also where the
  // program that wrote the file left a part of it in a journal.
  explicit SourceDatabase(const std::filesystem::path& path, const std::atomic<bool>* cancel = nullptr);

  // Names of real tables; in the order of the schema.
  [[nodiscard]] const std::vector<std::string>& tables() const { return tables_; }
  // Whether something else, such as a view, has the name of a table.
  [[nodiscard]] bool has_impostor(std::string_view name) const;

  // Whether a real table has any row that can be read.
  [[nodiscard]] bool has_rows(std::string_view table);

  enum class Outcome { kRead, kAbsent, kImpostor, kLacksColumns, kDamaged, kOversized };
  // What is to be read of a table, by column: several names for one column are tried in turn ("blockNum|blockDim").
  struct Columns {
    std::vector<std::string_view> required, optional;
  };
  using Row = std::function<void(std::span<const SourceCell>)>;
  // Calls `row` for each row in the order of the table, with the required columns and then the optional ones. kDamaged:
  // the rows before the damage were given; kOversized: those before the texts became more than the file can hold.
  // `missing` gets the optional columns that there are not.
  Outcome scan(std::string_view table, const Columns& columns, const Row& row,
               std::vector<std::string_view>* missing = nullptr);

  // The number of each row of `table` and its column `id`. `by_number` becomes a statement that finds the columns `id`
  // and `value` by the number of a row: no value is read before.
  Outcome scan_ids(std::string_view table, std::string_view id, std::string_view value, const Row& row,
                   std::unique_ptr<Statement>& by_number);
  // Of long texts, in bytes.
  [[nodiscard]] std::uint64_t most_text() const;

 private:
  // Its name as it is written; empty: there is none.
  [[nodiscard]] std::string_view found_table(std::string_view name) const;
  Outcome each_row(Statement& statement, std::span<const SourceCell> cells, const Row& row);
  [[nodiscard]] std::vector<std::string> columns_of(std::string_view table);

  Database database_;
  std::vector<std::string> tables_;
  std::map<std::string, std::string> written_;  // of tables_, by the name in lower case
  std::set<std::string> impostors_;             // in lower case
  std::uint64_t given_ = 0;                     // bytes of long texts in rows that were visited
};

// The names of the real tables of an SQLite file; empty where it cannot be read.
std::vector<std::string> table_names(const std::filesystem::path& path);

}  // namespace tracedb
