// Checks that an index has exactly the tables, views and indexes that this version makes, by the text of each. Another
// program may have changed the file: a view in place of a table could run for ever.
#pragma once

#include <string>

struct sqlite3;

namespace tracedb {

// The first difference found, as "view kernels is not as this version makes it"; empty: none. Takes some 0.1 ms.
std::string schema_difference(sqlite3* handle);

}  // namespace tracedb
