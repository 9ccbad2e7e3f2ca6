#include "compare/trace/compared_trace.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace tracedb {
namespace {

LayerStack stack(std::string name, std::int32_t first, std::int32_t count) {
  return {std::move(name), first, count, 1};
}

using First = std::vector<std::vector<std::int32_t>>;

}  // namespace

TEST_CASE("one stack on each side is the same, whatever it is called and has") {
  const JointStacks joint = join_stacks({{stack("stack 1", 0, 80)}, {stack("LlamaDecoderLayer", 0, 79)}});
  REQUIRE(joint.stacks.size() == 1);
  CHECK(joint.stacks[0].name == "LlamaDecoderLayer");
  CHECK(joint.stacks[0].count == 80);
  CHECK(joint.first == First{{0}, {0}});
}

TEST_CASE("stacks by name, then by their number of layers, in order") {
  const JointStacks joint = join_stacks({{stack("Text", 0, 12), stack("Vision", 12, 24), stack("stack 1", 36, 4)},
                                         {stack("Vision", 0, 23), stack("stack 1", 23, 12), stack("stack 2", 35, 4)},
                                         {}});
  REQUIRE(joint.stacks.size() == 3);
  CHECK(joint.stacks[1].name == "Vision");
  CHECK(joint.stacks[2].first == 36);
  CHECK(joint.first == First{{0, 12, 36}, {12, 0, 36}, {}});
}

TEST_CASE("a stack of one side alone has numbers of its own") {
  const JointStacks joint = join_stacks(
      {{stack("stack 1", 0, 19), stack("stack 2", 19, 38)}, {stack("stack 1", 0, 38), stack("stack 2", 38, 7)}});
  REQUIRE(joint.stacks.size() == 3);
  CHECK(joint.first == First{{0, 19}, {19, 57}});
  CHECK(joint.stacks[2].name == "stack 3");
}

TEST_CASE("names mirror") {
  const LayerStacks a = {stack("A", 0, 12), stack("X", 12, 4)};
  const LayerStacks b = {stack("B", 0, 12), stack("X", 12, 4)};
  CHECK(join_stacks({a, b}).stacks[0].name == join_stacks({b, a}).stacks[0].name);
}

TEST_CASE("numbers of stacks without a name mirror") {
  const LayerStacks a = {stack("stack 1", 0, 5)};
  const LayerStacks b = {stack("stack 1", 0, 3), stack("stack 2", 3, 7)};
  for (const std::int32_t layers : {3, 5, 7}) {
    const auto name_of = [&](const JointStacks& joint) {
      const auto found = std::find_if(joint.stacks.begin(), joint.stacks.end(),
                                      [&](const LayerStack& one) { return one.count == layers; });
      return found == joint.stacks.end() ? std::string() : found->name;
    };
    CHECK(name_of(join_stacks({a, b})) == name_of(join_stacks({b, a})));
    CHECK(name_of(join_stacks({a, b})).starts_with("stack "));
  }
}

}  // namespace tracedb
