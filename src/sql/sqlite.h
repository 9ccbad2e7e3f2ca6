// SQLite's interface, for src/sql alone. The programs call the library that they are linked with. Code compiled with
// TRACEDB_SQLITE_OF_HOST runs inside another program and calls that program's SQLite, through the table of functions
// that it was loaded with: the host's may be linked statically, and a second one in a process would take away the file
// locks of the first.
#pragma once

#ifdef TRACEDB_SQLITE_OF_HOST
#include <sqlite3ext.h>
extern const sqlite3_api_routines* sqlite3_api;  // the name that the macros of sqlite3ext.h use
#else
#include <sqlite3.h>
#endif
