#include "passes/layers/stack_table.h"

#include <doctest/doctest.h>

namespace tracedb {
namespace {

FoundStack stack(std::string name, std::int32_t width, std::size_t mixers = 1, std::size_t passes = 1) {
  return {std::move(name), width, mixers, passes};
}

using Places = std::vector<std::vector<std::size_t>>;

}  // namespace

TEST_CASE("kinds of steps with one stack each have the same one") {
  const StackTable table = make_stack_table({{stack("", 80)}, {}, {stack("", 79)}});
  REQUIRE(table.stacks.size() == 1);
  CHECK(table.stacks[0].name == "stack 1");
  CHECK(table.stacks[0].count == 80);
  CHECK(table.place == Places{{0}, {}, {0}});
}

TEST_CASE("a stack with a name is the same as one without, of as many layers") {
  const StackTable table = make_stack_table({{stack("", 24)}, {stack("Qwen2DecoderLayer", 24)}});
  REQUIRE(table.stacks.size() == 1);
  CHECK(table.stacks[0].name == "Qwen2DecoderLayer");
}

TEST_CASE("of several stacks, that of as many layers and mixers") {
  const StackTable table =
      make_stack_table({{stack("", 32, 2, 8)}, {stack("", 32, 1), stack("", 32, 2)}, {stack("", 7), stack("", 32, 1)}});
  REQUIRE(table.stacks.size() == 2);
  CHECK(table.place == Places{{1}, {0, 1}, {1, 0}});
  CHECK(table.stacks[1].first == 32);
  CHECK(table.stacks[1].passes == 8);
}

TEST_CASE("names that differ are other stacks") {
  const StackTable table = make_stack_table({{stack("A", 4), stack("", 4)}, {stack("B", 4)}});
  REQUIRE(table.stacks.size() == 2);
  CHECK(table.stacks[1].name == "B");
  CHECK(table.place == Places{{0, 1}, {1}});
}

}  // namespace tracedb
