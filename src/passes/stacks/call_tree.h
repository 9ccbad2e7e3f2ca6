// Device time by call path: trees for reading from the outside in or from the inside out, and a flat profile. Pure
// functions; frames are numbers, paths share their beginnings as in table stack.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tracedb {

inline constexpr std::uint32_t kNoFrame = 0;  // of a stack entry that is to be passed over
inline constexpr std::uint32_t kNoNode = UINT32_MAX;

// The nodes of trees in reading order: parents before their children, siblings by size, the largest first. `parents`:
// by node; kNoNode: none. size(node) is compared.
template <class Size>
std::vector<std::uint32_t> tree_order(std::span<const std::uint32_t> parents, Size size) {
  const auto count = static_cast<std::uint32_t>(parents.size());
  std::vector<std::vector<std::uint32_t>> children(parents.size() + 1);  // the last: roots
  for (std::uint32_t node = 0; node < count; ++node) children[std::min(parents[node], count)].push_back(node);
  std::vector<std::uint32_t> out, open = {count};
  while (!open.empty()) {
    const std::uint32_t node = open.back();
    open.pop_back();
    if (node < count) out.push_back(node);
    std::ranges::reverse(children[node]);  // of equals the first comes off first
    std::ranges::stable_sort(children[node], {}, size);
    open.insert(open.end(), children[node].begin(), children[node].end());
  }
  return out;
}

// One entry for each stack id, the first one (id 0) standing for "no stack". A parent's id is smaller than its
// children's; 0: outermost.
struct StackEntry {
  std::uint32_t parent = 0;
  std::uint32_t frame = kNoFrame;     // equal frames under one parent become one node
  std::uint32_t instance = kNoFrame;  // of those with one frame, which; kNoFrame: they are not told apart
};

// What ran at the very end of a path.
struct PathTime {
  std::int64_t time = 0;  // ns
  std::int64_t count = 0;
};

struct CallNode {
  std::uint32_t parent = kNoNode;
  std::uint32_t frame = kNoFrame;
  std::uint32_t depth = 0;  // 0: a root
  std::int64_t total = 0;   // of all paths through this node
  std::int64_t self = 0;    // of the paths that end here, which from the inside is at the outermost caller
  std::int64_t count = 0;   // of all paths through this node
  std::int64_t self_count = 0;
  std::uint32_t instances = 0;  // different ones that became this node
};

enum class TreeSide {
  kOutside,  // roots are the outermost frames: what called what
  kInside,   // roots are the frames that launched: by whom they were called
};

// Nodes with time or count only, parents before children, siblings by total, then by frame. The sum of all `self` is
// that of `times`; what has no path is in no node.
std::vector<CallNode> call_tree(std::span<const StackEntry> stacks, std::span<const PathTime> times, TreeSide side);

// By frame, largest self first. A frame that stands in a path several times counts once in its total.
std::vector<CallNode> flat_profile(std::span<const StackEntry> stacks, std::span<const PathTime> times);

// Leaves out nodes that only pass on to a single child what they have: nothing is decided there. Seen from the inside,
// the frames that launched stay. What would be siblings with one frame is told apart by the outermost node left out
// between them and their parent.
std::vector<CallNode> without_chains(std::span<const CallNode> tree, TreeSide side);

// The order in which a reader sees a tree cut to `most` nodes: the largest ones, still parents before children; behind
// them the rest. 0: all, as they are.
std::vector<std::uint32_t> largest_first(std::span<const CallNode> tree, std::size_t most);

}  // namespace tracedb
