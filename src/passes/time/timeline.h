// How the time of a device or stream is spent: computing, communicating, copying, idle, with the cause of each gap
// (schema/METRICS.md 1 and 2). Pure functions on columns, linear, one walk.
//
// Exactly, in every lane:  computation + exposed_comm + exposed_copy + idle = span,  and the causes, with what other
// work took, add up to idle.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "passes/columns/device_events.h"
#include "passes/columns/group_stats.h"

namespace tracedb {

// Why nothing ran before an event; `gap` is from the end of everything before to its start.
enum class IdleCause : std::uint8_t {
  kHostWait,    // it was launched only after the gap began
  kKernelWait,  // it was waiting, and the gap is short: the device's own pace
  kGraphGap,    // it is a later kernel of a graph whose launch had already begun to run
  kOther,       // it was waiting for something else: another stream, an event, a copy
  kUnknown,     // its launch is not in the trace
};
inline constexpr std::size_t kIdleCauses = 5;
std::string_view to_string(IdleCause cause);  // "host_wait", ...

// The calls that launch work, by id - 1.
struct LaunchCalls {
  std::span<const std::int64_t> ts;
  std::span<const std::uint32_t> kind;  // CallKind
};

struct TimelineOptions {
  Window window = {};
  std::int64_t kernel_wait = 2'000;  // ns: gaps below it are kKernelWait
  std::int64_t micro_idle = 10'000;  // ns: gaps below it are micro idle
};

// Times in ns, within the window.
struct LaneTimeline {
  std::int64_t kernels = 0, memory_ops = 0;  // events of the lane that are selected and in the window, of any duration
  std::int64_t begin = 0, span = 0;          // from the first start to the last end
  std::int64_t busy = 0, idle = 0;
  std::int64_t computation = 0, comm = 0, copy = 0;
  std::int64_t fused_comm = 0;    // of comm: collectives fused with computation
  std::int64_t exposed_comm = 0;  // without computation at the same time
  std::int64_t exposed_copy = 0;  // without either
  std::array<std::int64_t, kIdleCauses> idle_by_cause{};
  std::int64_t gaps = 0;
  std::int64_t micro_idle = 0, macro_idle = 0;  // in gaps below micro_idle; in the others
  std::int64_t unselected = 0;  // of idle: while other work ran than the selected, and in gaps before it
};

// Of the kernel time of the busiest device: one with less has no part in the work, and a mean over both is of neither.
inline constexpr double kHardlyWorks = 0.05;

// Over all lanes that take part in the work, in ns.
struct IdleSums {
  std::int64_t span = 0, idle = 0, gaps = 0;
  std::int64_t host_wait = 0;               // of idle
  [[nodiscard]] double idle_share() const;  // of the span
  [[nodiscard]] double host_share() const;  // of the span
  static constexpr double kHostBound = 0.3;
  // The devices wait for launches of the host for that much of the span and more.
  [[nodiscard]] bool is_host_bound() const { return host_share() >= kHostBound; }
};
IdleSums idle_sums(std::span<const LaneTimeline> lanes);

struct Gap {
  std::int64_t ts = 0, dur = 0;  // what of it is in the window
  EventRef before, after;        // the event that ended last before it, and the one that ended it
  std::uint32_t lane = 0;
  IdleCause cause = IdleCause::kUnknown;
};

// By lane. `on_gap` is called for each gap, in the order of what ended them.
std::vector<LaneTimeline> timelines(const DeviceWork& work, const LaunchCalls& calls, const TimelineOptions& options,
                                    const std::function<void(const Gap&)>& on_gap = {});

struct Gaps {
  std::vector<Gap> listed;
  std::int64_t count = 0;  // of all gaps
  std::int64_t total = 0;  // of all gaps, at most 2^63 - 1: the idle of all lanes, without unselected
};

// Those of at least `least` ns, in the order of what ended them: what follows each other in time does in memory.
Gaps gaps_in_order(const DeviceWork& work, const LaunchCalls& calls, const TimelineOptions& options,
                   std::int64_t least = 0);

// The `limit` longest gaps, longest first, then the earliest, then the lowest lane; 0: all.
Gaps idle_gaps(const DeviceWork& work, const LaunchCalls& calls, const TimelineOptions& options, std::size_t limit);

// From the launching call to the start of its work, by name of the call (schema/METRICS.md 4). Pure, linear, one
// walk.
//
// A call is counted once, however many kernels, copies and fills it launches, and its delays are those of the first of
// them: the later ones of a graph wait for each other.
// Runtime calls by id - 1.
struct RuntimeCalls {
  std::span<const std::int64_t> ts, dur;
  std::span<const GroupId> group;              // by name; kNoGroup: never counted
  std::span<const std::uint8_t> is_launching;  // not 0: counted even if nothing that it launched is there
};

struct LaunchStats {
  std::int64_t calls = 0;
  std::int64_t launching = 0;  // calls with at least one kernel, copy or fill
  std::int64_t kernels = 0, memory_ops = 0;
  GroupStats api;                  // time in the call, where known
  GroupStats delay;                // from the return of the call to the start of its first work, at least 0
  std::int64_t started_early = 0;  // first works that started before the call returned: their delay counts as 0
  GroupStats queue;                // of the delay, what is not due to earlier work on the same stream
};

struct Launches {
  std::vector<LaunchStats> groups;
  std::int64_t kernels_without_launch = 0;
};

// Lanes must be streams. What is left out (device_events.h) keeps streams busy and is not counted; then, calls without
// work that is selected are not counted either.
Launches launch_stats(const DeviceWork& work, const RuntimeCalls& calls, std::size_t groups);

}  // namespace tracedb
