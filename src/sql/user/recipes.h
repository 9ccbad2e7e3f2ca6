// The cookbook: named queries for questions that come up often (schema/cookbook), compiled in.
//
// A file is named after its recipe. Its first line is the question; the comment lines after that explain the answer. A
// comment line that begins with ":" declares parameters, each with the value it has unless another is given:
// "-- :phase = decode, kind of step; :top = 20, how many rows".
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

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
