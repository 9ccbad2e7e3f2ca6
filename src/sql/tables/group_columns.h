// GROUP BY column / 1000 without a sort. SQLite sorts the rows for GROUP BY an expression, which costs several times
// what the rest of the statement does, where for a column of column_table.h it is told that rows come in order. So the
// values of the expression become a spare column of the table, and the statement groups by that: its groups, rows and
// names of columns stay what they are.
#pragma once

#include <string>
#include <string_view>

#include "sql/database.h"

namespace tracedb {

// The same statement, grouped by spare columns; "": it is none of these, or there is nothing to gain. It must be one
// that SQLite has accepted. `view` is one that a column table stands for.
//
//   statement   SELECT item, ... FROM view [[AS] name] [WHERE ...] GROUP BY term, ... [HAVING ...] [ORDER BY ...] ...
//   term        value, or the number or name of an item that is: value [AS name]
//   value       [view.]column [op number]; op: / % < <= > >= =; the column has whole numbers only
//
// A statement with names in quotes, comments or another SELECT is none of these. The spare columns are those of the
// statement until the next call.
std::string with_group_columns(Database& database, std::string_view statement);

}  // namespace tracedb
