// Kernel time of a selection by Python stack.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "passes/select/workload.h"

namespace tracedb {

// Device time by call path: trees for reading from the outside in or from the inside out, and a flat profile. Pure
// functions; frames are numbers, paths share their beginnings as in table stack.
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

inline constexpr std::string_view kNoStack = "[no stack]";
// Of kernels with a stack in which no frame is looked at: what follows from the choice.
inline constexpr std::string_view kNoModule = "[no module]";
inline constexpr std::string_view kNotOwn = "[no own frame]";

enum class Frames {
  kAll,
  kModules,  // nn.Module frames; instances of a class together: "nn.Module: Linear_*"
  kEachModule,
  kModuleClasses,  // nn.Module frames by class: "Linear"
  kOwn,            // of the user's or a framework's code (trace/python_frame.h)
};

struct FrameChoice {
  Frames which = Frames::kAll;
  // GLOBs of files, for kOwn: 'vllm/*'; a GLOB may also begin at any folder of the file's path. Empty: frame_origin().
  std::vector<std::string> own = {};
};

// The stacks of some indexes, with one numbering of their frames.
struct StackPaths {
  std::vector<StackEntry> stacks;    // by stack id, those of later indexes behind the others
  std::vector<std::uint32_t> first;  // of each index: what is added to its ids, except to 0
  std::vector<std::string> frames;   // texts; the first one is empty. Addresses are cut off: they differ between calls
};
StackPaths stack_paths(std::span<const Index* const> indexes, const FrameChoice& choice);

// By stack, the class of its innermost nn.Module: "Linear".
class InnermostModules {
 public:
  explicit InnermostModules(const Index& index);
  [[nodiscard]] std::string_view of(std::uint32_t stack) const {  // "": there is none
    return stack < frames_.size() ? std::string_view(paths_.frames[frames_[stack]]) : std::string_view();
  }
  // The same as a number, for text(); 0: there is none.
  [[nodiscard]] std::uint32_t id_of(std::uint32_t stack) const { return stack < frames_.size() ? frames_[stack] : 0; }
  [[nodiscard]] std::string_view text(std::uint32_t id) const { return paths_.frames[id]; }

 private:
  StackPaths paths_;
  std::vector<std::uint32_t> frames_;  // by stack; places in paths_.frames, of which the first is empty
};

// Of the stacks of a trace, then those of the capture.
struct StackTimes : StackPaths {
  std::vector<PathTime> times;  // of each stack; element 0: kernels without one
  PathTime passed_over;         // of kernels with a stack, none of whose frames is looked at
};
std::string_view passed_over_text(Frames which);

// Of the workload's selection. The kernels of graph replays have the stacks of the capture, if there is one.
StackTimes stack_times(Workload& workload, const FrameChoice& choice);

}  // namespace tracedb
