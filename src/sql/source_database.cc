#include "sql/source_database.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <system_error>

#include "base/error.h"
#include "base/failure.h"
#include "base/files/input_file.h"
#include "base/text/decimal.h"
#include "sql/safety.h"

namespace tracedb {
namespace {

std::string quoted(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) out.append(c == '"' ? 2 : 1, c);
  return out + '"';
}

bool equal_names(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  });
}

// Rows that were committed, but not to the file itself, would be missing without a word.
void require_no_journal(const std::filesystem::path& path) {
  for (const char* suffix : {"-wal", "-journal"}) {
    std::error_code error;
    const std::filesystem::path journal(path.native() + suffix);
    const std::uintmax_t size = std::filesystem::file_size(journal, error);
    if (error || size == 0) continue;
    throw Error(
        ErrorCode::kInput,
        fmt::format("{}: not all of it is in the file: some is still in {}; close the program that writes it, or "
                    "run sqlite3 on it with 'PRAGMA wal_checkpoint(TRUNCATE)'",
                    printable_path(path), printable_path(journal.filename())));
  }
}

// The first of the names in "a|b|c" that is among `present`; empty: none is.
std::string_view first_of(std::string_view names, const std::vector<std::string>& present) {
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find('|'));
    const auto found = std::find_if(present.begin(), present.end(),
                                    [name](const std::string& column) { return equal_names(column, name); });
    if (found != present.end()) return *found;
    names.remove_prefix(std::min(name.size() + 1, names.size()));
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
      return parse_integral(row_.text(column_));
    case ValueType::kReal: {
      constexpr double kLimit = 9.2e18;
      const double value = row_.real(column_);
      if (std::trunc(value) == value && std::fabs(value) < kLimit) return static_cast<std::int64_t>(value);
      return std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

std::string_view SourceCell::text() const { return is_null() ? std::string_view() : row_.text(column_); }

SourceDatabase::SourceDatabase(const std::filesystem::path& path, const std::atomic<bool>* cancel)
    : database_(path, Database::Mode::kSource) {
  require_no_journal(path);
  harden(database_);
  if (cancel != nullptr) database_.interrupt_on(cancel);
  Statement names(database_, "SELECT type, name, sql FROM sqlite_master WHERE type IN ('table', 'view')");
  while (names.step()) {
    const std::string_view sql = names.text(2);
    const bool real = names.text(0) == "table" && !equal_names(sql.substr(0, 14), "CREATE VIRTUAL");
    (real ? tables_ : impostors_).emplace_back(names.text(1));
  }
}

bool SourceDatabase::has_table(std::string_view name) const { return !first_of(name, tables_).empty(); }
bool SourceDatabase::has_impostor(std::string_view name) const { return !first_of(name, impostors_).empty(); }

// Without hidden and generated ones.
std::vector<std::string> SourceDatabase::columns_of(std::string_view table) {
  Statement info(database_, "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0");
  info.bind(1, table);
  std::vector<std::string> names;
  while (info.step()) names.emplace_back(info.text(0));
  return names;
}

SourceDatabase::Outcome SourceDatabase::scan(std::string_view table, const Columns& columns, const Row& row,
                                             std::vector<std::string_view>* missing) {
  if (has_impostor(table)) return Outcome::kImpostor;
  const std::string_view found = first_of(table, tables_);
  if (found.empty()) return Outcome::kAbsent;
  const std::vector<std::string> present = columns_of(found);
  std::string list;
  std::vector<int> places;  // of each column in the statement; -1: none
  const auto add = [&](std::string_view names) {
    const std::string_view name = first_of(names, present);
    places.push_back(name.empty() ? -1 : static_cast<int>(std::count_if(places.begin(), places.end(), [](int place) {
      return place >= 0;
    })));
    if (!name.empty()) list += (list.empty() ? "" : ", ") + quoted(name);
    return !name.empty();
  };
  for (const std::string_view names : columns.required) {
    if (!add(names)) return Outcome::kLacksColumns;
  }
  for (const std::string_view names : columns.optional) {
    if (!add(names) && missing != nullptr) missing->push_back(names);
  }
  Statement statement(database_, fmt::format("SELECT {} FROM main.{} NOT INDEXED", list, quoted(found)));
  std::vector<SourceCell> cells;
  for (const int place : places) cells.emplace_back(statement, place);
  bool more = true;
  while (more) {
    const std::optional<Error> failure = catch_error([&] { more = statement.step(); });
    if (failure && failure->code() == ErrorCode::kInput) return Outcome::kDamaged;
    if (failure) throw Error(*failure);
    if (more) row(cells);
  }
  return Outcome::kRead;
}

bool SourceDatabase::has_rows(std::string_view table) {
  bool any = false;
  static_cast<void>(catch_error([&] {
    Statement first(database_, fmt::format("SELECT 1 FROM main.{} NOT INDEXED LIMIT 1", quoted(table)));
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
