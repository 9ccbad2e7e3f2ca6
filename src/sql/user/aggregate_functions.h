// Aggregate SQL functions: median(), stddev(), busy_ns() and others. aggregate_functions.cc declares them.
#pragma once

#include <vector>

#include "sql/database.h"
#include "sql/sql_function.h"

namespace tracedb {

void register_aggregate_functions(Database& database);

std::vector<SqlFunctionHelp> aggregate_functions_help();

}  // namespace tracedb
