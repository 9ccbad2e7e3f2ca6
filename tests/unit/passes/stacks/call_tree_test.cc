#include "passes/stacks/call_tree.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <numeric>
#include <random>
#include <string>

namespace tracedb {
namespace {

// main(1) calls step(2), which calls gemm(3) and norm(4); main also calls norm directly; gemm calls itself.
const std::vector<StackEntry> kStacks = {{0, 0}, {0, 1}, {1, 2}, {2, 3}, {2, 4}, {1, 4}, {3, 3}};
const std::vector<PathTime> kTimes = {{7, 1}, {0, 0}, {0, 0}, {10, 2}, {5, 1}, {20, 4}, {1, 1}};

std::string text(std::span<const CallNode> nodes) {
  std::string out;
  for (const CallNode& node : nodes) {
    out += fmt::format("{}{} {}/{} x{}; ", std::string(node.depth, '.'), node.frame, node.total, node.self, node.count);
  }
  return out;
}

std::int64_t sum_of_self(std::span<const CallNode> nodes) {
  return std::accumulate(nodes.begin(), nodes.end(), std::int64_t{0},
                         [](std::int64_t sum, const CallNode& node) { return sum + node.self; });
}

}  // namespace

TEST_CASE("from the outside: what calls what, largest first") {
  CHECK(text(call_tree(kStacks, kTimes, TreeSide::kOutside)) ==
        "1 36/0 x8; .4 20/20 x4; .2 16/0 x4; ..3 11/10 x3; ...3 1/1 x1; ..4 5/5 x1; ");
}

TEST_CASE("from the inside: who is behind a launch") {
  CHECK(text(call_tree(kStacks, kTimes, TreeSide::kInside)) ==
        "4 25/0 x5; .1 20/20 x4; .2 5/0 x1; ..1 5/5 x1; "
        "3 11/0 x3; .2 10/0 x2; ..1 10/10 x2; .3 1/0 x1; ..2 1/0 x1; ...1 1/1 x1; ");
}

TEST_CASE("flat: a frame in a path twice counts once") {
  CHECK(text(flat_profile(kStacks, kTimes)) == "4 25/25 x5; 3 11/11 x3; 1 36/0 x8; 2 16/0 x4; ");
}

TEST_CASE("frames that only pass on are left out, where nothing is lost by it") {
  const std::vector<StackEntry> chain = {{0, 0}, {0, 1}, {1, 2}, {2, 3}, {3, 4}, {3, 5}};
  const std::vector<PathTime> times = {{0, 0}, {0, 0}, {0, 0}, {0, 0}, {3, 1}, {2, 1}};
  const auto outside = call_tree(chain, times, TreeSide::kOutside);
  CHECK(text(without_chains(outside, TreeSide::kOutside)) == "3 5/0 x2; .4 3/3 x1; .5 2/2 x1; ");
  const auto inside = call_tree(chain, times, TreeSide::kInside);
  CHECK(text(without_chains(inside, TreeSide::kInside)) == "4 3/0 x1; .1 3/3 x1; 5 2/0 x1; .1 2/2 x1; ");
}

TEST_CASE("siblings alike are told apart by what is left out before them") {
  // 1 -> {2 -> 9 -> {4, 5}, 3 -> 9 -> {4, 5}}: without 2 and 3, the two 9 could not be told apart.
  const std::vector<StackEntry> stacks = {{0, 0}, {0, 1}, {1, 2}, {1, 3}, {2, 9},
                                          {3, 9}, {4, 4}, {4, 5}, {5, 4}, {5, 5}};
  std::vector<PathTime> times(stacks.size());
  for (std::size_t id = 6; id < stacks.size(); ++id) times[id] = {static_cast<std::int64_t>(20 - id), 1};
  const auto tree = [&] { return without_chains(call_tree(stacks, times, TreeSide::kOutside), TreeSide::kOutside); };
  CHECK(text(tree()) == "1 50/0 x4; .2 27/0 x2; ..4 14/14 x1; ..5 13/13 x1; .3 23/0 x2; ..4 12/12 x1; ..5 11/11 x1; ");
  // One that ran something itself stays, below the frame that tells it from the other.
  times[4] = {1, 1};
  CHECK(text(tree()) ==
        "1 51/0 x5; .2 28/0 x3; ..9 28/1 x3; ...4 14/14 x1; ...5 13/13 x1; .3 23/0 x2; ..4 12/12 x1; ..5 11/11 x1; ");
}

TEST_CASE("frames that are passed over vanish from every path") {
  std::vector<StackEntry> stacks = kStacks;
  stacks[2].frame = kNoFrame;
  CHECK(text(call_tree(stacks, kTimes, TreeSide::kOutside)) == "1 36/0 x8; .4 25/25 x5; .3 11/10 x3; ..3 1/1 x1; ");
}

TEST_CASE("cut to the largest, it is still a tree, and nothing is lost behind it") {
  const auto tree = call_tree(kStacks, kTimes, TreeSide::kOutside);
  CHECK(largest_first(tree, 3) == std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5});
  CHECK(largest_first(tree, 4) == std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5});
  const std::vector<StackEntry> wide = {{0, 0}, {0, 1}, {1, 2}, {0, 3}};
  const auto two = call_tree(wide, std::vector<PathTime>{{0, 0}, {5, 1}, {1, 1}, {4, 1}}, TreeSide::kOutside);
  CHECK(largest_first(two, 2) == std::vector<std::uint32_t>{0, 2, 1});
}

TEST_CASE("no paths, no nodes") {
  const std::vector<StackEntry> none(1);
  const std::vector<PathTime> times = {{5, 1}};
  CHECK(call_tree(none, times, TreeSide::kOutside).empty());
  CHECK(call_tree(none, times, TreeSide::kInside).empty());
  CHECK(flat_profile(none, times).empty());
}

TEST_CASE("every view accounts for all time that has a path") {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    const auto pick = [&](unsigned most) { return static_cast<std::uint32_t>(random() % most); };
    std::vector<StackEntry> stacks(1 + pick(30));
    std::vector<PathTime> times(stacks.size());
    std::int64_t all = 0;
    for (std::uint32_t id = 1; id < stacks.size(); ++id) {
      stacks[id] = {pick(id), 1 + pick(5)};
      if (pick(2) == 0) times[id] = {pick(100), 1 + pick(3)};
      all += times[id].time;
    }
    for (const TreeSide side : {TreeSide::kOutside, TreeSide::kInside}) {
      const auto tree = call_tree(stacks, times, side);
      std::int64_t roots = 0;
      for (std::size_t id = 0; id < tree.size(); ++id) {
        if (tree[id].parent == kNoNode) {
          roots += tree[id].total;
        } else {
          CHECK(tree[id].parent < id);
          CHECK(tree[id].total <= tree[tree[id].parent].total);
        }
      }
      CHECK(roots == all);
      CHECK(sum_of_self(tree) == all);
      CHECK(sum_of_self(without_chains(tree, side)) == all);
    }
    CHECK(sum_of_self(flat_profile(stacks, times)) == all);
  }
}

}  // namespace tracedb
