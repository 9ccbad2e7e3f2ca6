// Kernel time of a selection by Python stack, for call_tree.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "passes/select/workload.h"
#include "passes/stacks/call_tree.h"

namespace tracedb {

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
