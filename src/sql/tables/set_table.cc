#include "sql/tables/set_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <map>
#include <memory>
#include <sstream>
#include <utility>

#include "base/failure.h"
#include "sql/sqlite.h"
#include "sql/tables/set_groups.h"
#include "sql/tables/set_query.h"
#include "sql/tables/set_scan.h"

namespace tracedb {
namespace {

constexpr double kScanCost = 1e6, kMemberCost = 1e3, kLookupCost = 10;

struct Table : sqlite3_vtab {
  Table(SetSource& from, const SetTable& of) : sqlite3_vtab{}, source(from), table(of) {}
  [[nodiscard]] std::size_t labels() const { return source.labels(); }
  SetSource& source;
  const SetTable& table;
};

struct Cursor : sqlite3_vtab_cursor {
  Cursor() : sqlite3_vtab_cursor{} {}
  std::optional<SetScan> scan;
  std::vector<int> places;  // of the table's columns in the rows of the scan; -1: not read
  bool at_end = true;
  std::int64_t row = 0;
};

Table& of(sqlite3_vtab* table) { return *static_cast<Table*>(table); }
Cursor& of(sqlite3_vtab_cursor* cursor) { return *static_cast<Cursor*>(cursor); }

std::string declaration(const SetSource& source, const SetTable& table) {
  std::vector<std::string> list;
  for (const auto& label : source.set.label_columns())
    list.push_back(quoted_name(label.name) + ' ' + std::string(label.type));
  for (const auto& column : table.columns) list.push_back(quoted_name(column.name) + ' ' + column.type);
  if (source.of_groups) {
    list.emplace_back("query HIDDEN");
    for (std::size_t i = 0; i < kMostPartials; ++i) list.push_back(quoted_name(partial_name(i)) + " HIDDEN");
  }
  return fmt::format("CREATE TABLE t ({})", fmt::join(list, ", "));
}

int connect(sqlite3* handle, void* source, int, const char* const* words, sqlite3_vtab** table, char**) {
  auto& from = *static_cast<SetSource*>(source);
  const auto found = from.tables.find(std::string_view(words[2]));
  if (found == from.tables.end()) return SQLITE_ERROR;
  const auto failure = catch_error([&] {
    *table = nullptr;
    if (sqlite3_declare_vtab(handle, declaration(from, found->second).c_str()) != SQLITE_OK) return;
    sqlite3_vtab_config(handle, SQLITE_VTAB_INNOCUOUS);
    *table = std::make_unique<Table>(from, found->second).release();
  });
  return *table != nullptr ? SQLITE_OK : failure ? SQLITE_NOMEM : SQLITE_ERROR;
}

// Not the same function: a module whose two are the same would also be a table by its own name.
int create(sqlite3* handle, void* source, int count, const char* const* words, sqlite3_vtab** table, char** message) {
  return connect(handle, source, count, words, table, message);
}

int disconnect(sqlite3_vtab* table) {
  const std::unique_ptr<Table> owned(&of(table));
  return SQLITE_OK;
}

// The plan as text, which SQLite keeps with the statement. First line: "distinct" or "all", then the columns read;
// second line: the columns by which the rows of a member come in order, each after a plus or, where they fall, a minus;
// then for each condition its column, its comparison and whether it has a list of values (IN).
class Plan {
 public:
  Plan(const Table& table, sqlite3_index_info* info) : table_(table), info_(info) {
    const int mode = sqlite3_vtab_distinct(info);
    text_ = mode == 2 || mode == 3 ? "distinct" : "all";
    for (std::size_t c = 0; c < table.table.columns.size(); ++c) {
      if (is_read(table.labels() + c)) text_ += fmt::format(" {}", c);
    }
    text_ += '\n' + order(mode);
    for (int i = 0; i < info->nConstraint; ++i) add(i);
    if (table.source.of_groups && !has_query_) throw Error(ErrorCode::kUsage, "no query of groups");
    const double members = static_cast<double>(table.source.set.size());
    info->estimatedRows = static_cast<sqlite3_int64>(kScanCost * left_) + 1;
    info->estimatedCost =
        is_lookup_ ? kLookupCost + kMemberCost * (members - 1) : kMemberCost * members + kScanCost * left_;
    info->idxStr = sqlite3_mprintf("%s", text_.c_str());
    info->needToFreeIdxStr = 1;
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
    const bool is_query = column == table_.labels() + table_.table.columns.size();
    if (column > table_.labels() + table_.table.columns.size() || (is_query && comparison->sql != "=")) return;
    has_query_ = has_query_ || is_query;
    if (!is_query && !table_.source.passes_conditions) return;
    if ((is_label && !comparison->on_labels) || std::string_view(sqlite3_vtab_collation(info_, i)) != "BINARY") return;
    const bool is_list = sqlite3_vtab_in(info_, i, 1) != 0;
    info_->aConstraintUsage[i].argvIndex = ++values_;
    info_->aConstraintUsage[i].omit = is_query ? 1 : 0;
    left_ *= comparison->left;
    is_lookup_ = is_lookup_ || (!is_label && !is_query && comparison->sql == "=" &&
                                table_.table.columns[column - table_.labels()].name == "id");
    text_ += fmt::format("\n{} {} {}", column, static_cast<int>(comparison->code), is_list ? 1 : 0);
  }

