#include "sql/index_fault.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include "base/error.h"
#include "sql/database.h"
#include "sql/scripts.h"

namespace tracedb {
namespace {

// Names of the columns of a table or view, in order; empty where there is none, or where it cannot be read.
std::string columns_of(sqlite3* handle, const std::string& object) {
  sqlite3_stmt* find = nullptr;
  constexpr const char* kFind = "SELECT group_concat(name) FROM pragma_table_info(?1)";
  if (sqlite3_prepare_v2(handle, kFind, -1, &find, nullptr) != SQLITE_OK) return {};
  sqlite3_bind_text(find, 1, object.data(), static_cast<int>(object.size()), SQLITE_STATIC);
  std::string names;
  if (sqlite3_step(find) == SQLITE_ROW && sqlite3_column_type(find, 0) == SQLITE_TEXT) {
    names = reinterpret_cast<const char*>(sqlite3_column_text(find, 0));
  }
  sqlite3_finalize(find);
  return names;
}

// The first table or view that the index lacks, or has with other columns than this version makes; empty: none.
std::string missing_part(sqlite3* handle) {
  Database wanted(":memory:", Database::Mode::kMemory);
  wanted.execute(script("core"));
  wanted.execute(script("views"));
  Statement parts(wanted, "SELECT type, name FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY rowid");
  while (parts.step()) {
    const std::string name(parts.text(1));
    if (columns_of(wanted.handle(), name) != columns_of(handle, name)) return fmt::format("{} {}", parts.text(0), name);
  }
  return {};
}

}  // namespace

void fail_as_damaged(const std::filesystem::path& path, std::string_view why) {
  throw Error(ErrorCode::kInput, fmt::format("{}: the index is damaged ({}); build it again with trace-ingest --force",
                                             path.string(), why));
}

void fail_in_index(sqlite3* handle, const std::filesystem::path& path, int sqlite_code, std::string_view message,
                   std::string_view doing) {
  const bool impossible_value =
      (sqlite_code & 0xff) == SQLITE_TOOBIG || message == "integer overflow" || message == "malformed JSON";
  if (impossible_value) fail_as_damaged(path, fmt::format("an impossible value: {}", message));
  const std::string missing = missing_part(handle);
  if (!missing.empty()) fail_as_damaged(path, fmt::format("{} is missing or was changed: {}", missing, message));
  throw Error(ErrorCode::kResource,
              fmt::format("{}: internal error, please report it: {}: {}", path.string(), doing, message));
}

std::string doing_text(std::string_view what, std::string_view sql) {
  constexpr std::size_t kLongest = 200;
  std::string line;
  for (const char c : sql.substr(0, kLongest)) {
    const bool space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!space || (!line.empty() && line.back() != ' ')) line += space ? ' ' : c;
  }
  return fmt::format("{} [{}{}]", what, line, sql.size() > kLongest ? " ..." : "");
}

}  // namespace tracedb
