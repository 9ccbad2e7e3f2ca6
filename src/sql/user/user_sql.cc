#include "sql/user/user_sql.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sqlite3.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "base/error.h"
#include "base/text/closest_name.h"
#include "base/text/decimal.h"
#include "sql/tables/group_columns.h"
#include "sql/tables/set_scan.h"

namespace tracedb {

namespace {

bool is_no_fault_of_sql(int code) {
  const int kind = code & 0xff;
  return kind == SQLITE_NOMEM || kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB || kind == SQLITE_IOERR ||
         kind == SQLITE_FULL;
}

using Names = std::vector<std::string>;

// Tables and views, and the modules that are tables by themselves.
constexpr std::string_view kTableNames =
    "SELECT name FROM temp.sqlite_schema UNION SELECT name FROM main.sqlite_schema WHERE type IN ('table', 'view') "
    "UNION SELECT name FROM pragma_module_list WHERE name NOT GLOB 'pragma_*' AND name NOT GLOB '*_rows' AND name NOT "
    "GLOB 'fts[0-9]*' AND name NOT GLOB 'rtree*' AND name NOT GLOB 'schema *' AND name NOT IN ('dbstat', 'geopoly', "
    "'json_each', 'json_tree', 'sqlite_stmt') ORDER BY 1";
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

bool contains(const Names& names, std::string_view name) {
  return std::ranges::any_of(names, [name](const std::string& other) { return is_same_name(name, other); });
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
    if (!is_same_name(words[i - 1], "from") && !is_same_name(words[i - 1], "join")) continue;
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
  if (contains(known, schema) || is_same_name(schema, "main") || is_same_name(schema, "temp")) return {};
  return known.empty()
             ? fmt::format("; there is one index, and so no {}: name the table alone, or give more indexes", schema)
             : fmt::format("; the indexes are {}; all_kernels and its like have every index given",
                           fmt::join(known, ", "));
}

}  // namespace

UserSql::UserSql(Database& database, std::string_view text, std::size_t first, std::size_t end)
    : database_(database), text_(text), first_(first), end_(end) {
  const std::size_t nul = text.find('\0');
  if (nul != std::string_view::npos) {
    throw Error(ErrorCode::kUsage, fmt::format("SQL {}: a NUL byte; SQL is plain text", place(nul)));
  }
}

std::string UserSql::place(std::size_t offset) const {
  const std::string_view before = text_.substr(first_, std::clamp(offset, first_, end_) - first_);
  const auto line = std::ranges::count(before, '\n') + 1;
  const std::size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return fmt::format("line {}, column {}", line, before.size() - line_start + 1);
}

void UserSql::fail_at(std::size_t offset, const std::string& reason) const {
  const bool is_part = end_ - first_ < text_.size();
  if (is_part && offset >= end_) throw Error(ErrorCode::kUsage, place(end_) + ": the expression is not complete");
  if (is_part) throw Error(ErrorCode::kUsage, fmt::format("{}: {}", place(offset), reason));
  throw Error(ErrorCode::kUsage, fmt::format("SQL statement {}, {}: {}", number_, place(offset), reason));
}

std::optional<Statement> UserSql::next(const std::map<std::string, std::string>& parameters) {
  const bool has_set = has_sets(database_);
  if (has_set) pass_conditions(database_, true);
  while (next_ < text_.size()) {
    start_ = std::min(text_.find_first_not_of(" \t\r\n;", next_), text_.size());
    if (start_ == text_.size()) break;
    ++number_;
    sqlite3_stmt* prepared = nullptr;
    const char* tail = nullptr;
    const std::string_view rest = text_.substr(start_);
    const int code =
        sqlite3_prepare_v3(database_.handle(), rest.data(), static_cast<int>(rest.size()), 0, &prepared, &tail);
    if (code != SQLITE_OK) {
      const int offset = sqlite3_error_offset(database_.handle());
      const std::string reason = sqlite3_errmsg(database_.handle());
      if (is_no_fault_of_sql(code)) database_.fail(code, "SQL failed");
      fail_at(start_ + static_cast<std::size_t>(std::max(offset, 0)),
              code == SQLITE_AUTH ? "only reading is allowed here (" + reason + ")"
                                  : reason + name_hint(database_, rest, reason));
    }
    next_ = static_cast<std::size_t>(tail - text_.data());
    if (prepared == nullptr) {  // only a comment
      --number_;
      continue;
    }
    Statement statement(database_, prepared);
    // The authorizer does not see everything that writes: VACUUM INTO passes it.
    if (sqlite3_stmt_readonly(prepared) == 0) fail_at(start_, "only reading is allowed here");
    statement_ = rest.substr(0, next_ - start_);
    std::optional<Statement> best = grouped(statement);
    if (!best) best.emplace(std::move(statement));
    if (has_set && sqlite3_stmt_isexplain(prepared) == 0 && merges_scans()) {
      pass_conditions(database_, false);
      best.emplace(database_, statement_);
    }
    bind(*best, parameters);
    return best;
  }
  return std::nullopt;
}

// The same statement by group_columns.h, if that has the same columns.
std::optional<Statement> UserSql::grouped(const Statement& statement) {
  std::string text = with_group_columns(database_, statement_);
  sqlite3_stmt* prepared = nullptr;
  if (text.empty() || sqlite3_prepare_v3(database_.handle(), text.data(), static_cast<int>(text.size()), 0, &prepared,
                                         nullptr) != SQLITE_OK) {
    return std::nullopt;
  }
  Statement faster(database_, prepared);
  bool is_same =
      faster.column_count() == statement.column_count() && faster.parameter_count() == statement.parameter_count();
  for (int c = 0; is_same && c < statement.column_count(); ++c) {
    is_same = faster.column_name(c) == statement.column_name(c);
  }
  if (!is_same) return std::nullopt;
  statement_ = std::move(text);
  return faster;
}

void UserSql::bind(Statement& statement, const std::map<std::string, std::string>& parameters) {
  for (int index = 1; index <= statement.parameter_count(); ++index) {
    const std::string_view name = statement.parameter_name(index);
    if (name.empty()) fail_at(start_, "parameters must have names, such as :first");
    const auto text = parameters.find(std::string(name.substr(1)) + ":text");
    const auto found = parameters.find(std::string(name.substr(1)));
    if (found != parameters.end()) bound_.insert(found->first);
    if (text != parameters.end()) {
      bound_.insert(text->first);
      statement.bind(index, std::string_view(text->second));
      continue;
    }
    if (found == parameters.end()) {
      fail_at(start_, fmt::format("parameter {} has no value; give --param {}=VALUE", name, name.substr(1)));
    }
    if (const auto integer = parse_int64(found->second)) {
      statement.bind(index, *integer);
    } else if (const auto real = parse_double(found->second)) {
      statement.bind(index, *real);
    } else {
      statement.bind(index, std::string_view(found->second));
    }
  }
}

bool UserSql::merges_scans() const {
  for (Statement steps = plan(); steps.step();) {
    if (steps.text(3).find("MULTI-INDEX OR") != std::string_view::npos) return true;
  }
  return false;
}

Statement UserSql::plan() const { return {database_, "EXPLAIN QUERY PLAN " + statement_}; }

bool UserSql::step(Statement& statement) {
  const int code = sqlite3_step(statement.handle());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  database_.throw_kept_failure();
  if (code == SQLITE_INTERRUPT && database_.is_interrupted()) throw Error(ErrorCode::kInterrupted, "interrupted");
  if (code == SQLITE_INTERRUPT) throw Error(ErrorCode::kResource, fmt::format("SQL statement {}: time limit", number_));
  if (is_no_fault_of_sql(code)) database_.fail(code, fmt::format("SQL statement {}", number_));
  fail_at(start_, sqlite3_errmsg(database_.handle()));
}

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
