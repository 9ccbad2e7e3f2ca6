// Reads the documentation in the schema scripts: comments of tables, views and columns, and the example queries.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

// (object, column) -> comment; the column is empty for the object itself.
using SchemaComments = std::map<std::pair<std::string, std::string>, std::string>;

// Reads CREATE TABLE and CREATE VIEW statements laid out as in schema/: one comment behind the opening line, one behind
// the line that ends a column.
SchemaComments schema_comments(std::string_view script_text);

// What columns of this name mean wherever they have no comment of their own; "" for all others.
std::string usual_comment(const std::string& column);

struct ExampleQuery {
  std::string comment;  // what it tells, one line
  std::string sql;
};

std::vector<ExampleQuery> example_queries(std::string_view script_text);

}  // namespace tracedb
