#include "sql/user/user_sql.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text/decimal.h"
#include "sql/sqlite.h"
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

UserSql::UserSql(Database& database, std::string_view text) : database_(database), text_(text) {
  const std::size_t nul = text.find('\0');
  if (nul != std::string_view::npos) {
    throw Error(ErrorCode::kUsage, fmt::format("SQL {}: a NUL byte; SQL is plain text", place(nul)));
  }
}

std::string UserSql::place(std::size_t offset) const {
  const std::string_view before = text_.substr(0, offset);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return fmt::format("line {}, column {}", line, offset - line_start + 1);
}

void UserSql::fail_at(std::size_t offset, const std::string& reason) const {
  throw Error(ErrorCode::kUsage, fmt::format("SQL statement {}, {}: {}", number_, place(offset), reason));
}

std::optional<Statement> UserSql::next(const std::map<std::string, std::string>& parameters) {
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
    bind(statement, parameters);
    return statement;
  }
  return std::nullopt;
}

void UserSql::bind(Statement& statement, const std::map<std::string, std::string>& parameters) {
  for (int index = 1; index <= statement.parameter_count(); ++index) {
    const std::string_view name = statement.parameter_name(index);
    if (name.empty()) fail_at(start_, "parameters must have names, such as :first");
    const auto found = parameters.find(std::string(name.substr(1)));
    if (found == parameters.end()) {
      fail_at(start_, fmt::format("parameter {} has no value; give --param {}=VALUE", name, name.substr(1)));
    }
    bound_.insert(found->first);
    if (const auto integer = parse_int64(found->second)) {
      statement.bind(index, *integer);
    } else if (const auto real = parse_double(found->second)) {
      statement.bind(index, *real);
    } else {
      statement.bind(index, std::string_view(found->second));
    }
  }
}

Statement UserSql::plan() const {
  const std::string_view statement = text_.substr(start_, next_ - start_);
  return {database_, "EXPLAIN QUERY PLAN " + std::string(statement)};
}

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
