// What a query answers, or what was computed, as text a test can compare.
#pragma once

#include <fmt/format.h>

#include <initializer_list>
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

// Values as such a row: an empty std::optional as "-".
template <class Value>
std::string cell_of(const Value& value) {
  if constexpr (requires { value.has_value(); }) {
    return value ? fmt::to_string(*value) : "-";
  } else {
    return fmt::format("{}", value);
  }
}
template <class... Values>
std::string as_row(const Values&... values) {
  return fmt::to_string(fmt::join(std::initializer_list<std::string>{cell_of(values)...}, " "));
}
// As texts that may have blanks: a line each.
template <class... Values>
std::string as_lines(const Values&... values) {
  return fmt::to_string(fmt::join(std::initializer_list<std::string>{cell_of(values)...}, "\n"));
}

}  // namespace tracedb
