// GROUP BY an expression without a sort. SQLite sorts the rows for `GROUP BY dur / 1000`, which costs several times
// what the rest of the statement does, where for a column of column_table.h it is told that rows come in order. So the
// values of the expression become a spare column of the table, and the statement groups by that: its groups, rows and
// names of columns stay what they are.
#pragma once

#include <string>
#include <string_view>

#include "sql/database.h"

namespace tracedb {

// The same statement, grouped by spare columns; "": there is nothing to gain. It must be one that SQLite has accepted.
// Done for a SELECT of one view that a column table stands for, grouped by columns and by arithmetic or comparisons of
// whole numbers alone (number_expression.h). The spare columns are those of the statement until the next call.
std::string with_group_columns(Database& database, std::string_view statement);

}  // namespace tracedb
