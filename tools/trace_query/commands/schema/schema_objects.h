// What `trace-query schema` lists: tables, views, passes, functions and reports, each followed by its columns.
#pragma once

#include <string>
#include <vector>

#include "report/sql_report.h"
#include "sql/database.h"

namespace tracedb {

// Columns: type, object, column, data_type, unit, comment and, with an index, rows. `only`: one object; "": all.
Report schema_objects(const std::string& only, Database* index);

std::vector<std::string> schema_object_names();

}  // namespace tracedb
