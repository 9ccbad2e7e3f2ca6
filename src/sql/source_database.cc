#include "sql/source_database.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <system_error>

#include "base/error.h"
#include "base/failure.h"
#include "base/files/input_file.h"
#include "base/text/characters.h"
#include "base/text/decimal.h"
#include "base/text/split.h"
#include "sql/safety.h"

namespace tracedb {
namespace {

// Shorter ones are in the row itself on the smallest of pages.
constexpr std::size_t kShortText = 32;

// Rows that were committed, but not to the file itself, would be missing without a word.
void require_no_journal(const std::filesystem::path& path) {
  for (const char* suffix : {"-wal", "-journal"}) {
    std::error_code error;
    const std::filesystem::path journal(path.native() + suffix);
    const std::uintmax_t size = std::filesystem::file_size(journal, error);
    if (error || size == 0) continue;
    throw Error(ErrorCode::kInput,
                fmt::format("{}: not all of it is in the file: some is still in {}; close the program that writes it, "
                            "or run sqlite3 on it with 'PRAGMA wal_checkpoint(TRUNCATE)'",
                            printable_path(path), printable_path(journal.filename())));
  }
}

// The first of the names in "a|b|c" that is among `present`; empty: none is.
std::string_view first_of(std::string_view names, const std::vector<std::string>& present) {
  for (const std::string_view name : split_text(names, '|')) {
    const auto found =
        std::ranges::find_if(present, [name](const std::string& column) { return is_same_name(column, name); });
    if (found != present.end()) return *found;
  }
  return {};
}

}  // namespace

std::optional<std::int64_t> SourceCell::integer() const {
  if (column_ < 0) return std::nullopt;
  switch (row_.type(column_)) {
    case ValueType::kInteger:
      return row_.int64(column_);
    case ValueType::kText:
      return parse_integral(text());
    case ValueType::kReal: {
      constexpr double kLimit = 9.2e18;
      const double value = row_.real(column_);
      if (std::trunc(value) == value && std::fabs(value) < kLimit) return static_cast<std::int64_t>(value);
      return std::nullopt;
    }
    default:
      static_cast<void>(text());
      return std::nullopt;
  }
}

std::string_view SourceCell::text() const {
  if (is_null()) return {};
  const std::string_view text = row_.text(column_);
  if (text.size() > kShortText) given_ += text.size();
  return text;
}

SourceDatabase::SourceDatabase(const std::filesystem::path& path, const std::atomic<bool>* cancel)
    : database_(path, Database::Mode::kSource) {
  require_no_journal(path);
  harden(database_);
  if (cancel != nullptr) database_.interrupt_on(cancel);
  Statement names(database_, "SELECT type, name, sql FROM sqlite_master WHERE type IN ('table', 'view')");
  while (names.step()) {
    const std::string_view sql = names.text(2);
    const bool real = names.text(0) == "table" && !is_same_name(sql.substr(0, 14), "CREATE VIRTUAL");
    if (real) tables_.emplace_back(names.text(1));
    real ? void(written_.emplace(ascii_lower(names.text(1)), names.text(1)))
         : void(impostors_.insert(ascii_lower(names.text(1))));
  }
}

std::string_view SourceDatabase::found_table(std::string_view name) const {
  const auto found = written_.find(ascii_lower(name));
  return found == written_.end() ? std::string_view() : std::string_view(found->second);
}

bool SourceDatabase::has_impostor(std::string_view name) const { return impostors_.contains(ascii_lower(name)); }

// Without hidden and generated ones.
std::vector<std::string> SourceDatabase::columns_of(std::string_view table) {
  return database_.query_texts("SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0", table);
}

SourceDatabase::Outcome SourceDatabase::scan(std::string_view table, const Columns& columns, const Row& row,
                                             std::vector<std::string_view>* missing) {
  if (has_impostor(table)) return Outcome::kImpostor;
  const std::string_view found = found_table(table);
  if (found.empty()) return Outcome::kAbsent;
  const std::vector<std::string> present = columns_of(found);
  std::string list;
  std::vector<int> places;  // of each column in the statement; -1: none
  const auto add = [&](std::string_view names) {
    const std::string_view name = first_of(names, present);
    places.push_back(
        name.empty() ? -1 : static_cast<int>(std::ranges::count_if(places, [](int place) { return place >= 0; })));
    if (!name.empty()) list += (list.empty() ? "" : ", ") + quoted_name(name);
    return !name.empty();
  };
  for (const std::string_view names : columns.required) {
    if (!add(names)) return Outcome::kLacksColumns;
  }
  for (const std::string_view names : columns.optional) {
    if (!add(names) && missing != nullptr) missing->push_back(names);
  }
  Statement statement(database_, fmt::format("SELECT {} FROM main.{} NOT INDEXED", list, quoted_name(found)));
  std::vector<SourceCell> cells;
  for (const int place : places) cells.emplace_back(statement, place, given_);
  return each_row(statement, cells, row);
}

SourceDatabase::Outcome SourceDatabase::scan_ids(std::string_view table, std::string_view id, std::string_view value,
                                                 const Row& row, std::unique_ptr<Statement>& by_number) {
  if (has_impostor(table)) return Outcome::kImpostor;
  const std::string_view found = found_table(table);
  if (found.empty()) return Outcome::kAbsent;
  const std::vector<std::string> present = columns_of(found);
  const std::string_view id_name = first_of(id, present);
  const std::string_view value_name = first_of(value, present);
  Statement other(database_, "SELECT 1 FROM pragma_table_xinfo(?) WHERE name = '_rowid_' COLLATE NOCASE");
  if (id_name.empty() || value_name.empty() || other.bind(1, found).step()) return Outcome::kLacksColumns;
  const std::string from = fmt::format("FROM main.{} NOT INDEXED", quoted_name(found));
  const auto without_numbers = catch_error([&] {
    by_number = std::make_unique<Statement>(
        database_,
        fmt::format("SELECT {}, {} {} WHERE _rowid_ = ?1", quoted_name(id_name), quoted_name(value_name), from));
  });
  if (without_numbers) return Outcome::kLacksColumns;
  Statement statement(database_, fmt::format("SELECT _rowid_, {} {}", quoted_name(id_name), from));
  const std::array<SourceCell, 2> cells = {SourceCell(statement, 0, given_), SourceCell(statement, 1, given_)};
  return each_row(statement, cells, row);
}

std::uint64_t SourceDatabase::most_text() const {
  constexpr std::uint64_t kSmallestRow = 6, kSpare = std::uint64_t{1} << 20U;
  return database_.most_rows() * kSmallestRow + kSpare;
}

SourceDatabase::Outcome SourceDatabase::each_row(Statement& statement, std::span<const SourceCell> cells,
                                                 const Row& row) {
  const std::uint64_t most = most_text();
  bool more = true;
  while (more) {
    const std::optional<Error> failure = catch_error([&] { more = statement.step(); });
    if (failure && failure->code() == ErrorCode::kInput) return Outcome::kDamaged;
    if (failure) throw Error(*failure);
    const std::uint64_t before = given_;
    if (more) row(cells);
    if (given_ > most && given_ != before) return Outcome::kOversized;
  }
  return Outcome::kRead;
}

bool SourceDatabase::has_rows(std::string_view table) {
  bool any = false;
  static_cast<void>(catch_error([&] {
    Statement first(database_, fmt::format("SELECT 1 FROM main.{} NOT INDEXED LIMIT 1", quoted_name(table)));
    any = first.step();
  }));
  return any;
}

std::vector<std::string> table_names(const std::filesystem::path& path) {
  std::vector<std::string> names;
  static_cast<void>(catch_error([&] {
    Database database(path, Database::Mode::kSource);
    harden(database);
    Statement tables(database, "SELECT name FROM sqlite_master WHERE type = 'table'");
    while (tables.step()) names.emplace_back(tables.text(0));
  }));
  return names;
}

}  // namespace tracedb
