#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "base/unknown.h"
#include "passes/time/communication.h"
#include "passes/time/timeline.h"
#include "support/device_tables.h"
#include "support/rows.h"

namespace tracedb {
namespace {

TEST_CASE("exposed time by hand: an instant belongs to the one that started first") {
  DeviceTables tables;
  tables.kernels.add(0, 100, 2);           // group 0: 0..100
  tables.kernels.add(50, 100, 2, 2);       // group 1: 100..150
  tables.kernels.add(80, 40);              // computation 80..120
  tables.memory_ops.add(140, 5, 2);        // a fill
  tables.memory_ops.add(145, 5);           // a copy hides nothing
  tables.kernels.add(145, 3, 3);           // nor does a copy by a kernel
  tables.kernels.left_out = {0, 0, 1, 0};  // what is not selected computes all the same
  const std::vector<ExposedTime> times = exposed_time(tables.work(), std::vector<GroupId>{0, 1, kNoGroup, kNoGroup}, 2);
  CHECK(as_row(times[0].busy, times[0].exposed, times[1].busy, times[1].exposed) == "100 80 50 25");
}

TEST_CASE("random events: groups add up to what the timeline says") {
  std::mt19937 chance(9);
  for (int round = 0; round < 1000; ++round) {
    const DeviceTables tables = DeviceTables::random(chance);
    std::vector<GroupId> groups;
    for (const std::uint32_t kind : tables.kernels.kind) {
      groups.push_back(kind == 2 || kind == 4 ? static_cast<GroupId>(chance() % 3) : kNoGroup);
    }
    ExposedTime sum;
    for (const ExposedTime& time : exposed_time(tables.work(), groups, 3)) {
      CHECK(time.exposed <= time.busy);
      sum.busy += time.busy;
      sum.exposed += time.exposed;
    }
    ExposedTime expected;
    for (const LaneTimeline& lane : timelines(tables.work(), tables.calls(), {})) {
      expected.busy += lane.comm;
      expected.exposed += lane.exposed_comm;
    }
    CHECK(sum.busy == expected.busy);
    CHECK(sum.exposed == expected.exposed);
  }
}

TEST_CASE("sizes of elements and bus factors") {
  CHECK(as_row(element_size("BFloat16"), element_size("c10::BFloat16"), element_size("Float8_e4m3fn"),
               element_size("Long")) == "2 2 1 8");
  CHECK(as_row(element_size("INT8"), element_size("UINT16"), element_size("FP16"), element_size("BFP16"),
               element_size("FP32"), element_size("UINT64"), element_size("FP64"),
               element_size("INT128")) == "1 2 2 2 4 8 8 16");  // HCCL's
  CHECK_FALSE(element_size("Quaternion"));
  CHECK(as_row(bus_factor("allreduce", 4), bus_factor("_allgather_base", 4), bus_factor("_reduce_scatter_base", 8),
               bus_factor("all_to_allv", 2), bus_factor("broadcast", 2),
               bus_factor("allreduce_coalesced", 1)) == "1.5 0.75 0.875 0.5 1 0");
  CHECK_FALSE(bus_factor("barrier", 2));
  CHECK_FALSE(bus_factor("allreduce", 0));
}

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

TEST_CASE("values in groups, by hand") {
  const std::vector<std::int64_t> values = {5, 1, 9, 3, 100, 7};
  const std::vector<GroupId> groups = {0, 0, 0, 0, kNoGroup, 1};
  const std::vector<GroupStats> out = value_stats(values, groups, 3);
  CHECK(as_row(out[0].count, out[0].total, out[0].median, out[0].p99, out[0].max, out[1].median, out[1].p99,
               out[2].count) == "4 18 4 9 9 7 7 0");
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

std::string text(const LaunchStats& stats) {
  return fmt::format("{} calls, {} launching {} kernels, {} of {} ns, delay {} of {} ns, queue {} ns, {} early",
                     stats.calls, stats.launching, stats.kernels, stats.api.count, stats.api.total, stats.delay.count,
                     stats.delay.total, stats.queue.total, stats.started_early);
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
  // Delays: 20 + 80 + 0 + 5; in the queue 20 + 20 + 0 + 3, since the copy ran until 342.
  CHECK(text(plain) == "6 calls, 5 launching 5 kernels, 5 of 145 ns, delay 4 of 105 ns, queue 43 ns, 1 early");
  CHECK(plain.api.median == 10);
  CHECK(text(all.groups[1]) == "1 calls, 1 launching 3 kernels, 1 of 10 ns, delay 1 of 30 ns, queue 30 ns, 0 early");
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
  CHECK(as_row(stats.calls, stats.kernels, stats.delay.count) == "1 1 0");
}

TEST_CASE("copies and fills: calls that launch them alone have delays, and a graph begins with its copy") {
  LaunchedTrace trace;
  trace.call(0, 10);            // 1: a copy at 30
  trace.call(40, 5, 1);         // 2: a graph of a copy at 50 and a kernel at 70
  trace.call(80, 5, 0, false);  // 3: not a launch, but has a fill
  trace.tables.kernels.add(70, 5, 1, 1, 2);
  trace.tables.memory_ops.add(30, 5, 1, 1, 1);
  trace.tables.memory_ops.add(50, 5, 1, 1, 2);
  trace.tables.memory_ops.add(90, 5, 2, 1, 3);
  trace.tables.memory_ops.add(95, 5, 2, 1, 0);
  const Launches all = trace.stats();
  CHECK(text(all.groups[0]) == "2 calls, 2 launching 0 kernels, 2 of 15 ns, delay 2 of 25 ns, queue 25 ns, 0 early");
  CHECK(text(all.groups[1]) == "1 calls, 1 launching 1 kernels, 1 of 5 ns, delay 1 of 5 ns, queue 5 ns, 0 early");
  CHECK(as_row(all.groups[0].memory_ops, all.groups[1].memory_ops, all.kernels_without_launch) == "2 1 0");
}

TEST_CASE("random launches: kernels and copies close, and no queue is longer than its delay") {
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
    std::map<std::uint32_t, std::int64_t> first;  // by call: start of its first work
    std::int64_t launched = 0;                    // copies and fills
    const auto add = [&](std::uint32_t call, std::int64_t ts) {
      const auto [place, is_new] = first.try_emplace(call, ts);
      place->second = std::min(place->second, ts);
    };
    for (std::size_t i = 0; i < trace.tables.kernels.ts.size(); ++i)
      add(trace.tables.kernels.launch[i], trace.tables.kernels.ts[i]);
    for (std::size_t i = 0; i < trace.tables.memory_ops.ts.size(); ++i) {
      const std::uint32_t call = trace.tables.memory_ops.launch[i];
      add(call, trace.tables.memory_ops.ts[i]);
      launched += call != 0 && call <= trace.dur.size() ? 1 : 0;
    }
    std::int64_t delay = 0;
    for (const auto& [call, ts] : first) {
      if (call == 0 || call > trace.dur.size() || trace.dur[call - 1] == kUnknownValue) continue;
      if (trace.tables.call_ts[call - 1] == kUnknownValue) continue;
      delay += std::max<std::int64_t>(0, ts - trace.tables.call_ts[call - 1] - trace.dur[call - 1]);
    }
    std::int64_t kernels = all.kernels_without_launch, found = 0, memory_ops = 0;
    for (const LaunchStats& stats : all.groups) {
      kernels += stats.kernels;
      memory_ops += stats.memory_ops;
      found += stats.delay.total;
      CHECK(stats.queue.total <= stats.delay.total);
      CHECK(stats.queue.max <= stats.delay.max);
      CHECK(stats.launching <= stats.calls);
    }
    CHECK(kernels == static_cast<std::int64_t>(trace.tables.kernels.ts.size()));
    CHECK(memory_ops == launched);
    CHECK(found == delay);
  }
}

LaneTimeline first_lane(const DeviceTables& tables, const TimelineOptions& options = {}) {
  return timelines(tables.work(), tables.calls(), options).front();
}

// What the definitions say, tick by tick.
class Oracle {
 public:
  Oracle(const DeviceTables& tables, const TimelineOptions& options, std::uint32_t lane)
      : calls_(tables.calls()), options_(options) {
    std::set<std::uint32_t> running;
    for_each_in_order(tables.work(), [&](const DeviceEvent& event) {
      const bool launched = event.launch > 0 && event.launch <= calls_.ts.size();
      const bool inside = launched && running.contains(event.launch) &&
                          calls_.kind[event.launch - 1] == static_cast<std::uint32_t>(CallKind::kGraphLaunch);
      if (event.end > event.ts) running.insert(event.launch);
      if (event.lane != lane || event.end == event.ts) return;
      (event.left_out ? others_ : events_).push_back(event);
      all_.push_back(event);
      inside_graph_.push_back(inside);
    });
  }

