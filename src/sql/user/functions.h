// SQL functions for reports and ad-hoc SQL: percentile(), human_ns() and others; functions.cc declares them. Views
// never use them: those must work in any client.
#pragma once

#include <vector>

#include "sql/database.h"
#include "sql/sql_function.h"

namespace tracedb {

void register_functions(Database& database);

std::vector<SqlFunctionHelp> functions_help();

}  // namespace tracedb
