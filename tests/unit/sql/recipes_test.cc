#include <doctest/doctest.h>

#include "base/error.h"
#include "sql/user/schema_text.h"

namespace tracedb {

TEST_CASE("every recipe asks a question and declares its parameters") {
  CHECK(recipes().size() >= 30);
  for (const Recipe& recipe : recipes()) {
    CAPTURE(recipe.name);
    CHECK(recipe.question.ends_with('?'));
    CHECK(recipe.sql.find("SELECT") != std::string_view::npos);
    for (const auto& value : recipe.values) {
      const std::string& name = value.first;
      CAPTURE(name);
      const std::size_t declared = recipe.sql.find(":" + name);
      CHECK(recipe.sql.find(":" + name, declared + 1) != std::string_view::npos);  // and used
    }
  }
}

TEST_CASE("recipes are found by name") {
  CHECK(find_recipe("gemm_shapes").values.at("phase") == "*");
  CHECK_THROWS_WITH_AS((void)find_recipe("gem_shapes"), doctest::Contains("did you mean 'gemm_shapes'?"), Error);
}

}  // namespace tracedb
