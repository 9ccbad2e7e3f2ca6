#include "passes/time/launch_stats.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "base/unknown.h"
#include "support/device_tables.h"

namespace tracedb {
namespace {

// Device tables whose lanes are streams, and calls with durations and names.
struct LaunchedTrace {
  DeviceTables tables;
  std::vector<std::int64_t> dur;
  std::vector<GroupId> group;
  std::vector<std::uint8_t> is_launching;

  void call(std::int64_t ts, std::int64_t length, GroupId name = 0, bool launching = true) {
    tables.call_ts.push_back(ts);
    dur.push_back(length);
    group.push_back(name);
    is_launching.push_back(launching ? 1 : 0);
  }
  [[nodiscard]] Launches stats(std::size_t groups = 2) const {
    static const std::vector<std::uint32_t> kLanes = {0, 1, 2, 3};
    DeviceWork work = tables.work();
    work.lane_of_stream = kLanes;
    work.lanes = 4;
    return launch_stats(work, {tables.call_ts, dur, group, is_launching}, groups);
  }
};

}  // namespace

TEST_CASE("values in groups, by hand") {
  const std::vector<std::int64_t> values = {5, 1, 9, 3, 100, 7};
  const std::vector<GroupId> groups = {0, 0, 0, 0, kNoGroup, 1};
  const std::vector<GroupStats> out = value_stats(values, groups, 3);
  CHECK(out[0].count == 4);
  CHECK(out[0].total == 18);
  CHECK(out[0].median == 4);
  CHECK(out[0].p99 == 9);
  CHECK(out[0].max == 9);
  CHECK(out[1].median == 7);
  CHECK(out[1].p99 == 7);
  CHECK(out[2].count == 0);
}

TEST_CASE("random values in groups are as a sorted list says") {
  std::mt19937 chance(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::int64_t> values(1 + chance() % 300);
    for (std::int64_t& value : values) value = static_cast<std::int64_t>(chance() % 50);
    const std::vector<GroupId> groups(values.size(), 0);
    const GroupStats out = value_stats(values, groups, 1).front();
    std::sort(values.begin(), values.end());
    const std::size_t n = values.size();
    CHECK(out.median == static_cast<double>(values[(n - 1) / 2] + values[n / 2]) / 2);
    CHECK(out.p99 == values[(n * 99 + 99) / 100 - 1]);
    CHECK(out.max == values.back());
    CHECK(out.total == std::accumulate(values.begin(), values.end(), std::int64_t{0}));
  }
}

TEST_CASE("launches by hand") {
  LaunchedTrace trace;
  trace.call(0, 10);               // 1: kernel at 30, stream free
  trace.call(10, 10);              // 2: kernel at 100, stream busy until 80
  trace.call(20, 100);             // 3: kernel at 110, before it returns
  trace.call(200, 10, 1);          // 4: a graph of three kernels
  trace.call(300, 5);              // 5: no kernel
  trace.call(310, 7, 1, false);    // 6: not a launch, no kernel: not counted
  trace.call(320, 20, 0, false);   // 7: not a launch, but has a kernel
  trace.call(400, kUnknownValue);  // 8: nobody knows how long it took
  trace.tables.kernels.add(30, 50, 1, 1, 1);
  trace.tables.kernels.add(100, 5, 1, 1, 2);
  trace.tables.kernels.add(110, 5, 1, 2, 3);
  trace.tables.kernels.add(240, 5, 1, 1, 4);
  trace.tables.kernels.add(250, 5, 1, 2, 4);
  trace.tables.kernels.add(260, 5, 1, 1, 4);
  trace.tables.memory_ops.add(262, 80, 1, 1, 0);
  trace.tables.kernels.add(345, 5, 1, 1, 7);
  trace.tables.kernels.add(420, 5, 1, 1, 8);
  trace.tables.kernels.add(500, 5, 1, 1, 0);
  trace.tables.kernels.add(510, 5, 1, 1, 77);
  const Launches all = trace.stats();
  const LaunchStats& plain = all.groups[0];
  CHECK(all.kernels_without_launch == 2);
  CHECK(plain.calls == 6);
  CHECK(plain.launching == 5);
  CHECK(plain.kernels == 5);
  CHECK(plain.api.count == 5);
  CHECK(plain.api.total == 145);
  CHECK(plain.api.median == 10);
  CHECK(plain.delay.count == 4);
  CHECK(plain.delay.total == 20 + 80 + 0 + 5);
  CHECK(plain.started_early == 1);
  CHECK(plain.queue.total == 20 + 20 + 0 + 3);  // the copy ran until 342
  const LaunchStats& graph = all.groups[1];
  CHECK(graph.calls == 1);
  CHECK(graph.kernels == 3);
  CHECK(graph.api.total == 10);
  CHECK(graph.delay.count == 1);
  CHECK(graph.delay.total == 30);
}

TEST_CASE("a selection counts its own kernels, their calls, and delays of calls that begin in it") {
  LaunchedTrace trace;
  trace.call(0, 10);
  trace.call(20, 10);
  trace.tables.kernels.add(30, 50, 1, 1, 1);
  trace.tables.kernels.add(90, 5, 1, 1, 2);
  trace.tables.kernels.add(100, 5, 1, 1, 2);
  trace.tables.kernels.left_out = {1, 1, 0};
  const LaunchStats stats = trace.stats().groups[0];
  CHECK(stats.calls == 1);
  CHECK(stats.kernels == 1);
  CHECK(stats.delay.count == 0);
}

TEST_CASE("random launches: kernels close, and no queue is longer than its delay") {
  std::mt19937 chance(3);
  for (int round = 0; round < 500; ++round) {
    LaunchedTrace trace;
    trace.tables = DeviceTables::random(chance);
    for (std::size_t i = 0; i < trace.tables.call_ts.size(); ++i) {
      trace.dur.push_back(chance() % 8 == 0 ? kUnknownValue : static_cast<std::int64_t>(chance() % 9));
      trace.group.push_back(static_cast<GroupId>(chance() % 2));
      trace.is_launching.push_back(static_cast<std::uint8_t>(chance() % 2));
    }
    const Launches all = trace.stats();
    std::map<std::uint32_t, std::int64_t> first;  // by call: start of its first kernel
    for (std::size_t i = 0; i < trace.tables.kernels.ts.size(); ++i) {
      first.try_emplace(trace.tables.kernels.launch[i], trace.tables.kernels.ts[i]);
    }
    std::int64_t delay = 0;
    for (const auto& [call, ts] : first) {
      if (call == 0 || call > trace.dur.size() || trace.dur[call - 1] == kUnknownValue) continue;
      if (trace.tables.call_ts[call - 1] == kUnknownValue) continue;
      delay += std::max<std::int64_t>(0, ts - trace.tables.call_ts[call - 1] - trace.dur[call - 1]);
    }
    std::int64_t kernels = all.kernels_without_launch, found = 0;
    for (const LaunchStats& stats : all.groups) {
      kernels += stats.kernels;
      found += stats.delay.total;
      CHECK(stats.queue.total <= stats.delay.total);
      CHECK(stats.queue.max <= stats.delay.max);
      CHECK(stats.launching <= stats.calls);
    }
    CHECK(kernels == static_cast<std::int64_t>(trace.tables.kernels.ts.size()));
    CHECK(found == delay);
  }
}

}  // namespace tracedb