  [[nodiscard]] LaneTimeline timeline() const {
    LaneTimeline out;
    if (events_.empty()) return out;
    std::int64_t first = events_.front().ts, last = 0;
    for (const DeviceEvent& event : events_) last = std::max(last, event.end);
    for (std::int64_t tick = first; tick < last; ++tick) {
      if (tick < options_.window.from || tick >= options_.window.to) continue;
      ++out.span;
      add(tick, out);
    }
    return out;
  }

 private:
  static bool any(const std::vector<DeviceEvent>& events, std::int64_t tick, std::initializer_list<Work> kinds) {
    return std::any_of(events.begin(), events.end(), [&](const DeviceEvent& event) {
      return event.ts <= tick && tick < event.end && std::find(kinds.begin(), kinds.end(), event.work) != kinds.end();
    });
  }

  void add(std::int64_t tick, LaneTimeline& out) const {
    const bool compute = any(events_, tick, {Work::kCompute});
    const bool comm = any(events_, tick, {Work::kComm, Work::kFusedComm});
    const bool copy = any(events_, tick, {Work::kCopy});
    out.computation += compute;
    out.comm += comm;
    out.fused_comm += any(events_, tick, {Work::kFusedComm});
    out.copy += copy;
    out.exposed_comm += comm && !compute;
    out.exposed_copy += copy && !comm && !compute;
    out.busy += compute || comm || copy;
    if (compute || comm || copy) return;
    ++out.idle;
    std::int64_t free_from = 0;
    for (const DeviceEvent& event : all_) {
      if (event.end <= tick) free_from = std::max(free_from, event.end);
    }
    const auto first = std::find_if(all_.begin(), all_.end(), [&](const auto& event) { return event.ts > tick; });
    // Of what begins at one moment, what is selected.
    const auto next =
        std::find_if(first, all_.end(), [&](const auto& one) { return one.ts > first->ts || !one.left_out; });
    if (next == all_.end() || next->ts > first->ts ||
        any(others_, tick, {Work::kCompute, Work::kComm, Work::kFusedComm, Work::kCopy})) {
      ++out.unselected;
      return;
    }
    const bool inside = inside_graph_[static_cast<std::size_t>(next - all_.begin())];
    ++out.idle_by_cause[static_cast<std::size_t>(cause(*next, inside, free_from))];
    ++(next->ts - free_from < options_.micro_idle ? out.micro_idle : out.macro_idle);
  }

