// Launching calls by name (passes/time/timeline.h).
#include <array>
#include <bit>
#include <map>

#include "base/dense_index.h"
#include "base/statistics.h"
#include "base/unknown.h"
#include "passes/columns/group_stats.h"
#include "passes/tables/pass_tables.h"
#include "passes/time/timeline.h"
#include "trace/event_names.h"

namespace tracedb {
namespace {

constexpr std::string_view kNoLaunch = "[no launch]";

// Runtime calls of all names: each name is a group, in order of appearance.
struct NamedCalls {
  std::vector<std::uint32_t> names;  // by group
  std::vector<GroupId> group;
  std::vector<std::uint8_t> is_launching;

  explicit NamedCalls(const EventColumns& calls) {
    DenseIndex known;
    for (const std::uint32_t name : calls.ids("name_id")) {
      const auto [number, is_new] = known.index_of(name);
      if (is_new) names.push_back(name);
      group.push_back(number);
    }
    for (const std::uint32_t kind : calls.ids("kind")) {
      const auto own = static_cast<CallKind>(kind);
      is_launching.push_back(own == CallKind::kLaunch || own == CallKind::kGraphLaunch ? 1 : 0);
    }
  }
};

// Count, sum, median and 99th percentile; NULL: of no values.
void add(TableRows& rows, const GroupStats& values) {
  const auto known = [&](auto value) { return values.count > 0 ? std::optional(value) : std::nullopt; };
  rows.add(values.count).add(known(values.total)).add(known(values.median)).add(known(values.p99));
}

// Kernels that waited longer for their launch than they ran, by name.

struct ShortKernels {
  std::int64_t launched = 0, n = 0, time = 0;
  std::vector<std::int64_t> delays;
};

// Copies and fills by kind and direction.

constexpr std::size_t kMemoryKinds = 3;  // unknown, memcpy, memset

struct Sizes {
  std::int64_t sized = 0, bytes = 0, measured_bytes = 0;
  std::int64_t by_profiler = 0, by_duration = 0;  // operations
  double time = 0;                                // ns
};

struct Groups {
  std::vector<GroupId> all, measured;  // by operation: kind * directions + direction
  std::vector<Sizes> sizes;            // by group
};

// The time of an operation whose size and duration are known: what the profiler's bandwidth implies, if it gives one.
void add_measured(Sizes& sizes, std::int64_t bytes, std::int64_t dur, std::int64_t bandwidth) {
  sizes.measured_bytes = saturating_add(sizes.measured_bytes, bytes);
  const bool by_profiler = bandwidth != kUnknownValue && bytes > 0 && std::bit_cast<double>(bandwidth) > 0;
  ++(by_profiler ? sizes.by_profiler : sizes.by_duration);
  sizes.time += by_profiler ? static_cast<double>(bytes) / std::bit_cast<double>(bandwidth) : static_cast<double>(dur);
}

Groups groups_of(const EventColumns& columns, const EventFilter& filter, std::size_t directions) {
  const auto dur = columns.int64s("dur");
  const auto bytes = columns.int64s("bytes");
  const auto bandwidth = columns.int64s("bandwidth_gb_s");
  const auto kind = columns.ids("kind");
  const auto direction = columns.ids("direction");
  Groups out{std::vector<GroupId>(dur.size(), kNoGroup), std::vector<GroupId>(dur.size(), kNoGroup),
             std::vector<Sizes>(kMemoryKinds * directions)};
  for (std::size_t i = 0; i < dur.size(); ++i) {
    if (!filter.keeps_memory_op(i)) continue;
    const std::size_t group = kind[i] * directions + direction[i];
    out.all[i] = static_cast<GroupId>(group);
    if (bytes[i] == kUnknownValue) continue;
    Sizes& sizes = out.sizes[group];
    ++sizes.sized;
    sizes.bytes = saturating_add(sizes.bytes, bytes[i]);
    if (dur[i] == kUnknownValue) continue;
    add_measured(sizes, bytes[i], dur[i], bandwidth[i]);
    out.measured[i] = out.all[i];
  }
  return out;
}

}  // namespace

void fill_launch_groups(Workload& workload, const PassOptions&, TableRows& rows) {
  const DeviceColumns columns(workload, LaneBy::kStream, Times::kOfStart);
  const EventColumns& events = workload.events().calls;
  const NamedCalls calls(events);
  const Launches launches = launch_stats(
      columns.work(), {events.int64s("ts"), events.int64s("dur"), calls.group, calls.is_launching}, calls.names.size());
  TextById texts(workload.index());
  for (std::size_t g = 0; g < calls.names.size(); ++g) {
    const LaunchStats& stats = launches.groups[g];
    if (stats.calls == 0) continue;
    rows.add(texts.of(calls.names[g]).value_or("[no name]"))
        .add(stats.calls)
        .add(stats.launching)
        .add(stats.kernels)
        .add(stats.memory_ops);
    add(rows, stats.api);
    rows.add(stats.api.count > 0 ? std::optional(stats.api.max) : std::nullopt);
    add(rows, stats.delay);
    rows.add(stats.started_early);
    add(rows, stats.queue);
  }
  if (launches.kernels_without_launch == 0) return;
  rows.add(kNoLaunch).add_null().add_null().add(launches.kernels_without_launch);
  constexpr std::size_t kFigures = 15;
  rows.add_null(kFigures);
}

void fill_short_launches(Workload& workload, const PassOptions& options, TableRows& rows) {
  const EventColumns& calls = workload.events().calls;
  const auto call_ts = calls.int64s("ts"), call_dur = calls.int64s("dur");
  const auto names = workload.events().kernels.ids("name_id");
  const auto durations = workload.events().kernels.int64s("dur");
  std::vector<bool> seen(call_ts.size(), false);  // what a launch runs later, selected or not, has no delay of its own
  const DeviceColumns columns(workload, LaneBy::kDevice, Times::kOfStart);
  std::map<std::uint32_t, ShortKernels> groups;
  for_each_in_order(columns.work(), [&](const DeviceEvent& event) {
    const std::size_t call = event.launch;
    if (call == 0 || call > seen.size() || seen[call - 1]) return;
    seen[call - 1] = true;
    if (event.left_out || event.ref.is_memory_op) return;
    const std::int64_t dur = durations[event.ref.id - 1];
    if (call_dur[call - 1] == kUnknownValue || dur == kUnknownValue) return;
    ShortKernels& group = groups[names[event.ref.id - 1]];
    ++group.launched;
    const std::int64_t delay = event.ts - call_ts[call - 1] - call_dur[call - 1];
    if (dur >= options.short_below || delay <= dur) return;
    ++group.n;
    group.time = saturating_add(group.time, dur);
    group.delays.push_back(delay);
  });
  TextById name_of(workload.index(), "SELECT name FROM kernel_name WHERE id = ?");
  for (auto& [name, group] : groups) {
    if (group.n == 0) continue;
    rows.add(name_of.of(name).value_or("[no name]")).add(group.n).add(group.launched).add(group.time);
    std::int64_t sum = 0;
    for (const std::int64_t delay : group.delays) sum = saturating_add(sum, delay);
    rows.add(sum).add(median(std::span(group.delays)));
  }
}

void fill_memory_groups(Workload& workload, const PassOptions&, TableRows& rows) {
  const EventColumns& columns = workload.events().memory;
  const std::size_t directions = copy_directions().size() + 1;
  const Groups groups = groups_of(columns, workload.filter(), directions);
  const auto stats_of = [&](const std::vector<GroupId>& group) {
    return group_stats({columns.int64s("ts"), columns.int64s("dur"), columns.ids("stream_id"),
                        workload.events().device_of_stream, group},
                       kMemoryKinds * directions);
  };
  const std::vector<GroupStats> all = stats_of(groups.all);
  const std::vector<GroupStats> measured = stats_of(groups.measured);
  constexpr std::array<std::string_view, kMemoryKinds> kNames = {"[unknown]", kMemoryKindNames[0], kMemoryKindNames[1]};
  for (std::size_t g = 0; g < all.size(); ++g) {
    const GroupStats& stats = all[g];
    const Sizes& sizes = groups.sizes[g];
    if (stats.count == 0) continue;
    rows.add(kNames.at(g / directions));
    // Places 0 and 1: not one of the list, or the empty text that stands for none.
    rows.add(g % directions > 1 ? std::optional(copy_directions()[g % directions - 1]) : std::nullopt);
    rows.add(stats.count).add(stats.known).add(stats.total).add(stats.busy);
    rows.add(stats.known > 0 ? std::optional(stats.median) : std::nullopt).add(sizes.sized);
    rows.add(sizes.sized > 0 ? std::optional(sizes.bytes) : std::nullopt).add(sizes.measured_bytes);
    rows.add(measured[g].total).add(measured[g].busy).add(sizes.time).add(sizes.by_profiler).add(sizes.by_duration);
  }
}

}  // namespace tracedb
