#include "sql/user/user_sql.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>

#include "base/error.h"
#include "base/text/decimal.h"
#include "sql/tables/group_columns.h"
#include "sql/tables/set_groups.h"
#include "sql/tables/set_query.h"
#include "sql/user/name_hint.h"

namespace tracedb {

namespace {

bool is_no_fault_of_sql(int code) {
  const int kind = code & 0xff;
  return kind == SQLITE_NOMEM || kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB || kind == SQLITE_IOERR ||
         kind == SQLITE_FULL;
}

}  // namespace

bool is_complete_sql(const std::string& text) { return sqlite3_complete(text.c_str()) != 0; }

UserSql::UserSql(Database& database, std::string_view text, std::size_t first, std::size_t end)
    : database_(database), text_(text), first_(first), end_(end) {
  const std::size_t nul = text.find('\0');
  if (nul != std::string_view::npos) {
    throw Error(ErrorCode::kUsage, fmt::format("SQL {}: a NUL byte; SQL is plain text", place(nul)));
  }
}

std::string UserSql::place(std::size_t offset) const {
  const std::string_view before = text_.substr(first_, std::clamp(offset, first_, end_) - first_);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
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

// The same statement by group_columns.h or set_groups.h, if that has the same columns.
std::optional<Statement> UserSql::grouped(const Statement& statement) {
  std::string text = with_group_columns(database_, statement_);
  if (text.empty()) text = with_member_groups(database_, statement_);
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

}  // namespace tracedb
