// What a query answers, as text a test can compare.
#pragma once

#include <string>
#include <string_view>

#include "sql/database.h"

namespace tracedb {

// Rows of a query: cells joined by a blank, NULL as "-", rows joined by "; ".
inline std::string rows_of(Database& database, std::string_view sql) {
  Statement statement(database, sql);
  std::string out;
  for (bool first = true; statement.step(); first = false) {
    if (!first) out += "; ";
    for (int column = 0; column < statement.column_count(); ++column) {
      if (column > 0) out += ' ';
      out += statement.is_null(column) ? "-" : statement.text(column);
    }
  }
  return out;
}

}  // namespace tracedb
