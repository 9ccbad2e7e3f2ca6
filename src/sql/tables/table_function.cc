#include "sql/tables/table_function.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>

#include "base/failure.h"
#include "base/saturating.h"
#include "sql/sqlite.h"

namespace tracedb {
namespace {

// One table of one connection.
struct Source {
  Database& database;
  std::string declaration;
  std::size_t columns;
  FillTable fill;
  std::vector<RowOrder> order;
  std::shared_ptr<const TableRows> rows;

  const std::shared_ptr<const TableRows>& filled(std::uint64_t used, std::size_t most) {
    if (!rows || !rows->serve(used, most)) {
      auto fresh = std::make_shared<TableRows>(columns, rows ? used | rows->used() : used, most);
      fill(*fresh);
      if (!fresh->is_whole()) throw std::logic_error("a row without all of its cells: " + declaration);
      rows = std::move(fresh);
    }
    return rows;
  }
};

struct Table : sqlite3_vtab {
  explicit Table(Source& from) : sqlite3_vtab{}, source(from) {}
  Source& source;
};

struct Cursor : sqlite3_vtab_cursor {
  Cursor() : sqlite3_vtab_cursor{} {}
  std::shared_ptr<const TableRows> rows;
  std::size_t row = 0;
};

Cursor& of(sqlite3_vtab_cursor* cursor) { return *static_cast<Cursor*>(cursor); }

int connect(sqlite3* handle, void* source, int, const char* const*, sqlite3_vtab** table, char**) {
  auto& from = *static_cast<Source*>(source);
  const int code = sqlite3_declare_vtab(handle, from.declaration.c_str());
  if (code != SQLITE_OK) return code;
  sqlite3_vtab_config(handle, SQLITE_VTAB_INNOCUOUS);  // temporary views select from it
  return catch_error([&] { *table = std::make_unique<Table>(from).release(); }) ? SQLITE_NOMEM : SQLITE_OK;
}

int disconnect(sqlite3_vtab* table) {
  const std::unique_ptr<Table> owned(static_cast<Table*>(table));
  return SQLITE_OK;
}

bool is_own_order(const sqlite3_index_info& plan, const std::vector<RowOrder>& order) {
  const std::span wanted(plan.aOrderBy, static_cast<std::size_t>(plan.nOrderBy));
  return wanted.size() <= order.size() &&
         std::equal(wanted.begin(), wanted.end(), order.begin(), [](const auto& a, const RowOrder& b) {
           return a.iColumn == static_cast<int>(b.column) && (a.desc != 0) == b.descending;
         });
}

// Where rows come in the order that is asked for, and nothing but LIMIT and OFFSET is said of them, their values are
// arguments of first_row().
void pass_limit(sqlite3_index_info& plan) {
  int limit = -1, offset = -1;
  for (int i = 0; i < plan.nConstraint; ++i) {
    const auto& constraint = plan.aConstraint[i];
    if (constraint.op == SQLITE_INDEX_CONSTRAINT_LIMIT && constraint.usable != 0) {
      limit = i;
    } else if (constraint.op == SQLITE_INDEX_CONSTRAINT_OFFSET && constraint.usable != 0) {
      offset = i;
    } else {
      return;
    }
  }
  if (limit < 0) return;
  plan.aConstraintUsage[limit].argvIndex = 1;
  if (offset >= 0) plan.aConstraintUsage[offset].argvIndex = 2;
}

int best_index(sqlite3_vtab* table, sqlite3_index_info* plan) {
  constexpr double kScan = 1e6;  // rather than as the inner of two loops
  const std::vector<RowOrder>& order = static_cast<Table*>(table)->source.order;
  plan->estimatedCost = kScan;
  constexpr sqlite3_uint64 kMostBits = std::numeric_limits<int>::max();
  plan->idxNum = plan->colUsed <= kMostBits ? static_cast<int>(plan->colUsed) : -1;  // -1: any
  if (order.empty() || !is_own_order(*plan, order)) return SQLITE_OK;
  plan->orderByConsumed = plan->nOrderBy > 0 ? 1 : 0;
  pass_limit(*plan);
  return SQLITE_OK;
}

int open_cursor(sqlite3_vtab*, sqlite3_vtab_cursor** cursor) {
  return catch_error([&] { *cursor = std::make_unique<Cursor>().release(); }) ? SQLITE_NOMEM : SQLITE_OK;
}

int close_cursor(sqlite3_vtab_cursor* cursor) {
  const std::unique_ptr<Cursor> owned(static_cast<Cursor*>(cursor));
  return SQLITE_OK;
}

// Of LIMIT and OFFSET; 0: all.
std::size_t most_rows(std::span<sqlite3_value*> values) {
  if (values.empty() || sqlite3_value_int64(values[0]) < 0) return 0;
  const std::int64_t limit = std::max<std::int64_t>(sqlite3_value_int64(values[0]), 1);
  const std::int64_t offset = values.size() < 2 ? 0 : std::max<std::int64_t>(sqlite3_value_int64(values[1]), 0);
  return static_cast<std::size_t>(saturating_add(limit, offset));
}

int first_row(sqlite3_vtab_cursor* cursor, int used, const char*, int count, sqlite3_value** values) {
  Source& source = static_cast<Table*>(cursor->pVtab)->source;
  of(cursor).row = 0;
  const auto failure = catch_error([&] {
    of(cursor).rows = source.filled(used < 0 ? TableRows::kAllColumns : static_cast<std::uint64_t>(used),
                                    most_rows(std::span(values, static_cast<std::size_t>(count))));
  });
  if (!failure) return SQLITE_OK;
  source.database.keep_failure(*failure);
  sqlite3_free(cursor->pVtab->zErrMsg);
  cursor->pVtab->zErrMsg = sqlite3_mprintf("%s", source.database.failure_text(*failure).c_str());
  return SQLITE_ERROR;
}

int next_row(sqlite3_vtab_cursor* cursor) {
  ++of(cursor).row;
  return SQLITE_OK;
}

int is_behind_last(sqlite3_vtab_cursor* cursor) { return of(cursor).row >= of(cursor).rows->size() ? 1 : 0; }

int give_cell(sqlite3_vtab_cursor* cursor, sqlite3_context* result, int column) {
  const TableRows& rows = *of(cursor).rows;
  const TableRows::Cell& cell = rows.cell(of(cursor).row, static_cast<std::size_t>(column));
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) {
    sqlite3_result_int64(result, *integer);
  } else if (const auto* real = std::get_if<double>(&cell)) {
    sqlite3_result_double(result, *real);
  } else if (const auto* place = std::get_if<TableRows::Text>(&cell)) {
    const std::string& text = rows.text(*place);
    sqlite3_result_text64(result, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
  }
  return SQLITE_OK;
}

int give_rowid(sqlite3_vtab_cursor* cursor, sqlite3_int64* id) {
  *id = static_cast<sqlite3_int64>(of(cursor).row) + 1;
  return SQLITE_OK;
}

// Without xCreate: a table that is there under its own name, and cannot be made under another.
constexpr sqlite3_module kModule = [] {
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

}  // namespace

std::string_view to_string(ColumnType type) {
  constexpr std::array<std::string_view, 3> kNames = {"INTEGER", "REAL", "TEXT"};
  return kNames.at(static_cast<std::size_t>(type));
}

bool TableRows::wants(std::size_t column) const {
  constexpr std::size_t kLastBit = 63;
  const bool wanted = used_ >> std::min(column, kLastBit) != 0;
  lacks_columns_ = lacks_columns_ || !wanted;
  return wanted;
}

std::size_t TableRows::most() const {
  lacks_rows_ = most_ != 0;
  return most_;
}

bool TableRows::serve(std::uint64_t used, std::size_t most) const {
  return (!lacks_columns_ || (used & ~used_) == 0) && (!lacks_rows_ || (most != 0 && most <= most_));
}

TableRows& TableRows::add(std::string_view value) {
  auto known = places_.find(value);
  if (known == places_.end()) {
    known = places_.emplace(std::string(value), static_cast<std::uint32_t>(texts_.size())).first;
    texts_.push_back(&known->first);
  }
  cells_.emplace_back(Text{known->second});
  return *this;
}

void add_table_function(Database& database, std::string_view name, std::span<const TableColumn> columns, FillTable fill,
                        std::vector<RowOrder> order) {
  std::string list;
  for (const TableColumn& column : columns) {
    list += fmt::format("{}\"{}\" {}", list.empty() ? "" : ", ", column.name, to_string(column.type));
  }
  auto source = std::make_unique<Source>(Source{database,
                                                fmt::format("CREATE TABLE {} ({})", name, list),
                                                columns.size(),
                                                std::move(fill),
                                                std::move(order),
                                                {}});
  const auto forget = [](void* owned) { std::unique_ptr<Source>(static_cast<Source*>(owned)).reset(); };
  const int code =
      sqlite3_create_module_v2(database.handle(), std::string(name).c_str(), &kModule, source.release(), forget);
  if (code != SQLITE_OK) database.fail(code, "cannot add a table function");
  // Declares the columns, which SqlGuard does not allow later.
  const Statement declared(database, fmt::format("SELECT 1 FROM temp.{}", name));
}

}  // namespace tracedb
