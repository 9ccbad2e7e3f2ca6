// Kernel time of a selection by Python stack, for call_tree.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "passes/select/workload.h"
#include "passes/stacks/call_tree.h"

namespace tracedb {

inline constexpr std::string_view kNoStack = "[no stack]";

enum class Frames { kAll, kModules };  // kModules: nn.Module frames only

struct StackTimes {
  std::vector<StackEntry> stacks;  // by stack id, then those of the capture; frames are positions in `frames`
  std::vector<PathTime> times;  // of each of them; element 0: kernels without a stack, or without any frame that counts
  std::vector<std::string> frames;  // texts; the first one is empty. Addresses are cut off: they differ between calls
};

// Of the workload's selection. The kernels of graph replays have the stacks of the capture, if there is one.
StackTimes stack_times(Workload& workload, Frames which);

}  // namespace tracedb
