#include "sql/tables/column_table.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/failure.h"
#include "base/unknown.h"
#include "sql/sqlite.h"
#include "sql/tables/column_plan.h"

namespace tracedb {
namespace {

struct Table : sqlite3_vtab {
  explicit Table(ColumnTableSource& from) : sqlite3_vtab{}, source(from) {}
  ColumnTableSource& source;
};

// A column as a cursor reads it: as it is, or gathered in the order of the rows.
struct Reader {
  const ArrayColumn* column = nullptr;  // null: not read so far
  bool gathered = false;
  LargeVector<std::int64_t> numbers;
  LargeVector<std::uint32_t> places;
};

struct Cursor : sqlite3_vtab_cursor {
  Cursor() : sqlite3_vtab_cursor{} {}
  std::size_t at = 0;
  RowList rows;
  std::uint64_t to_gather = 0;  // columns, once many rows were read
  std::vector<Reader> readers;  // by column
};

Cursor& of(sqlite3_vtab_cursor* cursor) { return *static_cast<Cursor*>(cursor); }
ColumnTableSource& source_of(sqlite3_vtab_cursor* cursor) { return static_cast<Table*>(cursor->pVtab)->source; }

// Whatever C++ throws must not pass through SQLite: the statement fails and then throws it.
template <class Work>
int guarded(sqlite3_vtab* table, Work work) {
  Database& database = static_cast<Table*>(table)->source.database;
  const auto failure = catch_error(work);
  if (!failure) return SQLITE_OK;
  database.keep_failure(*failure);
  sqlite3_free(table->zErrMsg);
  table->zErrMsg = sqlite3_mprintf("%s", database.failure_text(*failure).c_str());
  return SQLITE_ERROR;
}

int connect(sqlite3* handle, void* source, int, const char* const*, sqlite3_vtab** table, char**) {
  auto& from = *static_cast<ColumnTableSource*>(source);
  const int code = sqlite3_declare_vtab(handle, from.declaration.c_str());
  if (code != SQLITE_OK) return code;
  sqlite3_vtab_config(handle, SQLITE_VTAB_INNOCUOUS);  // temporary views select from it
  return catch_error([&] { *table = std::make_unique<Table>(from).release(); }) ? SQLITE_NOMEM : SQLITE_OK;
}

int disconnect(sqlite3_vtab* table) {
  const std::unique_ptr<Table> owned(static_cast<Table*>(table));
  return SQLITE_OK;
}

int best_index(sqlite3_vtab* table, sqlite3_index_info* info) {
  ColumnTableSource& source = static_cast<Table*>(table)->source;
  return guarded(table, [&] { decide_plan(source, *info); });
}

int open_cursor(sqlite3_vtab*, sqlite3_vtab_cursor** cursor) {
  return catch_error([&] { *cursor = std::make_unique<Cursor>().release(); }) ? SQLITE_NOMEM : SQLITE_OK;
}

int close_cursor(sqlite3_vtab_cursor* cursor) {
  const std::unique_ptr<Cursor> owned(static_cast<Cursor*>(cursor));
  return SQLITE_OK;
}

template <class T>
void gather(std::span<const T> from, const RowList& rows, LargeVector<T>& to) {
  to.resize(rows.count);
  for (std::size_t i = 0; i < rows.count; ++i) to[i] = from[rows.rows[i]];
}

// Copies the columns that are read into the order of the rows: one value at a time from all over an array takes several
// times as long.
void gather_columns(ColumnTableSource& source, Cursor& cursor) {
  for (std::size_t c = 0; c < cursor.readers.size(); ++c) {
    if (c >= kUsedColumns || (cursor.to_gather >> c & 1) == 0) continue;
    Reader& reader = cursor.readers[c];
    reader.column = &source.column(static_cast<int>(c));
    reader.gathered = true;
    if (reader.column->has_numbers()) {
      gather(reader.column->numbers(), cursor.rows, reader.numbers);
    } else {
      gather(reader.column->places(), cursor.rows, reader.places);
    }
  }
}

int first_row(sqlite3_vtab_cursor* base, int number, const char*, int, sqlite3_value** values) {
  ColumnTableSource& source = source_of(base);
  Cursor& cursor = of(base);
  return guarded(base->pVtab, [&] {
    const Plan& plan = source.plans.at(static_cast<std::size_t>(number));
    cursor.at = 0;
    cursor.readers.clear();
    cursor.readers.resize(source.names.size());
    find_rows(source, plan, values, cursor.rows);
    cursor.to_gather = plan.order.empty() || !cursor.rows.listed ? 0 : plan.used;
  });
}

int next_row(sqlite3_vtab_cursor* base) {
  constexpr std::size_t kManyRows = 1000;
  Cursor& cursor = of(base);
  if (++cursor.at != kManyRows || cursor.to_gather == 0) return SQLITE_OK;
  return guarded(base->pVtab, [&] { gather_columns(source_of(base), cursor); });
}

int is_behind_last(sqlite3_vtab_cursor* cursor) { return of(cursor).at >= of(cursor).rows.count ? 1 : 0; }

void give_value(sqlite3_context* result, const ArrayValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    sqlite3_result_text64(result, text->data(), text->size(), SQLITE_STATIC, SQLITE_UTF8);
  } else if (const auto* number = std::get_if<std::int64_t>(&value)) {
    sqlite3_result_int64(result, *number);
  } else if (const auto* real = std::get_if<double>(&value)) {
    sqlite3_result_double(result, *real);
  }
}

int give_cell(sqlite3_vtab_cursor* base, sqlite3_context* result, int column) {
  Cursor& cursor = of(base);
  Reader& reader = cursor.readers[static_cast<std::size_t>(column)];
  if (reader.column == nullptr) {
    ColumnTableSource& source = source_of(base);
    const int code = guarded(base->pVtab, [&] { reader.column = &source.column(column); });
    if (code != SQLITE_OK) return code;
  }
  const ArrayColumn& from = *reader.column;
  if (from.has_numbers()) {
    const std::int64_t number = reader.gathered ? reader.numbers[cursor.at] : from.numbers()[cursor.rows[cursor.at]];
    if (number == kUnknownValue) return SQLITE_OK;
    if (from.kind() == ArrayColumn::Kind::kNumbers) {
      sqlite3_result_int64(result, number);
    } else {
      sqlite3_result_double(result, thousandth(number));
    }
    return SQLITE_OK;
  }
  const std::uint32_t place = reader.gathered ? reader.places[cursor.at] : from.places()[cursor.rows[cursor.at]];
  if (from.kind() == ArrayColumn::Kind::kValues) {
    give_value(result, from.values()[place]);
  } else if (place != 0) {
    sqlite3_result_int64(result, place);
  }
  return SQLITE_OK;
}

int give_rowid(sqlite3_vtab_cursor* cursor, sqlite3_int64* id) {
  *id = static_cast<sqlite3_int64>(of(cursor).rows[of(cursor).at]) + 1;
  return SQLITE_OK;
}

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

void add_column_table(Database& database, std::string_view name, std::span<const TableColumn> columns,
                      ColumnSource from, std::string_view view) {
  std::string list;
  auto source = std::make_unique<ColumnTableSource>(ColumnTableSource{
      database, std::string(name), std::string(view), {}, {}, {}, std::move(from), {}, {}, {}, {}, {}});
  for (const TableColumn& column : columns) {
    list +=
        fmt::format("{}\"{}\" {}", list.empty() ? "" : ", ", column.name, column.untyped ? "" : to_string(column.type));
    source->names.emplace_back(column.name);
    source->types.push_back(column.type);
  }
  for (std::size_t i = 0; i < kSpareColumns; ++i) {
    source->names.push_back(spare_name(i));
    source->types.push_back(ColumnType::kInteger);
    list += fmt::format(", \"{}\" HIDDEN", spare_name(i));
  }
  source->declaration = fmt::format("CREATE TABLE {} ({})", name, list);
  source->columns.resize(source->names.size());
  source->rows_by_key.resize(source->names.size());
  source->lookups.resize(source->names.size());
  ColumnTableSource& table = *source;
  const auto forget_table = [](void* owned) {
    const std::unique_ptr<ColumnTableSource> owner(static_cast<ColumnTableSource*>(owned));
    forget(*owner);
  };
  const int code =
      sqlite3_create_module_v2(database.handle(), std::string(name).c_str(), &kModule, source.release(), forget_table);
  if (code != SQLITE_OK) database.fail(code, "cannot add a table of columns");
  if (!view.empty()) know(table);
  // Declares the columns, which SqlGuard does not allow later.
  database.query_int64(fmt::format("SELECT count(*) FROM pragma_table_info('{}')", name));
}

}  // namespace tracedb
