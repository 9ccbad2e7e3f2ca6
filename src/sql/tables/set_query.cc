#include "sql/tables/set_query.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sqlite3.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>

#include "sql/tables/known_sources.h"
#include "sql/tables/sql_token.h"

namespace tracedb {
namespace {

constexpr std::size_t kLongestPattern = 1000;  // as for the statement itself
constexpr std::size_t kMostValues = 1000;      // of IN; more are left to the statement

constexpr std::array<PassedComparison, 12> kComparisons = {{
    {SQLITE_INDEX_CONSTRAINT_EQ, "=", true, 0.05},
    {SQLITE_INDEX_CONSTRAINT_LT, "<", true, 0.5},
    {SQLITE_INDEX_CONSTRAINT_LE, "<=", true, 0.5},
    {SQLITE_INDEX_CONSTRAINT_GT, ">", true, 0.5},
    {SQLITE_INDEX_CONSTRAINT_GE, ">=", true, 0.5},
    {SQLITE_INDEX_CONSTRAINT_NE, "!=", false, 0.9},
    {SQLITE_INDEX_CONSTRAINT_IS, "IS", false, 0.05},
    {SQLITE_INDEX_CONSTRAINT_ISNOT, "IS NOT", false, 0.9},
    {SQLITE_INDEX_CONSTRAINT_LIKE, "LIKE", false, 0.25},
    {SQLITE_INDEX_CONSTRAINT_GLOB, "GLOB", false, 0.25},
    {SQLITE_INDEX_CONSTRAINT_ISNULL, "IS NULL", false, 0.5},
    {SQLITE_INDEX_CONSTRAINT_ISNOTNULL, "IS NOT NULL", false, 0.9},
}};

// nullopt: more than are passed on.
std::optional<std::vector<SqlValue>> values_of(sqlite3_value* value, bool is_list) {
  if (!is_list) return std::vector{to_sql_value(value)};
  std::vector<SqlValue> out;
  sqlite3_value* one = nullptr;
  for (int code = sqlite3_vtab_in_first(value, &one); code == SQLITE_OK && one != nullptr;
       code = sqlite3_vtab_in_next(value, &one)) {
    if (out.size() == kMostValues) return std::nullopt;
    out.push_back(to_sql_value(one));
  }
  return out;
}

// The statement of a plan.
class QueryMaker {
 public:
  QueryMaker(const SetSource& source, const SetTable& table, const char* plan, sqlite3_value** values)
      : source_(source), table_(table), lines_(plan) {
    std::string columns, order, line;
    std::getline(lines_, columns);
    std::getline(lines_, order);
    for (std::size_t i = 0; std::getline(lines_, line); ++i) add_condition(line, values[i]);
    source_.of_groups ? select_groups() : select(columns);
    out_.query.sql += where_ + group_by_ + order_by(order);
  }

  MemberQuery take() { return std::move(out_); }

 private:
  [[nodiscard]] std::string from() const { return table_.source.empty() ? quoted_name(table_.name) : table_.source; }

  void select(const std::string& line) {
    std::istringstream words(line);
    std::string kind, list;
    words >> kind;
    out_.places.assign(table_.columns.size(), -1);
    for (std::size_t column = 0; words >> column;) {
      out_.places[column] = static_cast<int>(out_.query.columns++);
      list += (list.empty() ? "" : ", ") + quoted_name(table_.columns[column].name);
    }
    out_.query.sql = fmt::format("SELECT {}{} FROM {}", kind == "distinct" && !list.empty() ? "DISTINCT " : "",
                                 list.empty() ? "count(*)" : list, from());
  }

  void select_groups() {
    out_.query.of_groups = true;
    if (groups_ == nullptr) throw Error(ErrorCode::kUsage, "this table is not for statements of users");
    out_.places.assign(table_.columns.size() + 1 + kMostPartials, -1);
    std::vector<std::string> columns;
    for (const std::size_t column : groups_->columns) {
      out_.places[column] = static_cast<int>(out_.query.columns++);
      columns.push_back(quoted_name(table_.columns[column].name));
    }
    if (groups_->has_terms) group_by_ = " GROUP BY NULL";
    if (!columns.empty()) group_by_ = fmt::format(" GROUP BY {}", fmt::join(columns, ", "));
    for (std::size_t i = 0; i < groups_->partials.size(); ++i) {
      out_.places[table_.columns.size() + 1 + i] = static_cast<int>(out_.query.columns++);
      columns.push_back(groups_->partials[i]);
    }
    out_.query.sql =
        fmt::format("SELECT {} FROM {} AS {}", fmt::join(columns, ", "), from(), quoted_name(groups_->alias));
    if (!groups_->where.empty()) add_term(groups_->where);
  }

