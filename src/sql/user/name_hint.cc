#include "sql/user/name_hint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <strings.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "base/text/closest_name.h"

namespace tracedb {
namespace {

using Names = std::vector<std::string>;

// Tables and views, and the modules that are tables by themselves.
constexpr std::string_view kTableNames =
    "SELECT name FROM temp.sqlite_schema UNION SELECT name FROM main.sqlite_schema WHERE type IN ('table', 'view') "
    "UNION SELECT name FROM pragma_module_list "
    "WHERE name NOT GLOB 'pragma_*' AND name NOT GLOB '*_rows' AND name NOT GLOB 'fts[0-9]*' AND name NOT GLOB "
    "'rtree*' AND name NOT GLOB 'schema *' "
    "AND name NOT IN ('dbstat', 'geopoly', 'json_each', 'json_tree', 'sqlite_stmt') ORDER BY 1";
constexpr std::string_view kSchemas =
    "SELECT name FROM pragma_database_list WHERE name NOT IN ('main', 'temp') ORDER BY seq";
constexpr std::string_view kFunctionNames = "SELECT DISTINCT name FROM pragma_function_list ORDER BY 1";
constexpr std::string_view kColumnNames = "SELECT name FROM pragma_table_info(?1) ORDER BY cid";

Names names(Database& database, std::string_view sql, std::string_view argument = {}) {
  Names out;
  Statement statement(database, sql);
  if (statement.parameter_count() > 0) statement.bind(1, argument);
  while (statement.step()) out.emplace_back(statement.text(0));
  return out;
}

bool is_same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

bool contains(const Names& names, std::string_view name) {
  return std::any_of(names.begin(), names.end(), [name](const std::string& other) { return is_same(name, other); });
}

// The words of a statement that may be names.
Names words_of(std::string_view statement) {
  Names words;
  std::string word;
  for (const char c : statement) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, {}));
    }
  }
  if (!word.empty()) words.push_back(word);
  return words;
}

// Of `phase = decode`, where a text was meant.
bool is_compared_with(std::string_view statement, std::string_view word) {
  const std::size_t at = statement.find(word);
  const std::size_t before = at == std::string_view::npos ? at : statement.substr(0, at).find_last_not_of(" \t\r\n");
  return before != std::string_view::npos && std::string_view("=<>").find(statement[before]) != std::string_view::npos;
}

// "; kernels has id, name, ..." of each table that the words read from.
std::string columns_there(Database& database, const Names& words) {
  std::string out;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (!is_same(words[i - 1], "from") && !is_same(words[i - 1], "join")) continue;
    const Names columns = names(database, kColumnNames, words[i]);
    if (!columns.empty()) out += fmt::format("; {} has {}", words[i], fmt::join(columns, ", "));
  }
  return out;
}

std::string column_hint(Database& database, std::string_view statement, std::string_view column) {
  constexpr std::size_t kMostTables = 3;
  const Names words = words_of(statement);
  Names near;
  std::string elsewhere;
  std::size_t tables = 0;
  for (const std::string& table : names(database, kTableNames)) {
    const Names columns = names(database, kColumnNames, table);
    if (contains(words, table)) {
      near.insert(near.end(), columns.begin(), columns.end());
    } else if (contains(columns, column) && ++tables <= kMostTables) {
      elsewhere += (elsewhere.empty() ? "; a column of " : ", ") + table;
    }
  }
  const std::string there = columns_there(database, words);
  if (!elsewhere.empty()) return elsewhere + there;
  const bool may_be_text = is_compared_with(statement, column);
  return (may_be_text ? fmt::format("; a text is written in quotes: '{}'", column) : "") + did_you_mean(column, near) +
         there;
}

// Of "b.kernels", where there is no b.
std::string schema_hint(Database& database, std::string_view schema) {
  const Names known = names(database, kSchemas);
  if (contains(known, schema) || is_same(schema, "main") || is_same(schema, "temp")) return {};
  return known.empty()
             ? fmt::format("; there is one index, and so no {}: name the table alone, or give more indexes", schema)
             : fmt::format("; the indexes are {}; all_kernels and its like have every index given",
                           fmt::join(known, ", "));
}

}  // namespace

std::string name_hint(Database& database, std::string_view statement, std::string_view message) {
  constexpr std::string_view kTable = "no such table: ", kColumn = "no such column: ", kFunction = "no such function: ";
  const std::string_view name = message.substr(std::min(message.size(), message.find(": ") + 2));
  const std::string_view last = name.substr(name.rfind('.') == std::string_view::npos ? 0 : name.rfind('.') + 1);
  if (message.starts_with(kTable) && last.size() < name.size()) {
    const std::string hint = schema_hint(database, name.substr(0, name.size() - last.size() - 1));
    if (!hint.empty()) return hint;
  }
  if (message.starts_with(kTable)) return did_you_mean(last, names(database, kTableNames));
  if (message.starts_with(kColumn)) return column_hint(database, statement, last);
  if (message.starts_with(kFunction)) return did_you_mean(last, names(database, kFunctionNames));
  return {};
}

}  // namespace tracedb
