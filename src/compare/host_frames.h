// Where the host of a trace is while the device waits, between the steps of a group and within them: the place that
// says most (passes/host/host_activity.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compare/trace/compared_trace.h"
#include "passes/host/host_activity.h"

namespace tracedb {

struct HostFrame {
  std::string frame;       // of python, "llama.py(374): forward"; else an operator or a call, as the trace has it
  double share = 0;        // of the waiting time
  std::int64_t calls = 0;  // of python that it makes meanwhile
};

// In which time the host is looked for: from each of these device steps to the next of its kind, or of the kind `to`,
// on its device, or in the gaps of 2 us and more within the steps.
struct HostQuestion {
  std::span<const std::uint32_t> steps;
  bool between = false;
  std::optional<StepKind> to = std::nullopt;
};

// All at once, since each call reads all that the host did. nullopt: there is no such time, or nothing recorded in it.
std::vector<std::optional<HostFrame>> host_frames(const Index& index, const ComparedTrace& trace,
                                                  std::span<const HostQuestion> questions);

}  // namespace tracedb
