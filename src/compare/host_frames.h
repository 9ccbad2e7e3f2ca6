// Where the host of a trace is while the device waits, between the steps of a group and within them: the place that
// says most (passes/host/host_activity.h).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "compare/trace/compared_trace.h"
#include "passes/host/host_activity.h"

namespace tracedb {

struct HostFrame {
  std::string frame;       // of python, "llama.py(374): forward"; else an operator or a call, as the trace has it
  double share = 0;        // of the waiting time, or of what it is longer
  std::int64_t calls = 0;  // of python that it makes meanwhile
};

// In which time the host is looked for: from each of these device steps to the next of its kind, or of the kind `to`,
// on its device, or in the gaps of 2 us and more within the steps.
struct HostQuestion {
  std::span<const std::uint32_t> steps;
  bool between = false;
  std::optional<StepKind> to = std::nullopt;
};

// Where the host was in the time of a question.
struct HostStay {
  struct At {
    double time = 0;  // ns, of a wait in the mean
    std::int64_t calls = 0;
  };
  std::size_t waits = 0;            // steps, or pairs of them
  double waited = 0;                // ns, of one in the mean
  std::optional<HostFrame> mostly;  // nullopt: there is no such time, or nothing recorded in it
  // By python, operators and calls: whether the trace records any, and the time at each place, as the trace has it.
  std::array<bool, 3> recorded{};
  std::array<std::map<std::string, At>, 3> at;
};

// All at once, since each call reads all that the host did.
std::vector<HostStay> host_stays(const Index& index, const ComparedTrace& trace,
                                 std::span<const HostQuestion> questions);

// By frame without its line: the frames of a trace.
using FrameLines = std::map<std::string, std::set<std::string>>;
FrameLines frame_lines(const Index& index);

// Where the host of the trace that waits longer is longer than the other's, by at least half of what its device waits
// longer; the innermost of what both record. nullopt: nowhere. Lines move from one version to the next: where those of
// a function of a file differ, any of the other's may be the same frame, and all of them count against it.
std::optional<HostFrame> longer_stay(const HostStay& longer, const HostStay& other, const FrameLines& longer_lines,
                                     const FrameLines& other_lines);

}  // namespace tracedb
