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

// The cookbook: named queries for questions that come up often (schema/cookbook), compiled in.
//
// A file is named after its recipe. Its first line is the question; the comment lines after that explain the answer. A
// comment line that begins with ":" declares parameters, each with the value it has unless another is given:
// "-- :phase = decode, kind of step; :top = 20, how many rows".
struct Recipe {
  std::string_view name;
  std::string_view question;
  std::string_view sql;                       // with its comments
  std::string parameters;                     // as declared: ":top = 20, how many rows"; "": none
  std::map<std::string, std::string> values;  // by name without ":"
};

const std::vector<Recipe>& recipes();              // sorted by name
const Recipe& find_recipe(std::string_view name);  // Error{kUsage} for an unknown one, with the nearest name

}  // namespace tracedb
