// SQLite's interface, for src/sql alone. The programs call the library that they are linked with. The extension
// (sql/host/host_sqlite.h) is compiled from the same sources to call the SQLite that loaded it, by the table of
// functions it was given: that of a host may be linked statically, and a second one in a process would take away the
// file locks of the first.
#pragma once

#ifdef TRACEDB_SQLITE_OF_HOST
#include <sqlite3ext.h>
extern const sqlite3_api_routines* sqlite3_api;  // the name that the macros of sqlite3ext.h use
#else
#include <sqlite3.h>
#endif