  [[nodiscard]] IdleCause cause(const DeviceEvent& next, bool inside, std::int64_t free_from) const {
    if (next.launch == 0 || next.launch > calls_.ts.size()) return IdleCause::kUnknown;
    if (inside) return IdleCause::kGraphGap;
    if (calls_.ts[next.launch - 1] == kUnknownValue) return IdleCause::kUnknown;
    if (calls_.ts[next.launch - 1] > free_from) return IdleCause::kHostWait;
    return next.ts - free_from < options_.kernel_wait ? IdleCause::kKernelWait : IdleCause::kOther;
  }

  LaunchCalls calls_;
  TimelineOptions options_;
  std::vector<DeviceEvent> events_, others_, all_;
  std::vector<bool> inside_graph_;
};

std::string text(const LaneTimeline& lane) {
  return fmt::format(
      "{} busy {} idle {} computation {} comm {} fused {} copy {} exposed {} {} by cause {} micro {} {} "
      "unselected {}",
      lane.span, lane.busy, lane.idle, lane.computation, lane.comm, lane.fused_comm, lane.copy, lane.exposed_comm,
      lane.exposed_copy, lane.idle_by_cause, lane.micro_idle, lane.macro_idle, lane.unselected);
}

void check_identities(const LaneTimeline& lane) {
  CHECK(lane.computation + lane.exposed_comm + lane.exposed_copy + lane.idle == lane.span);
  const std::int64_t gaps = lane.idle - lane.unselected;
  CHECK(std::accumulate(lane.idle_by_cause.begin(), lane.idle_by_cause.end(), std::int64_t{0}) == gaps);
  CHECK(lane.micro_idle + lane.macro_idle == gaps);
}

TEST_CASE("gaps: the longest first, their neighbours, and what is left") {
  DeviceTables tables;
  tables.kernels.add(0, 10);
  tables.memory_ops.add(5, 10);
  tables.kernels.add(20, 30);  // gap of 5
  tables.kernels.add(25, 5, 1, 2);
  tables.kernels.add(55, 5);  // gap of 5
  tables.kernels.add(90, 5);  // gap of 30
  const Gaps two = idle_gaps(tables.work(), tables.calls(), {}, 2);
  CHECK(as_row(two.count, two.total) == "3 40");
  REQUIRE(two.listed.size() == 2);
  CHECK(as_row(two.listed[0].ts, two.listed[0].dur, two.listed[1].ts) == "60 30 15");
  CHECK(two.listed[1].before == EventRef{1, true});
  CHECK(two.listed[1].after == EventRef{2, false});
  CHECK(idle_gaps(tables.work(), tables.calls(), {}, 0).listed.size() == 3);
}

TEST_CASE("absurd times do not overflow") {
  constexpr std::int64_t kLatest = std::numeric_limits<std::int64_t>::max();
  DeviceTables tables;
  tables.kernels.add(kUnknownValue, 5);
  tables.kernels.add(-20, 5);
  tables.kernels.add(10, kLatest);
  tables.kernels.add(kLatest - 3, kLatest, 2);
  const LaneTimeline lane = first_lane(tables);
  CHECK(lane.span == kLatest);
  check_identities(lane);
}

TEST_CASE("random events: every figure as counted tick by tick, every identity, gaps that close") {
  std::mt19937 chance(11);
  for (int round = 0; round < 1500; ++round) {
    DeviceTables tables = DeviceTables::random(chance);
    TimelineOptions options;
    options.kernel_wait = 3;
    options.micro_idle = 4;
    if (round % 3 == 1) {
      options.window = {static_cast<std::int64_t>(chance() % 20), static_cast<std::int64_t>(20 + chance() % 40)};
    }
    if (round % 3 == 2) {
      for (DeviceEventTable* table : {&tables.kernels, &tables.memory_ops}) {
        for (std::size_t i = 0; i < table->ts.size(); ++i) {
          table->left_out.push_back(static_cast<std::uint8_t>(chance() % 2));
        }
      }
    }
    const std::vector<LaneTimeline> lanes = timelines(tables.work(), tables.calls(), options);
    std::int64_t idle = 0, count = 0;
    for (std::uint32_t lane = 0; lane < 2; ++lane) {
      CHECK(text(lanes[lane]) == text(Oracle(tables, options, lane).timeline()));
      check_identities(lanes[lane]);
      idle += lanes[lane].idle - lanes[lane].unselected;
      count += lanes[lane].gaps;
    }
    const Gaps all = idle_gaps(tables.work(), tables.calls(), options, 0);
    const Gaps some = idle_gaps(tables.work(), tables.calls(), options, 3);
    CHECK(all.total == idle);
    CHECK(all.count == count);
    CHECK(some.total == idle);
    REQUIRE(some.listed.size() == std::min<std::size_t>(3, all.listed.size()));
    for (std::size_t i = 0; i < some.listed.size(); ++i) {
      CHECK(some.listed[i].ts == all.listed[i].ts);
      CHECK(some.listed[i].dur == all.listed[i].dur);
    }
  }
}

}  // namespace
}  // namespace tracedb
