#include "sql/schema_check.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "sql/scripts.h"

namespace tracedb {
namespace {

constexpr std::array<std::string_view, 3> kScripts = {"core", "indexes", "views"};

// What ANALYZE adds, which only helps to plan.
constexpr std::array<std::string_view, 2> kStatistics = {"CREATE TABLE sqlite_stat1(tbl,idx,stat)",
                                                         "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)"};

std::size_t objects_in(std::string_view text) {
  constexpr std::string_view kBegin = "\nCREATE ";
  std::size_t count = text.starts_with(kBegin.substr(1)) ? 1 : 0;
  for (std::size_t at = text.find(kBegin); at != std::string_view::npos; at = text.find(kBegin, at + 1)) ++count;
  return count;
}

// SQLite keeps a statement as it was given, without the semicolon.
bool is_in_scripts(std::string_view sql) {
  const std::string_view opening = sql.substr(0, std::min(sql.find('('), sql.find('\n')));
  return std::any_of(kScripts.begin(), kScripts.end(), [&](std::string_view name) {
    const std::string_view text = script(name);
    const std::size_t at = text.find(opening);
    if (at == std::string_view::npos || opening.empty()) return false;
    const std::string_view ours = text.substr(at);
    return ours.starts_with(sql) && ours.substr(sql.size()).starts_with(';');
  });
}

std::string_view text_of(sqlite3_stmt* row, int column) {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(row, column));
  if (data == nullptr) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(row, column))};
}

bool is_of_primary_key(sqlite3_stmt* object) {
  return sqlite3_column_type(object, 2) == SQLITE_NULL && text_of(object, 1).starts_with("sqlite_autoindex_");
}

bool is_statistics(std::string_view sql) {
  return std::find(kStatistics.begin(), kStatistics.end(), sql) != kStatistics.end();
}

std::string compared(sqlite3_stmt* objects) {
  std::size_t wanted = 0;
  for (const std::string_view name : kScripts) wanted += objects_in(script(name));
  std::size_t found = 0;
  int code = SQLITE_OK;
  while ((code = sqlite3_step(objects)) == SQLITE_ROW) {
    if (is_of_primary_key(objects) || is_statistics(text_of(objects, 2))) continue;
    if (!is_in_scripts(text_of(objects, 2))) {
      return fmt::format("{} {} is not as this version makes it", text_of(objects, 0), text_of(objects, 1));
    }
    ++found;
  }
  if (code != SQLITE_DONE) return "its schema cannot be read";
  return found == wanted ? "" : fmt::format("{} of its {} tables and views are missing", wanted - found, wanted);
}

}  // namespace

std::string schema_difference(sqlite3* handle) {
  sqlite3_stmt* objects = nullptr;
  const int code = sqlite3_prepare_v2(handle, "SELECT type, name, sql FROM sqlite_schema", -1, &objects, nullptr);
  std::string difference = code == SQLITE_OK ? compared(objects) : "its schema cannot be read";
  sqlite3_finalize(objects);
  return difference;
}

}  // namespace tracedb
