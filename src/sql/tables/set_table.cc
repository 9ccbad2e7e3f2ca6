#include "sql/tables/set_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "sql/tables/set_scan.h"
#include "sql/tables/table_module.h"

namespace tracedb {
namespace {

constexpr double kScanCost = 1e6, kMemberCost = 1e3, kLookupCost = 10;
constexpr std::size_t kLongestPattern = 1000;  // as for the statement itself
constexpr std::size_t kMostValues = 1000;      // of IN; more are left to the statement

// Tables of one module of SQLite, by their names.
struct SetSource {
  Database& database;
  DatabaseSet& set;
  std::map<std::string, SetTable, std::less<>> tables;
  bool passes_conditions = true;  // to the members; false: they give all rows, always in the same order
};

void forget(const SetSource& source) { source.database.forget(&source); }

struct TableOfSet : VirtualTable<SetSource> {
  TableOfSet(SetSource& from, const SetTable& of) : VirtualTable(from), table(of) {}
  static std::unique_ptr<TableOfSet> find(SetSource& from, std::string_view name) {
    const auto found = from.tables.find(name);
    return found == from.tables.end() ? nullptr : std::make_unique<TableOfSet>(from, found->second);
  }
  [[nodiscard]] std::string declaration() const;
  int plan(sqlite3_index_info& info);
  [[nodiscard]] std::size_t labels() const { return source.set.label_columns().size(); }

  const SetTable& table;
};

struct PassedComparison {
  unsigned char code;  // SQLITE_INDEX_CONSTRAINT_EQ ...
  std::string_view sql;
  bool on_labels;
  double left;  // share of the rows
};

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

// Null: none that is passed on.
const PassedComparison* find_comparison(unsigned char code) {
  const auto* const found = std::ranges::find(kComparisons, code, &PassedComparison::code);
  return found == kComparisons.end() ? nullptr : found;
}

// The plan as text, which SQLite keeps with the statement. First line: "distinct" or "all", then the columns read;
// second line: the columns by which the rows of a member come in order, each after a plus or, where they fall, a minus;
// then for each condition its column, its comparison and whether it has a list of values (IN).
class SetPlan {
 public:
  SetPlan(const TableOfSet& table, sqlite3_index_info& info) : table_(table), info_(&info) {
    const int mode = sqlite3_vtab_distinct(info_);
    text_ = mode == 2 || mode == 3 ? "distinct" : "all";
    for (std::size_t c = 0; c < table.table.columns.size(); ++c) {
      if (is_read(table.labels() + c)) text_ += fmt::format(" {}", c);
    }
    text_ += '\n' + order(mode);
    for (int i = 0; i < info_->nConstraint; ++i) add(i);
    const double members = static_cast<double>(table.source.set.size());
    info_->estimatedRows = static_cast<sqlite3_int64>(kScanCost * left_) + 1;
    info_->estimatedCost =
        is_lookup_ ? kLookupCost + kMemberCost * (members - 1) : kMemberCost * members + kScanCost * left_;
    info_->idxStr = sqlite3_mprintf("%s", text_.c_str());
    info_->needToFreeIdxStr = 1;
  }

 private:
  [[nodiscard]] bool is_read(std::size_t column) const {
    constexpr std::size_t kLastBit = 63;  // of all columns from there on
    return (info_->colUsed >> std::min(column, kLastBit) & 1U) != 0;
  }

  // Rows come member by member: rows that are alike are adjacent where the first label, which tells members apart, is
  // among what makes them alike, and where there is only one member.
  std::string order(int mode) {
    const bool is_grouping = mode == 1 || mode == 2;
    bool has_member = table_.source.set.size() == 1;
    std::string out;
    for (int i = 0; i < info_->nOrderBy; ++i) {
      const auto& term = info_->aOrderBy[i];
      if (term.iColumn < 0) return {};
      const auto column = static_cast<std::size_t>(term.iColumn);
      has_member = has_member || (is_grouping && column == 0);
      if (column >= table_.labels() + table_.table.columns.size()) return {};
      if (column >= table_.labels()) out += fmt::format("{} {} ", term.desc != 0 ? "-" : "+", column - table_.labels());
    }
    if (!has_member || info_->nOrderBy == 0) return {};
    info_->orderByConsumed = 1;
    return out;
  }

  void add(int i) {
    const auto& constraint = info_->aConstraint[i];
    const PassedComparison* comparison = find_comparison(constraint.op);
    if (constraint.usable == 0 || constraint.iColumn < 0 || comparison == nullptr) return;
    const auto column = static_cast<std::size_t>(constraint.iColumn);
    const bool is_label = column < table_.labels();
    if (!table_.source.passes_conditions || (is_label && !comparison->on_labels) ||
        std::string_view(sqlite3_vtab_collation(info_, i)) != "BINARY")
      return;
    const bool is_list = sqlite3_vtab_in(info_, i, 1) != 0;
    info_->aConstraintUsage[i].argvIndex = ++values_;
    left_ *= comparison->left;
    is_lookup_ = is_lookup_ ||
                 (!is_label && comparison->sql == "=" && table_.table.columns[column - table_.labels()].name == "id");
    text_ += fmt::format("\n{} {} {}", column, static_cast<int>(comparison->code), is_list ? 1 : 0);
  }

