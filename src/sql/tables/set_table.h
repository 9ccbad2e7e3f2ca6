// Tables that a connection reads from other databases: "all_kernels" of every database of a set, and the tables of one
// as a schema ("b.kernels"). The rows come from statements on connections of their own (set_scan.h), which get the
// conditions that a statement fixes and yield only the columns it reads.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sql/tables/database_set.h"

namespace tracedb {

struct SetTable {
  struct ColumnOfMember {
    std::string name, type;  // the type as declared there; "": none
  };
  std::string name;
  std::string source;  // what a statement on a member selects from; "": the name
  std::vector<ColumnOfMember> columns;
};

// The columns of a table or view of a connection, as it finds it by this name.
SetTable describe_table(Database& database, const std::string& name);
// The same of a table function (table_function.h), which names itself such that a schema's table of its name is not
// meant.
SetTable describe_table_function(Database& database, const std::string& name);

// "all_NAME": rows of all databases, with the set's labels before the columns. The set must outlive the connection's
// last statement.
void add_table_of_all(Database& database, DatabaseSet& set, const SetTable& table);

// Schema `name` with these tables of the set's only database. Error{kUsage} where SQLite has no room for more schemas.
void add_schema(Database& database, DatabaseSet& set, const std::string& name, std::span<const SetTable> tables);

}  // namespace tracedb
