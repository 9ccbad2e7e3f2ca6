// SQL text written by a user: split into statements, each checked to be read-only, with errors located by statement,
// line and column. The text must outlive the object.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sql/database.h"

namespace tracedb {

class UserSql {
 public:
  // Throws Error{kUsage} for a text with a NUL byte: sqlite would take it for the end.
  UserSql(Database& database, std::string_view text) : UserSql(database, text, 0, text.size()) {}
  // Of one statement, of which the user wrote only what stands from `first` to `end`: errors count from there.
  UserSql(Database& database, std::string_view text, std::size_t first, std::size_t end);

  // The next statement, with `parameters` (names without ':') bound: integers and reals where the text reads as such,
  // unless the name is NAME:text. nullopt at the end. Throws Error{kUsage} for wrong SQL, for a statement that would
  // write and for a parameter without a value.
  std::optional<Statement> next(const std::map<std::string, std::string>& parameters);

  // The query plan of the statement last returned, which must be no EXPLAIN: rows of id, parent, unused, text. A row
  // comes after its parent; the parent of the outermost is 0.
  [[nodiscard]] Statement plan() const;

  // Throws what sqlite reported for the statement last returned, with its place. Steps it.
  bool step(Statement& statement);

  [[nodiscard]] std::size_t number() const { return number_; }                 // of the statement last returned, from 1
  [[nodiscard]] std::string_view statement() const { return statement_; }      // last returned, as it was prepared
  [[nodiscard]] const std::set<std::string>& bound() const { return bound_; }  // names of parameters met so far

 private:
  [[nodiscard]] std::string place(std::size_t offset) const;  // "line 1, column 2"
  [[noreturn]] void fail_at(std::size_t offset, const std::string& reason) const;
  std::optional<Statement> grouped(const Statement& statement);
  [[nodiscard]] bool merges_scans() const;  // whether SQLite answers an OR of the statement by several scans
  void bind(Statement& statement, const std::map<std::string, std::string>& parameters);

  Database& database_;
  std::string_view text_;
  std::size_t first_, end_;  // what the user wrote
  std::size_t start_ = 0;    // of the statement last returned
  std::size_t next_ = 0;
  std::string statement_;
  std::size_t number_ = 0;
  std::set<std::string> bound_;
};

// What a user may have meant by a name that SQLite does not know: to be appended to SQLite's message about `statement`:
// "; a column of kernels, launches" for a column of other tables than those the statement names; "; did you mean
// 'dur'?" for another name that does not exist, of a table, of a column of the tables that the statement names, or of a
// function; else nothing.
std::string name_hint(Database& database, std::string_view statement, std::string_view message);

// The words of SQL text, as SQLite tells them apart: words, numbers, texts and names in quotes, and signs, as parts of
// the statement; white space and comments are left out. A quote within a text, which is written twice, ends one and
// begins another.
std::vector<std::string_view> sql_tokens(std::string_view statement);

}  // namespace tracedb