  const TableOfSet& table_;
  sqlite3_index_info* info_;
  std::string text_;
  int values_ = 0;
  double left_ = 1;
  bool is_lookup_ = false;
};

std::string TableOfSet::declaration() const {
  std::vector<std::string> list;
  for (const auto& label : source.set.label_columns())
    list.push_back(quoted_name(label.name) + ' ' + std::string(label.type));
  for (const auto& column : table.columns) list.push_back(quoted_name(column.name) + ' ' + column.type);
  return fmt::format("CREATE TABLE t ({})", fmt::join(list, ", "));
}

int TableOfSet::plan(sqlite3_index_info& info) {
  const SetPlan made(*this, info);
  return SQLITE_OK;
}

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

// What the members are asked for a statement whose plan SetPlan wrote.
class MemberQuery {
 public:
  MemberQuery(const TableOfSet& of, const char* plan, std::span<sqlite3_value*> values)
      : labels_(of.labels()), table_(of.table) {
    std::istringstream lines(plan);
    std::string columns, order, line;
    std::getline(lines, columns);
    std::getline(lines, order);
    for (std::size_t i = 0; std::getline(lines, line); ++i) add_condition(line, values[i]);
    select(columns);
    query.sql += where_ + order_by(order);
  }

  SetQuery query;
  std::vector<int> places;  // of the columns behind the labels in its rows; -1: not read

 private:
  [[nodiscard]] std::string from() const { return table_.source.empty() ? quoted_name(table_.name) : table_.source; }

  void select(const std::string& line) {
    std::istringstream words(line);
    std::string kind, list;
    words >> kind;
    places.assign(table_.columns.size(), -1);
    for (std::size_t column = 0; words >> column;) {
      places[column] = static_cast<int>(query.columns++);
      list += (list.empty() ? "" : ", ") + quoted_name(table_.columns[column].name);
    }
    query.sql = fmt::format("SELECT {}{} FROM {}", kind == "distinct" && !list.empty() ? "DISTINCT " : "",
                            list.empty() ? "count(*)" : list, from());
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
    if (column < labels_) {
      query.conditions.push_back({column, comparison.sql, std::move(*values)});
    } else {
      add_comparison(quoted_name(table_.columns[column - labels_].name), comparison, value, *values, is_list != 0);
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
      query.values.push_back(std::move(one));
      marks.push_back(fmt::format("?{}", query.values.size()));
    }
    add_term(is_list ? fmt::format("{} IN ({})", name, fmt::join(marks, ", "))
                     : fmt::format("{} {} {}", name, comparison.sql, marks[0]));
  }

  void add_term(const std::string& term) { where_ += (where_.empty() ? " WHERE " : " AND ") + term; }

  const std::size_t labels_;
  const SetTable& table_;
  std::string where_;
};

class SetCursor : public VirtualCursor {
 public:
  void first(TableOfSet& table, int, const char* plan, std::span<sqlite3_value*> values) {
    MemberQuery made(table, plan, values);
    places_ = std::move(made.places);
    scan_.reset();
    scan_.emplace(table.source.set, std::move(made.query));
    next(table);
  }

  void next(TableOfSet&) {
    ++row_;
    at_end_ = true;  // also where the next row cannot be had
    at_end_ = !scan_->next();
  }

  [[nodiscard]] bool at_end() const { return at_end_; }

  void give(TableOfSet& table, sqlite3_context* result, int column) {
    const auto index = static_cast<std::size_t>(column);
    if (index < table.labels()) {
      scan_->give_label(result, index);
    } else if (const int place = places_[index - table.labels()]; place >= 0) {
      scan_->give_cell(result, static_cast<std::size_t>(place));
    }
  }

  [[nodiscard]] std::int64_t rowid() const { return row_; }

 private:
  std::optional<SetScan> scan_;
  std::vector<int> places_;  // of the table's columns in the rows of the scan; -1: not read
  bool at_end_ = true;
  std::int64_t row_ = 0;
};

constexpr sqlite3_module kTableOfAll = TableModule<TableOfSet, SetCursor>::eponymous();
constexpr sqlite3_module kTableOfSchema = TableModule<TableOfSet, SetCursor>::creatable();

}  // namespace

SetTable describe_table(Database& database, const std::string& name) {
  SetTable table{name, {}, {}};
  Statement columns(database, "SELECT name, type FROM pragma_table_info(?1) ORDER BY cid", name);
  while (columns.step()) table.columns.push_back({std::string(columns.text(0)), std::string(columns.text(1))});
  return table;
}

SetTable describe_table_function(Database& database, const std::string& name) {
  SetTable table = describe_table(database, name);
  table.source = "temp." + quoted_name(name);
  return table;
}

void add_table_of_all(Database& database, DatabaseSet& set, const SetTable& table) {
  const std::string name = "all_" + table.name;
  auto source = std::make_unique<SetSource>(SetSource{database, set, {}});
  source->tables.emplace(name, table);
  database.know(*source);
  add_module(database, name, kTableOfAll, std::move(source));
  const Statement declared(database, "SELECT 1 FROM temp." + quoted_name(name));  // as in table_function.cc
}

void add_schema(Database& database, DatabaseSet& set, const std::string& name, std::span<const SetTable> tables) {
  auto source = std::make_unique<SetSource>(SetSource{database, set, {}});
  std::string sql =
      fmt::format("ATTACH 'file:schema?mode=memory' AS {};", quoted_name(name));  // ':memory:' is read-only here
  const std::string module = "schema " + name;
  for (const SetTable& table : tables) {
    source->tables.emplace(table.name, table);
    sql += fmt::format("CREATE VIRTUAL TABLE {}.{} USING {};", quoted_name(name), quoted_name(table.name),
                       quoted_name(module));
  }
  database.know(*source);
  add_module(database, module, kTableOfSchema, std::move(source));
  database.execute(fmt::format("PRAGMA query_only=OFF; {} PRAGMA query_only=ON", sql));
}

void pass_conditions(const Database& database, bool passes) {
  for (SetSource* const source : database.sources<SetSource>()) source->passes_conditions = passes;
}

bool has_sets(const Database& database) { return !database.sources<SetSource>().empty(); }

}  // namespace tracedb
