// The tables of schema/packed.sql for SQL: virtual tables over the packed columns, each column unpacked when a
// statement first needs it (sql/tables/column_table.h), and the calls that are open at a moment.
#pragma once

#include <functional>

#include "sql/database.h"
#include "sql/tables/table_function.h"
#include "sql/user/functions.h"

namespace tracedb {

// For statements of `database`: python_call, flow_unmatched, memory_event and python_calls_at(thread_id, ts), the calls
// of a thread that have begun by `ts` and end later, outermost first, by the ids in python_call. `source` gives the
// open index that they are read from; where it is empty, they have no rows.
void add_packed_tables(Database& database, const std::function<Database&()>& source);

// Of python_calls_at().
SqlFunctionHelp packed_functions_help();

}  // namespace tracedb
