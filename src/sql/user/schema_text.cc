#include "sql/user/schema_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/error.h"
#include "base/text/closest_name.h"
#include "base/text/regular_expression.h"
#include "sql/scripts.h"

namespace tracedb {
namespace {

// The text up to `mark`, which is taken off `text` too.
std::string_view take_until(std::string_view& text, std::string_view mark) {
  const std::size_t end = std::min(text.find(mark), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + mark.size(), text.size()));
  return part;
}

// Names of the columns a line of code ends: "x AS y," in a view, "name TYPE" parts in a table.
std::vector<std::string> columns_in(const std::string& code, bool is_view) {
  static const RegularExpression kAlias(R"(\bAS (\w+),?\s*$)");
  static const RegularExpression kDefinition(R"((?:^|,)\s*(\w+) (?:INTEGER|REAL|TEXT|BLOB|ANY)\b)");
  std::vector<std::string> names;
  const RegularExpression& pattern = is_view ? kAlias : kDefinition;
  std::size_t from = 0;
  while (const auto groups = pattern.find(code, from)) {
    names.emplace_back((*groups)[1].value_or(""));
    const std::string_view whole = (*groups)[0].value_or("");
    from = static_cast<std::size_t>(whole.data() + whole.size() - code.data());
  }
  return names;
}

std::size_t text_after(const std::string& line, std::size_t from) {
  return std::min(line.find_first_not_of(' ', from), line.size());
}

constexpr std::string_view kFolder = "cookbook/", kComment = "-- ";

void declare(Recipe& recipe, std::string_view line) {
  recipe.parameters += (recipe.parameters.empty() ? "" : "; ") + std::string(line);
  while (!line.empty()) {
    std::string_view one = take_until(line, "; ");
    const std::string_view name = take_until(one, " = ");
    const std::string_view value = take_until(one, ", ");
    if (!name.starts_with(':') || value.empty() || one.empty()) {
      throw std::logic_error(
          fmt::format("recipe {}: a parameter is not declared as ':name = value, meaning'", recipe.name));
    }
    recipe.values.emplace(name.substr(1), value);
  }
}

Recipe read_recipe(const Script& script) {
  Recipe recipe;
  recipe.name = script.name.substr(kFolder.size());
  recipe.sql = script.text;
  std::string_view rest = script.text;
  while (rest.starts_with(kComment)) {
    const std::string_view line = take_until(rest, "\n").substr(kComment.size());
    if (recipe.question.empty()) {
      recipe.question = line;
    } else if (line.starts_with(':')) {
      declare(recipe, line);
    }
  }
  return recipe;
}

}  // namespace

SchemaComments schema_comments(std::string_view script_text) {
  static const RegularExpression kOpening(R"(^CREATE (TABLE|VIEW|TEMP VIEW) (\w+))");
  SchemaComments comments;
  std::string object;
  bool is_view = false;
  while (!script_text.empty()) {
    const std::string line(take_until(script_text, "\n"));
    const std::size_t mark = line.find("-- ");
    const std::string code = line.substr(0, mark);
    const std::string comment = mark == std::string::npos ? "" : line.substr(text_after(line, mark + 2));
    if (const auto opening = kOpening.find(line)) {
      object = (*opening)[2].value_or("");
      is_view = (*opening)[1] != "TABLE";
      comments[{object, ""}] = comment;
    } else if (!object.empty() && !comment.empty()) {
      for (const std::string& column : columns_in(code, is_view)) comments[{object, column}] = comment;
    }
    if (code.ends_with(";")) object.clear();
  }
  return comments;
}

std::string usual_comment(const std::string& column) {
  static const std::map<std::string, std::string> kUsual = {
      {"id", "small integer, from 1"},
      {"ts", "start, ns from meta.base_time_ns"},
      {"ts_end", "end, ns from meta.base_time_ns"},
      {"dur", "length, ns"},
      {"pid", "process, as in the trace"},
      {"tid", "thread, as in the trace"},
      {"correlation", "as in the trace"},
      {"external_id", "as in the trace"},
      // Where ids of these names point; any other has a comment of its own.
      {"name_id", "id in string"},
      {"category_id", "id in string"},
      {"device_id", "id in device"},
      {"process_id", "id in process"},
      {"thread_id", "id in thread"},
      {"stream_id", "id in stream"},
      {"stack_id", "id in stack"},
      {"frame_id", "id in frame"},
      {"step_id", "id in step"},
      {"kernel_id", "id in kernel"},
      {"cpu_op_id", "id in cpu_op"},
      {"annotation_id", "id in annotation"},
      {"launch_config_id", "id in launch_config"},
      {"launch_id", "id in runtime_call"},
  };
  const auto found = kUsual.find(column);
  return found == kUsual.end() ? "" : found->second;
}

std::vector<ExampleQuery> example_queries(std::string_view script_text) {
  std::vector<ExampleQuery> examples;
  ExampleQuery current;
  while (!script_text.empty()) {
    const std::string_view line = take_until(script_text, "\n");
    if (line.empty()) {
      if (!current.sql.empty()) examples.push_back(current);
      current = {};  // a comment alone is the head of the file
    } else if (line.starts_with("-- ")) {
      current.comment.append(current.comment.empty() ? "" : " ").append(line.substr(3));
    } else {
      current.sql.append(current.sql.empty() ? "" : "\n").append(line);
    }
  }
  if (!current.sql.empty()) examples.push_back(current);
  return examples;
}

const std::vector<Recipe>& recipes() {
  static const std::vector<Recipe> kRecipes = [] {
    std::vector<Recipe> all;
    for (const Script& script : scripts()) {
      if (script.name.starts_with(kFolder)) all.push_back(read_recipe(script));
    }
    return all;
  }();
  return kRecipes;
}

const Recipe& find_recipe(std::string_view name) {
  std::vector<std::string> known;
  for (const Recipe& recipe : recipes()) {
    if (recipe.name == name) return recipe;
    known.emplace_back(recipe.name);
  }
  throw Error(ErrorCode::kUsage,
              fmt::format("no recipe '{}'{} (trace-query sql --recipes lists them)", name, did_you_mean(name, known)));
}

}  // namespace tracedb
