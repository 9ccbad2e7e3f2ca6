// Small tables of device events for tests of the passes over time: made by hand, or at random.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "base/unknown.h"
#include "passes/columns/device_events.h"
#include "passes/time/timeline.h"
#include "trace/event_names.h"

namespace tracedb {

// kind as in the tables: of kernels 1 compute, 2 comm, 3 copy_kernel, 4 comm_compute; of memory operations 1 memcpy, 2
// memset.
struct DeviceEventTable {
  std::vector<std::int64_t> ts, dur;
  std::vector<std::uint32_t> stream, launch, kind;
  std::vector<std::uint8_t> left_out;

  void add(std::int64_t start, std::int64_t length, std::uint32_t what = 1, std::uint32_t on = 1,
           std::uint32_t call = 0) {
    ts.push_back(start);
    dur.push_back(length);
    kind.push_back(what);
    stream.push_back(on);
    launch.push_back(call);
  }
  [[nodiscard]] DeviceEvents view(const WorkOfKind& work) const {
    return {ts, dur, stream, launch, kind, work, left_out};
  }
};

// Streams 1 and 2 are on lane 0, stream 3 on lane 1.
struct DeviceTables {
  DeviceEventTable kernels, memory_ops;
  std::vector<std::uint32_t> lane_of_stream = {0, 0, 0, 1};
  std::vector<std::int64_t> call_ts;
  std::vector<std::uint32_t> call_kind;

  [[nodiscard]] DeviceWork work() const {
    return {kernels.view({Work::kCompute, Work::kCompute, Work::kComm, Work::kCopy, Work::kFusedComm}),
            memory_ops.view({Work::kCopy, Work::kCopy, Work::kCompute, Work::kCopy}), lane_of_stream, 2};
  }
  [[nodiscard]] LaunchCalls calls() const { return {call_ts, call_kind}; }

  // An event for every few ticks of some dozens, with overlap, gaps, zero and unknown durations, shared launches.
  static DeviceTables random(std::mt19937& chance) {
    const auto pick = [&chance](std::uint32_t most) { return static_cast<std::uint32_t>(chance() % most); };
    DeviceTables tables;
    const std::uint32_t calls = pick(6);
    for (std::uint32_t i = 0; i < calls; ++i) {
      tables.call_ts.push_back(pick(10) == 0 ? kUnknownValue : std::int64_t{pick(60)});
      tables.call_kind.push_back(static_cast<std::uint32_t>(pick(2) == 0 ? CallKind::kLaunch : CallKind::kGraphLaunch));
    }
    const std::uint32_t step = 1 + pick(6);
    const auto fill = [&](DeviceEventTable& table, std::uint32_t count, std::uint32_t kinds) {
      std::int64_t ts = pick(8);
      for (; count > 0; --count, ts += pick(step)) {
        const std::int64_t dur = pick(12) == 0 ? kUnknownValue : std::int64_t{pick(6)};
        table.add(ts, dur, pick(kinds + 1), 1 + pick(3), pick(calls + 2));
      }
    };
    fill(tables.kernels, pick(24), 4);
    fill(tables.memory_ops, pick(8), 2);
    return tables;
  }
};

}  // namespace tracedb
