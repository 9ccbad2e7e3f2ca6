// Whether an index has the tables, views and indexes that this version makes, by the text of each. Others may have
// changed the file: a view in the place of a table can run for ever, and any other name can stand for anything.
#pragma once

#include <string>

struct sqlite3;

namespace tracedb {

// The first difference found, as "view kernels is not as this version makes it"; empty: none. Takes some 0.1 ms.
std::string schema_difference(sqlite3* handle);

}  // namespace tracedb
