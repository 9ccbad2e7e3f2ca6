#include "passes/layers/layer_stacks.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "passes/layers/layers.h"

namespace tracedb {
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
