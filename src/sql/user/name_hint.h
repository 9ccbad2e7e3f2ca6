// What a user may have meant by a name that SQLite does not know.
#pragma once

#include <string>
#include <string_view>

#include "sql/database.h"

namespace tracedb {

// To be appended to SQLite's message about `statement`: "; a column of kernels, launches" for a column of other tables
// than those the statement names; "; did you mean 'dur'?" for another name that does not exist, of a table, of a column
// of the tables that the statement names, or of a function; else nothing.
std::string name_hint(Database& database, std::string_view statement, std::string_view message);

}  // namespace tracedb
