#include "sql/user/recipes.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/error.h"
#include "base/text/closest_name.h"
#include "sql/scripts.h"

namespace tracedb {
namespace {

constexpr std::string_view kFolder = "cookbook/", kComment = "-- ";

// The text up to `mark`, which is taken off `text` too.
std::string_view take_until(std::string_view& text, std::string_view mark) {
  const std::size_t end = std::min(text.find(mark), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + mark.size(), text.size()));
  return part;
}

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
