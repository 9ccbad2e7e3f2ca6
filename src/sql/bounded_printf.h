// SQLite's printf() and format(), with widths and precisions bounded: SQLite pads character by character, which takes
// seconds for a width of a billion, and then returns NULL because no text may be that long.
#pragma once

#include "sql/database.h"

namespace tracedb {

// For statements of this database from now on: what would be longer than `longest` bytes is an error at once.
void register_bounded_printf(Database& database, int longest);

}  // namespace tracedb
