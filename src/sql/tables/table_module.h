// A table of SQLite whose rows C++ gives: a module (https://sqlite.org/vtab.html) made of two classes, so that SQLite's
// callbacks, ownership and failures are written once.
//
//   Table    derives from VirtualTable<Source>; a Source has a member `database` and outlives its tables
//     static std::unique_ptr<Table> find(Source&, std::string_view name);   null: there is no such table
//     std::string declaration() const;                    CREATE TABLE ...
//     int plan(sqlite3_index_info&);                      xBestIndex: SQLITE_OK, or SQLITE_CONSTRAINT
//   Cursor   derives from VirtualCursor
//     void first(Table&, int number, const char* text, std::span<sqlite3_value*>);   xFilter
//     void next(Table&);
//     bool at_end() const;
//     void give(Table&, sqlite3_context*, int column);    no call: NULL
//     std::int64_t rowid() const;
//
// Nothing that C++ throws passes through SQLite: the statement fails, and Statement::step() then throws it.
#pragma once

#include <sqlite3.h>

#include <memory>
#include <span>
#include <string>

#include "base/failure.h"
#include "sql/database.h"

namespace tracedb {

template <class Source_>
struct VirtualTable : sqlite3_vtab {
  using Source = Source_;
  explicit VirtualTable(Source& from) : sqlite3_vtab{}, source(from) {}
  Source& source;
};

struct VirtualCursor : sqlite3_vtab_cursor {
  VirtualCursor() : sqlite3_vtab_cursor{} {}
};

template <class Table, class Cursor>
class TableModule {
 public:
  // A table that is there under its own name, and cannot be made under another.
  static constexpr sqlite3_module eponymous() {
    sqlite3_module module{};
    module.iVersion = 1;
    module.xConnect = connect;
    module.xBestIndex = best_index;
    module.xDisconnect = disconnect;
    module.xOpen = open;
    module.xClose = close;
    module.xFilter = first;
    module.xNext = next;
    module.xEof = at_end;
    module.xColumn = give;
    module.xRowid = rowid;
    return module;
  }

  // Tables that CREATE VIRTUAL TABLE makes, by their names.
  static constexpr sqlite3_module creatable() {
    sqlite3_module module = eponymous();
    module.xCreate = create;
    module.xDestroy = disconnect;
    return module;
  }

 private:
  static Table& of(sqlite3_vtab* table) { return *static_cast<Table*>(table); }
  static Cursor& of(sqlite3_vtab_cursor* cursor) { return *static_cast<Cursor*>(cursor); }
  static Table& table_of(sqlite3_vtab_cursor* cursor) { return of(cursor->pVtab); }

  template <class Work>
  static int guarded(Table& table, Work work) {
    const auto failure = catch_error(work);
    if (!failure) return SQLITE_OK;
    Database& database = table.source.database;
    database.keep_failure(*failure);
    sqlite3_free(table.zErrMsg);
    table.zErrMsg = sqlite3_mprintf("%s", database.failure_text(*failure).c_str());
    return SQLITE_ERROR;
  }

  static int connect(sqlite3* handle, void* source, int, const char* const* words, sqlite3_vtab** out, char**) {
    int code = SQLITE_ERROR;
    const auto failure = catch_error([&] {
      std::unique_ptr<Table> table = Table::find(*static_cast<typename Table::Source*>(source), words[2]);
      if (table) code = sqlite3_declare_vtab(handle, table->declaration().c_str());
      if (code != SQLITE_OK) return;
      sqlite3_vtab_config(handle, SQLITE_VTAB_INNOCUOUS);  // temporary views select from it
      *out = table.release();
    });
    return failure ? SQLITE_NOMEM : code;
  }

  // Not the same function: a module whose two are the same would also be a table by its own name.
  static int create(sqlite3* handle, void* source, int count, const char* const* words, sqlite3_vtab** out,
                    char** message) {
    return connect(handle, source, count, words, out, message);
  }

  static int disconnect(sqlite3_vtab* table) {
    const std::unique_ptr<Table> owned(&of(table));
    return SQLITE_OK;
  }

  static int best_index(sqlite3_vtab* table, sqlite3_index_info* info) {
    int code = SQLITE_OK;
    const int failed = guarded(of(table), [&] { code = of(table).plan(*info); });
    return failed != SQLITE_OK ? failed : code;
  }

  static int open(sqlite3_vtab*, sqlite3_vtab_cursor** cursor) {
    return catch_error([&] { *cursor = std::make_unique<Cursor>().release(); }) ? SQLITE_NOMEM : SQLITE_OK;
  }

  static int close(sqlite3_vtab_cursor* cursor) {
    const std::unique_ptr<Cursor> owned(&of(cursor));
    return SQLITE_OK;
  }

  static int first(sqlite3_vtab_cursor* cursor, int number, const char* text, int count, sqlite3_value** values) {
    const std::span all(values, static_cast<std::size_t>(count));
    return guarded(table_of(cursor), [&] { of(cursor).first(table_of(cursor), number, text, all); });
  }

  static int next(sqlite3_vtab_cursor* cursor) {
    return guarded(table_of(cursor), [&] { of(cursor).next(table_of(cursor)); });
  }

  static int at_end(sqlite3_vtab_cursor* cursor) { return of(cursor).at_end() ? 1 : 0; }

  static int give(sqlite3_vtab_cursor* cursor, sqlite3_context* result, int column) {
    return guarded(table_of(cursor), [&] { of(cursor).give(table_of(cursor), result, column); });
  }

  static int rowid(sqlite3_vtab_cursor* cursor, sqlite3_int64* id) {
    *id = of(cursor).rowid();
    return SQLITE_OK;
  }
};

// Makes a module known to `database`, and gives it its source. Where there is a forget(Source), it is called before the
// source goes: with the connection, or at once where this throws.
template <class Source>
void add_module(Database& database, const std::string& name, const sqlite3_module& module,
                std::unique_ptr<Source> source) {
  const auto destroy = [](void* owned) {
    const std::unique_ptr<Source> owner(static_cast<Source*>(owned));
    if constexpr (requires { forget(*owner); }) forget(*owner);
  };
  const int code = sqlite3_create_module_v2(database.handle(), name.c_str(), &module, source.release(), destroy);
  if (code != SQLITE_OK) database.fail(code, "cannot add a table");
}

}  // namespace tracedb
