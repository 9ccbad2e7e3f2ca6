// Kernel time of a selection by python stack, for call_tree.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "index/index.h"
#include "passes/select/selection.h"
#include "passes/stacks/call_tree.h"

namespace tracedb {

enum class Frames { kAll, kModules };  // kModules: nn.Module frames only

struct StackTimes {
  std::vector<StackEntry> stacks;  // by stack id, then those lent; frames are positions in `frames`
  std::vector<PathTime> times;  // of each of them; element 0: kernels without a stack, or without any frame that counts
  std::vector<std::string> frames;  // texts; the first one is empty. Addresses are cut off: they differ between calls
};

// Stacks of another index that stand in for those of some kernels.
struct LentStacks {
  const Index& index;
  std::vector<std::uint32_t> stack;  // by row of kernel: id of stack there; 0: the kernel keeps its own
};

// `lent` may be null.
StackTimes stack_times(const Index& index, const Selection& selection, Frames which, const LentStacks* lent = nullptr);

}  // namespace tracedb