  const Table& table_;
  sqlite3_index_info* info_;
  std::string text_;
  int values_ = 0;
  double left_ = 1;
  bool is_lookup_ = false, has_query_ = false;
};

int best_index(sqlite3_vtab* table, sqlite3_index_info* info) {
  const auto failure = catch_error([&] { const Plan plan(of(table), info); });
  return !failure ? SQLITE_OK : failure->code() == ErrorCode::kUsage ? SQLITE_CONSTRAINT : SQLITE_NOMEM;
}

int open_cursor(sqlite3_vtab*, sqlite3_vtab_cursor** cursor) {
  return catch_error([&] { *cursor = std::make_unique<Cursor>().release(); }) ? SQLITE_NOMEM : SQLITE_OK;
}

int close_cursor(sqlite3_vtab_cursor* cursor) {
  const std::unique_ptr<Cursor> owned(&of(cursor));
  return SQLITE_OK;
}

int step(Cursor& cursor) {
  ++cursor.row;
  const auto failure = catch_error([&] { cursor.at_end = !cursor.scan->next(); });
  if (!failure) return SQLITE_OK;
  cursor.at_end = true;
  of(cursor.pVtab).source.database.keep_failure(*failure);
  return SQLITE_ERROR;
}

int first_row(sqlite3_vtab_cursor* base, int, const char* plan, int, sqlite3_value** values) {
  Cursor& cursor = of(base);
  Table& table = of(base->pVtab);
  const auto failure = catch_error([&] {
    MemberQuery made = make_query(table.source, table.table, plan, values);
    cursor.places = std::move(made.places);
    cursor.scan.reset();
    cursor.scan.emplace(table.source.set, std::move(made.query));
  });
  if (failure) {
    table.source.database.keep_failure(*failure);
    return SQLITE_ERROR;
  }
  return step(cursor);
}

int next_row(sqlite3_vtab_cursor* cursor) { return step(of(cursor)); }
int is_behind_last(sqlite3_vtab_cursor* cursor) { return of(cursor).at_end ? 1 : 0; }

int give_cell(sqlite3_vtab_cursor* base, sqlite3_context* result, int column) {
  Cursor& cursor = of(base);
  const std::size_t labels = of(base->pVtab).labels();
  const auto index = static_cast<std::size_t>(column);
  if (index < labels) {
    cursor.scan->give_label(result, index);
  } else if (const int place = cursor.places[index - labels]; place >= 0) {
    cursor.scan->give_cell(result, static_cast<std::size_t>(place));
  }
  return SQLITE_OK;
}

int give_rowid(sqlite3_vtab_cursor* cursor, sqlite3_int64* id) {
  *id = of(cursor).row;
  return SQLITE_OK;
}

constexpr sqlite3_module kTableOfAll = [] {
  sqlite3_module module{};
  module.iVersion = 1;
  module.xConnect = connect;
  module.xBestIndex = best_index;
  module.xDisconnect = disconnect;
  module.xOpen = open_cursor;
  module.xClose = close_cursor;
  module.xFilter = first_row;
  module.xNext = next_row;
  module.xEof = is_behind_last;
  module.xColumn = give_cell;
  module.xRowid = give_rowid;
  return module;
}();

constexpr sqlite3_module kTableOfSchema = [] {
  sqlite3_module module = kTableOfAll;
  module.xCreate = create;
  module.xDestroy = disconnect;
  return module;
}();

void add_module(Database& database, const std::string& name, const sqlite3_module& module,
                std::unique_ptr<SetSource> source) {
  const auto forget_source = [](void* owned) {
    const std::unique_ptr<SetSource> owner(static_cast<SetSource*>(owned));
    forget(*owner);
  };
  const int code = sqlite3_create_module_v2(database.handle(), name.c_str(), &module, source.release(), forget_source);
  if (code != SQLITE_OK) database.fail(code, "cannot add a table");
}

}  // namespace

SetTable describe_table(Database& database, const std::string& name) {
  SetTable table{name, {}, {}};
  Statement columns(database, "SELECT name, type FROM pragma_table_info(?1) ORDER BY cid");
  columns.bind(1, std::string_view(name));
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
  for (const bool of_groups : {false, true}) {
    auto source = std::make_unique<SetSource>(SetSource{database, set, {}, of_groups});
    const std::string module = of_groups ? groups_name(name) : name;
    source->tables.emplace(module, table);
    know(*source);
    add_module(database, module, kTableOfAll, std::move(source));
    const std::string call = of_groups ? "(0)" : "";
    const Statement declared(
        database, fmt::format("SELECT 1 FROM temp.{}{}", quoted_name(module), call));  // as in table_function.cc
  }
}

void add_schema(Database& database, DatabaseSet& set, const std::string& name, std::span<const SetTable> tables) {
  auto source = std::make_unique<SetSource>(SetSource{database, set, {}, false});
  std::string sql =
      fmt::format("ATTACH 'file:schema?mode=memory' AS {};", quoted_name(name));  // ':memory:' is read-only here
  const std::string module = "schema " + name;
  for (const SetTable& table : tables) {
    source->tables.emplace(table.name, table);
    sql += fmt::format("CREATE VIRTUAL TABLE {}.{} USING {};", quoted_name(name), quoted_name(table.name),
                       quoted_name(module));
  }
  know(*source);
  add_module(database, module, kTableOfSchema, std::move(source));
  database.execute(fmt::format("PRAGMA query_only=OFF; {} PRAGMA query_only=ON", sql));
}

}  // namespace tracedb
