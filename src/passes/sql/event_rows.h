// The tables kernel_rows and launch_rows of trace-query sql: what the views kernels and launches show of each kernel
// and of each launch of one, as arrays (sql/tables/column_table.h). A column is made when a statement first needs it
// (kernel_rows.h).
#pragma once

#include <string_view>

#include "passes/select/workload.h"

namespace tracedb {

// `prefix` goes before both names, where one connection has several indexes: the tables are those of the workload's
// index, whatever `database` is open on. What is asked for the workload must outlive the last statement of `database`;
// where there is none to ask, the tables have no rows.
void add_event_rows(Database& database, std::string_view prefix, const WorkloadSource& workload);

}  // namespace tracedb
