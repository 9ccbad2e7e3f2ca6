// What the members of a set are asked for a statement on a table of all of them.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sql/tables/set_scan.h"
#include "sql/tables/set_table.h"

struct sqlite3_value;

namespace tracedb {

// Groups of a member's rows, instead of the rows (set_groups.h).
struct GroupQuery {
  std::vector<std::size_t> columns;   // of the table, by which rows are grouped; none: all rows are one group
  std::vector<std::string> partials;  // "sum(\"dur\")" of a group
  std::string where;                  // which rows; "": all
  std::string alias;                  // of the table in `where`
  bool has_terms = false;             // GROUP BY, perhaps of labels alone: a member without rows has no group
  friend bool operator==(const GroupQuery&, const GroupQuery&) = default;
};

// At most so many, in hidden columns behind the table's own and the one that says which query.
inline constexpr std::size_t kMostPartials = 16;
std::string partial_name(std::size_t i);
std::string groups_name(std::string_view table);  // of the table of groups of "all_kernels"

// Tables of one module of SQLite, by their names.
struct SetSource {
  Database& database;
  DatabaseSet& set;
  std::map<std::string, SetTable, std::less<>> tables;
  bool of_groups = false;
  bool passes_conditions = true;        // to the members; false: they give all rows, always in the same order
  std::deque<GroupQuery> queries = {};  // of groups; as many as statements had
  [[nodiscard]] std::size_t labels() const { return set.label_columns().size(); }
};

// The tables of groups of a connection, by "all_kernels"; null: it has no such table.
SetSource* groups_of(const Database& database, std::string_view table);
void know(SetSource& source);
void forget(const SetSource& source);

// Whether the tables of sets of a connection pass conditions on. SQLite answers `a OR b` by two scans and leaves out
// rows of the second whose row id it has seen; a row has no id that is the same in scans with different conditions.
void pass_conditions(const Database& database, bool passes);
bool has_sets(const Database& database);

std::string quoted_name(std::string_view name);

struct PassedComparison {
  unsigned char code;  // SQLITE_INDEX_CONSTRAINT_EQ ...
  std::string_view sql;
  bool on_labels;
  double left;  // share of the rows
};
const PassedComparison* find_comparison(unsigned char code);  // null: none that is passed on

struct MemberQuery {
  SetQuery query;
  std::vector<int> places;  // of the columns behind the labels in its rows; -1: not read
};

// `plan`: as best_index() of set_table.cc writes it.
MemberQuery make_query(const SetSource& source, const SetTable& table, const char* plan, sqlite3_value** values);

}  // namespace tracedb
