// printf() and format() as SQLite has them, but without what takes long for nothing: SQLite writes a width or precision
// out character by character, for seconds where it is a billion, and then answers NULL, because no text may be so long.
#pragma once

#include "sql/database.h"

namespace tracedb {

// For statements of this database from now on: what would be longer than `longest` bytes is an error at once.
void register_bounded_printf(Database& database, int longest);

}  // namespace tracedb
