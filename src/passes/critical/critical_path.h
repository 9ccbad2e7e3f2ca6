// The critical path of a window as it was executed, how much longer each activity may take, and how long the window
// would be with other durations: schema/METRICS.md 17. All follow from one model, the releases of the graph. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "passes/critical/release_graph.h"
#include "passes/select/workload.h"
#include "passes/steps/step_set.h"

namespace tracedb {

enum class PathKind : std::uint8_t {
  kComputation,
  kCommunication,
  kCopy,
  kFill,
  kLaunchDelay,   // from the end of a launch to the start of what it launched
  kStreamGap,     // from the end of the activity before on the stream
  kEventGap,      // from the end of what an event was waited for
  kInferredWait,  // from the end of an activity of another stream, which explains what nothing recorded does
  kUnknownWait,   // nothing explains it
  kSyncReturn,    // from the end of what a synchronising call waited for to its return
  kHandOver,      // from what ended last on another thread of the process
  kHost,          // a host thread
  kHostGap        // a host thread on which nothing was open
};
inline constexpr std::string_view kPathKindNames[] = {
    "computation",   "communication", "copy",        "fill",      "launch_delay", "stream_gap", "event_gap",
    "inferred_wait", "unknown_wait",  "sync_return", "hand_over", "host",         "host_gap"};

struct PathSegment {
  std::int64_t ts = 0, end = 0;
  PathKind kind = PathKind::kHost;
  std::uint32_t activity = kNoActivity;  // that runs, or starts after a gap
  std::uint32_t thread = 0;              // of the host's kinds and launch delays
  std::uint32_t call = 0;                // that launched, or returned
  bool is_inferred = false;              // what leads on from here is not recorded
};

// A part of the trace. What begins in it and ends behind its end does not count: it belongs to what follows. But of one
// that is cut out by times all that runs in it counts, from its begin and until its end.
struct PathWindow {
  std::int64_t begin = 0, end = 0;
  std::int64_t host_end = 0;  // until which the host belongs to it
  std::uint32_t thread = 0;   // where the host ended last
  bool is_cut = false;
  std::optional<std::int64_t> step;  // number; nullopt: of no step, and all threads and devices end it
  const StepSet* steps = nullptr;    // of a step: its own work and thread end it
  // Whether it ends when an activity does, at the latest; `one` begins before its end, or takes no time there.
  [[nodiscard]] bool counts(const Activity& one) const;
};
// Of each selected step (`selected` by number + 1), from its start to the later of its own end and that of its device
// work.
std::vector<PathWindow> windows_of_steps(const StepSet& set, const std::vector<bool>& selected,
                                         const EventTables& events);

// Percent of a path: from there on, what it waits for without a record makes it "partly inferred". So does that much of
// the kernel time without a launch: nothing then says what the devices had to do with the host.
inline constexpr double kMuchInferred = 5;
double percent_without_launch(const EventColumns& kernels, const std::function<bool(std::size_t row)>& keeps);
// Of the windows of selected steps, what others of them share; 0 where no step is named.
double percent_shared(const StepSet& set, const Selection& selection, const EventTables& events);

// Other durations. A factor is a fraction, so that results are whole.
struct DurationFactor {
  std::int64_t numerator = 1, denominator = 1;
  [[nodiscard]] std::int64_t of(std::int64_t ns) const;  // rounded down
};
struct WhatIf {
  std::function<DurationFactor(const Activity&)> activities;  // of its duration
  DurationFactor launch_delay, host;                          // host: outside of calls that wait
};
struct WhatIfLength {
  std::int64_t length = 0;      // ns
  bool is_lower_bound = false;  // a delay that it needs was never observed, and counts as none
};

// The smallest delays that were observed, in ns; kUnknownValue: none was.
struct SmallestDelays {
  std::array<std::int64_t, kReleaseKinds> after{};  // from a release to the start of what it let start
  std::int64_t without_wait = kUnknownValue;        // length of a call that did not wait
  std::int64_t to_return = kUnknownValue;           // from the end of what a call waited for to its own
};

struct Slack {
  std::uint32_t activity = kNoActivity;
  // It alone may end that much later, all releases kept; kUnknownValue: any time. `least`: where delays that were never
  // observed are as long as they may be; in `ns` they are none.
  std::int64_t ns = kUnknownValue, least = kUnknownValue;
};

// Of windows of one trace. The graph must outlive the object.
class CriticalPaths {
 public:
  explicit CriticalPaths(const ReleaseGraph& graph);

  // In order of time: each begins where the one before ends, the first at the begin of the window, the last ends at its
  // end.
  [[nodiscard]] std::vector<PathSegment> path(const PathWindow& window) const;
  // Of the activities that begin in the window and end in it, in order of time.
  [[nodiscard]] std::vector<Slack> slack(const PathWindow& window) const;
  // With factors of 1, the length of the window.
  [[nodiscard]] WhatIfLength what_if(const PathWindow& window, const WhatIf& change) const;

  [[nodiscard]] const ReleaseGraph& graph() const { return graph_; }
  [[nodiscard]] const SmallestDelays& delays() const { return delays_; }
  // Calls of a thread that waited, in order of end.
  [[nodiscard]] std::span<const SynchronisingCall* const> waits(std::uint32_t thread) const;
  // The one in which the thread is at a moment; null: in none.
  [[nodiscard]] const SynchronisingCall* wait_at(std::uint32_t thread, std::int64_t moment) const;
  // Before a moment, to a thread on which nothing was open since another. Where a call that waited returned then, it
  // goes on itself.
  [[nodiscard]] HandOver hand_over(std::uint32_t thread, std::int64_t since, std::int64_t moment) const;
  // The latest end of an activity and all before it.
  [[nodiscard]] std::int64_t latest_end_until(std::size_t activity) const { return latest_ends_[activity]; }

 private:
  const ReleaseGraph& graph_;
  SmallestDelays delays_;
  std::vector<std::vector<const SynchronisingCall*>> waits_;  // by thread
  HandOvers hand_overs_;
  LargeVector<std::int64_t> latest_ends_;  // by activity, of it and all before it
};

}  // namespace tracedb
