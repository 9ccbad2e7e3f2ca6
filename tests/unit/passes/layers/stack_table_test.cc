#include "passes/layers/stack_table.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "passes/layers/layers.h"

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

namespace {

const LayerStacks kOne = {{"stack 1", 0, 80, 1}};
const LayerStacks kTwo = {{"T5Block", 0, 24, 1}, {"stack 1", 24, 19, 4}};

using Bounds = std::pair<std::int32_t, std::int32_t>;
Bounds range(std::string_view text, const LayerStacks& stacks) {
  const LayerRange found = layer_range(text, stacks);
  return {found.first, found.last};
}

}  // namespace

TEST_CASE("labels of layers in one stack are their numbers") {
  CHECK(layer_label(0, {}) == "0");
  CHECK(layer_label(79, kOne) == "79");
  CHECK(layer_label(kHead, kTwo) == "[head]");
  CHECK(layer_label(kTail, kTwo) == "[tail]");
  CHECK(layer_label(kNoLayer, kTwo) == "[no layer]");
  CHECK(layers_label({}, kOne).empty());
  CHECK(layers_label({4}, kOne) == "4");
  CHECK(layers_label({0, 1}, kOne) == "0..1");
  CHECK(layers_label({0, 1, 2, 5, 7, 8}, kOne) == "0..2,5,7..8");
  CHECK(layers_label({kHead, 0, 1, kTail, kNoLayer}, kOne) == "[head],0..1,[tail],[no layer]");
  CHECK(layers_label({kTail, kHead}, kOne) == "[tail],[head]");
}

TEST_CASE("labels of layers in several stacks name theirs") {
  CHECK(layer_label(23, kTwo) == "T5Block:23");
  CHECK(layer_label(24, kTwo) == "stack 1:0");
  CHECK(layers_label({kHead, 22, 23, 24, 25, 26, 30}, kTwo) == "[head],T5Block:22..23,stack 1:0..2,stack 1:6");
  CHECK(stack_text(kTwo[0], true) == "T5Block 24");
  CHECK(stack_text(kTwo[1], true) == "stack 1 19 x 4 passes");
  CHECK(stack_text(kTwo[1], false) == "19 x 4 passes");
}

TEST_CASE("a selection of layers by number, or by stack and number") {
  CHECK(range("3", kOne) == Bounds{3, 3});
  CHECK(range("3..5", kOne) == Bounds{3, 5});
  CHECK(range("..5", kOne) == Bounds{0, 5});
  CHECK(range("head", kTwo) == Bounds{kHead, kHead});
  CHECK(range("stack 1:3", kOne) == Bounds{3, 3});
  CHECK(range("stack 1:3", kTwo) == Bounds{27, 27});
  CHECK(range("stack 1:17..", kTwo) == Bounds{41, 42});
  CHECK(range("T5Block", kTwo) == Bounds{0, 23});
  CHECK(range("0..", kTwo).first == 0);
  CHECK(range("T5Block:24", kTwo).first > range("T5Block:24", kTwo).second);  // that layer is another stack's
  CHECK_THROWS_AS(range("3", kTwo), Error);
  CHECK_THROWS_AS(range("..5", kTwo), Error);
  CHECK_THROWS_AS(range("T6Block:3", kTwo), Error);
  CHECK_THROWS_AS(range("T5Block:3", {}), Error);
}

TEST_CASE("what can name layers") {
  for (const std::string_view text : {"3", "3..5", "..5", "3..", "head", "tail", "none", "T5Block", "stack 1:3..5"}) {
    CAPTURE(text);
    CHECK(can_name_layers(text));
  }
  for (const std::string_view text : {"", "..", "-1", "1..x", "3x", "T5Block:", "T5Block:x", ":3", "T5Block:head"}) {
    CAPTURE(text);
    CHECK_FALSE(can_name_layers(text));
  }
}

}  // namespace tracedb
