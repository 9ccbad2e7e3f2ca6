#include "passes/time/launch_stats.h"

#include <algorithm>

#include "base/unknown.h"

namespace tracedb {
namespace {

// Of the first works of calls, and how many selected kernels, copies and fills each call has.
struct Delays {
  std::vector<std::int64_t> delay, queue;
  std::vector<GroupId> group;
  std::vector<std::uint32_t> kernels, memory_ops;  // by call
};

Delays walk(const DeviceWork& work, const RuntimeCalls& calls, Launches& out) {
  const std::vector<std::uint32_t> none(calls.ts.size(), 0);
  Delays delays{{}, {}, {}, none, none};
  std::vector<std::int64_t> free_from(work.lanes, 0);  // by stream: end of everything so far
  std::vector<std::uint8_t> begun(calls.ts.size(), 0);
  const auto add = [&](const DeviceEvent& event) {
    const std::size_t call = event.launch - std::size_t{1};
    if (event.launch == 0 || call >= calls.ts.size() || calls.group[call] == kNoGroup) {
      out.kernels_without_launch += event.left_out || event.ref.is_memory_op ? 0 : 1;
      return;
    }
    const bool first = begun[call] == 0;
    begun[call] = 1;
    if (event.left_out) return;
    ++(event.ref.is_memory_op ? delays.memory_ops : delays.kernels)[call];
    if (!first || calls.ts[call] == kUnknownValue || calls.dur[call] == kUnknownValue) return;
    const std::int64_t called = std::max<std::int64_t>(calls.ts[call], 0);
    const std::int64_t returned = saturating_add(called, duration_or_zero(calls.dur[call]));
    const std::int64_t delay = std::max<std::int64_t>(0, event.ts - returned);
    const std::int64_t behind = std::clamp<std::int64_t>(free_from[event.lane] - returned, 0, delay);
    if (event.ts < returned) ++out.groups[calls.group[call]].started_early;
    delays.delay.push_back(delay);
    delays.queue.push_back(delay - behind);
    delays.group.push_back(calls.group[call]);
  };
  for_each_in_order(work, [&](const DeviceEvent& event) {
    add(event);
    free_from[event.lane] = std::max(free_from[event.lane], event.end);
  });
  return delays;
}

}  // namespace

Launches launch_stats(const DeviceWork& work, const RuntimeCalls& calls, std::size_t groups) {
  Launches out{std::vector<LaunchStats>(groups), 0};
  const Delays delays = walk(work, calls, out);
  const bool all = work.kernels.left_out.empty();
  std::vector<GroupId> timed(calls.ts.size(), kNoGroup);
  for (std::size_t call = 0; call < timed.size(); ++call) {
    const std::uint32_t kernels = delays.kernels[call], memory_ops = delays.memory_ops[call];
    const bool launched = kernels + memory_ops > 0;
    if (calls.group[call] == kNoGroup || (!launched && !(all && calls.is_launching[call] != 0))) continue;
    LaunchStats& stats = out.groups[calls.group[call]];
    ++stats.calls;
    stats.launching += launched ? 1 : 0;
    stats.kernels += kernels;
    stats.memory_ops += memory_ops;
    if (calls.dur[call] >= 0) timed[call] = calls.group[call];
  }
  const std::vector<GroupStats> api = value_stats(calls.dur, timed, groups);
  const std::vector<GroupStats> delay = value_stats(delays.delay, delays.group, groups);
  const std::vector<GroupStats> queue = value_stats(delays.queue, delays.group, groups);
  for (std::size_t g = 0; g < groups; ++g) {
    out.groups[g].api = api[g];
    out.groups[g].delay = delay[g];
    out.groups[g].queue = queue[g];
  }
  return out;
}

}  // namespace tracedb