  [[nodiscard]] std::string order_by(const std::string& line) const {
    std::istringstream words(line);
    std::string out;
    char direction = '+';
    for (std::size_t column = 0; words >> direction >> column;) {
      out += fmt::format("{}{}{}", out.empty() ? " ORDER BY " : ", ", quoted_name(table_.columns[column].name),
                         direction == '-' ? " DESC" : "");
    }
    return out;
  }

  void add_condition(const std::string& line, sqlite3_value* value) {
    std::istringstream words(line);
    std::size_t column = 0;
    int code = 0, is_list = 0;
    words >> column >> code >> is_list;
    const PassedComparison& comparison = *find_comparison(static_cast<unsigned char>(code));
    auto values = values_of(value, is_list != 0);
    if (!values) return;
    if (column < source_.labels()) {
      out_.query.conditions.push_back({column, comparison.sql, std::move(*values)});
    } else if (column == source_.labels() + table_.columns.size()) {
      const auto* number = values->empty() ? nullptr : std::get_if<std::int64_t>(values->data());
      const bool known =
          number != nullptr && *number >= 0 && static_cast<std::size_t>(*number) < source_.queries.size();
      if (known) groups_ = &source_.queries[static_cast<std::size_t>(*number)];
    } else {
      add_comparison(quoted_name(table_.columns[column - source_.labels()].name), comparison, value, *values,
                     is_list != 0);
    }
  }

  void add_comparison(const std::string& name, const PassedComparison& comparison, sqlite3_value* value,
                      std::vector<SqlValue>& values, bool is_list) {
    if (comparison.sql.ends_with("NULL")) {
      add_term(fmt::format("{} {}", name, comparison.sql));
      return;
    }
    const bool is_pattern = comparison.sql == "LIKE" || comparison.sql == "GLOB";
    if (is_pattern && static_cast<std::size_t>(sqlite3_value_bytes(value)) > kLongestPattern) return;
    std::vector<std::string> marks;
    for (SqlValue& one : values) {
      out_.query.values.push_back(std::move(one));
      marks.push_back(fmt::format("?{}", out_.query.values.size()));
    }
    add_term(is_list ? fmt::format("{} IN ({})", name, fmt::join(marks, ", "))
                     : fmt::format("{} {} {}", name, comparison.sql, marks[0]));
  }

  void add_term(const std::string& term) { where_ += (where_.empty() ? " WHERE " : " AND ") + term; }

  const SetSource& source_;
  const SetTable& table_;
  std::istringstream lines_;
  MemberQuery out_;
  const GroupQuery* groups_ = nullptr;
  std::string where_, group_by_;
};

}  // namespace

std::string partial_name(std::size_t i) { return fmt::format("partial {}", i + 1); }
std::string groups_name(std::string_view table) { return fmt::format("groups of {}", table); }

std::string quoted_name(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

const PassedComparison* find_comparison(unsigned char code) {
  for (const PassedComparison& comparison : kComparisons) {
    if (comparison.code == code) return &comparison;
  }
  return nullptr;
}

MemberQuery make_query(const SetSource& source, const SetTable& table, const char* plan, sqlite3_value** values) {
  return QueryMaker(source, table, plan, values).take();
}

SetSource* groups_of(const Database& database, std::string_view table) {
  return KnownSources<SetSource>::of_process().find(database, [&](const SetSource& source) {
    return source.of_groups && is_same_name(source.tables.begin()->first, groups_name(table));
  });
}

void pass_conditions(const Database& database, bool passes) {
  KnownSources<SetSource>::of_process().for_each(database,
                                                 [&](SetSource& source) { source.passes_conditions = passes; });
}

bool has_sets(const Database& database) {
  return KnownSources<SetSource>::of_process().find(database, [](const SetSource&) { return true; }) != nullptr;
}

void know(SetSource& source) { KnownSources<SetSource>::of_process().add(source); }

void forget(const SetSource& source) { KnownSources<SetSource>::of_process().remove(source); }

}  // namespace tracedb
