// Launches: by call (passes/time/timeline.h), by configuration, what waits in the queues of streams; copies and
// fills.
#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <optional>
#include <vector>

#include "base/dense_index.h"
#include "base/statistics.h"
#include "base/unknown.h"
#include "passes/columns/group_stats.h"
#include "passes/tables/pass_tables.h"
#include "passes/time/timeline.h"
#include "passes/work/device_peaks.h"
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
  rows.add(values.count, known(values.total), known(values.median), known(values.p99));
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
    rows.add(texts.of(calls.names[g]).value_or("[no name]"), stats.calls, stats.launching, stats.kernels,
             stats.memory_ops);
    add(rows, stats.api);
    rows.add(stats.api.count > 0 ? std::optional(stats.api.max) : std::nullopt);
    add(rows, stats.delay);
    rows.add(stats.started_early);
    add(rows, stats.queue);
  }
  if (launches.kernels_without_launch == 0) return;
  rows.add(kNoLaunch).add_null(2).add(launches.kernels_without_launch);
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
    rows.add(name_of.of(name).value_or("[no name]"), group.n, group.launched, group.time);
    std::int64_t sum = 0;
    for (const std::int64_t delay : group.delays) sum = saturating_add(sum, delay);
    rows.add(sum, median(std::span(group.delays)));
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
    rows.add(stats.count, stats.known, stats.total, stats.busy);
    rows.add(stats.known > 0 ? std::optional(stats.median) : std::nullopt, sizes.sized);
    rows.add(sizes.sized > 0 ? std::optional(sizes.bytes) : std::nullopt, sizes.measured_bytes);
    rows.add(measured[g].total, measured[g].busy, sizes.time, sizes.by_profiler, sizes.by_duration);
  }
}

// Kernels by name and launch configuration: how much of the multiprocessors they use.

namespace {

struct LaunchedAlike {
  std::uint32_t name = 0, config = 0;  // ids
  std::int64_t min = std::numeric_limits<std::int64_t>::max(), max = 0, known = 0;
  DeviceSums sums;
};

std::optional<std::string_view> matrix_units_text(std::string_view kernel_name) {
  const std::optional<bool> uses = runs_on_matrix_units(kernel_name);
  return uses ? std::optional<std::string_view>(*uses ? "yes" : "no") : std::nullopt;
}

}  // namespace

void fill_launch_configs(Workload& workload, const PassOptions&, TableRows& rows) {
  const EventColumns& kernels = workload.events().kernels;
  const auto names = kernels.ids("name_id"), configs = kernels.ids("launch_config_id");
  const auto dur = kernels.int64s("dur");
  DenseIndex known;
  std::vector<LaunchedAlike> groups;
  for_each_selected(workload, [&](const DeviceEvent& event) {
    if (event.ref.is_memory_op) return;
    const std::size_t row = event.ref.id - 1;
    const auto [place, is_new] = known.index_of(std::uint64_t{names[row]} << 32U | configs[row]);
    if (is_new) groups.emplace_back().name = names[row], groups.back().config = configs[row];
    LaunchedAlike& group = groups[place];
    group.sums.add(event);
    if (dur[row] == kUnknownValue) return;
    ++group.known;
    group.min = std::min(group.min, event.end - event.ts);
    group.max = std::max(group.max, event.end - event.ts);
  });
  // Profilers write negative numbers and 0 where they know none.
  TextById config_of(workload.index(),
                     "SELECT grid_x || ',' || grid_y || ',' || grid_z, block_x || ',' || block_y || ',' || block_z, "
                     "registers, shared_memory, iif(occupancy_pct > 0, occupancy_pct, NULL), "
                     "iif(theoretical_occupancy_pct > 0, theoretical_occupancy_pct, NULL), iif(blocks_per_sm > 0, "
                     "blocks_per_sm, NULL), iif(warps_per_sm > 0, warps_per_sm, NULL) FROM launch_config WHERE id = ?");
  TextById names_by_id(workload.index(), "SELECT name FROM kernel_name WHERE id = ?");
  for (const LaunchedAlike& group : groups) {
    const auto range = [&](std::int64_t value) { return group.known > 0 ? std::optional(value) : std::nullopt; };
    const std::string_view name = names_by_id.of(group.name).value_or("[no name]");
    rows.add(name, matrix_units_text(name), group.sums.kernels, group.known, group.sums.total);
    rows.add(range(group.min), range(group.max));
    const Statement* const config = config_of.row(group.config);
    constexpr int kTexts = 2, kIntegers = 4, kAll = 8;
    for (int i = 0; i < kAll; ++i) {
      if (config == nullptr || config->is_null(i)) {
        rows.add_null();
      } else if (i < kTexts) {
        rows.add(config->text(i));
      } else if (i < kIntegers) {
        rows.add(config->int64(i));
      } else {
        rows.add(config->real(i));
      }
    }
  }
}

// What waits in the queue of each stream over time, and how fast copies run over time. Linear but for sorting.

namespace {

// Of a stream: when its work was launched, and when it started. What starts before its launch was called never waited.
struct StreamQueue {
  std::vector<std::int64_t> launched, started;
  std::int64_t not_launched = 0;  // work whose launch is not known, or begins behind it
};

std::map<std::uint32_t, StreamQueue> queues_of(Workload& workload) {
  std::map<std::uint32_t, StreamQueue> out;
  const auto call_ts = workload.events().calls.int64s("ts");
  for_each_selected(workload, [&](const DeviceEvent& event) {
    StreamQueue& queue = out[event.stream];
    if (event.launch == 0 || event.launch > call_ts.size() || call_ts[event.launch - 1] >= event.ts) {
      ++queue.not_launched;
      return;
    }
    queue.launched.push_back(call_ts[event.launch - 1]);
    queue.started.push_back(event.ts);
  });
  for (auto& [stream, queue] : out) {
    std::ranges::sort(queue.launched);
    std::ranges::sort(queue.started);
  }
  return out;
}

// Calls visit(ts, waiting from then on) at each launch and each start, of those at one time the starts first.
template <class Visit>
void for_each_point(const StreamQueue& queue, Visit visit) {
  std::size_t launched = 0, started = 0;
  while (started < queue.started.size()) {
    const bool starts = launched == queue.launched.size() || queue.started[started] <= queue.launched[launched];
    const std::int64_t ts = starts ? queue.started[started++] : queue.launched[launched++];
    visit(ts, static_cast<std::int64_t>(launched - started));
  }
}

void fill_queues(Workload& workload, const PassOptions& options, TableRows& rows) {
  for (const auto& [stream, queue] : queues_of(workload)) {
    std::map<std::int64_t, std::int64_t> points;  // by length
    double area = 0;                              // times ns
    std::int64_t first = 0, last = 0, length = 0, at_limit = 0;
    for_each_point(queue, [&](std::int64_t ts, std::int64_t waiting) {
      if (points.empty()) first = last = ts;
      area += static_cast<double>(length) * static_cast<double>(ts - last);
      if (length >= options.queue_limit) at_limit += ts - last;
      last = ts;
      length = waiting;
      ++points[waiting];
    });
    const auto count = static_cast<std::int64_t>(queue.started.size() * 2);
    std::optional<double> median;
    std::int64_t before = 0;
    for (auto point = points.begin(); point != points.end() && !median; ++point) {
      before += point->second;
      if (before * 2 < count) continue;
      // Of an even number, the mean of the two in the middle.
      const std::int64_t next = before * 2 == count ? std::next(point)->first : point->first;
      median = static_cast<double>(point->first + next) / 2;
    }
    rows.add(known_id(stream), count);
    rows.add(last > first ? std::optional(area / static_cast<double>(last - first)) : std::nullopt, median);
    rows.add(points.empty() ? std::nullopt : std::optional(points.rbegin()->first), at_limit, first, last);
    rows.add(queue.not_launched);
  }
}

void fill_points(Workload& workload, const PassOptions&, TableRows& rows) {
  for (const auto& [stream, queue] : queues_of(workload)) {
    for_each_point(queue,
                   [&, id = known_id(stream)](std::int64_t ts, std::int64_t waiting) { rows.add(id, ts, waiting); });
  }
}

void fill_rates(Workload& workload, const PassOptions&, TableRows& rows) {
  const EventColumns& memory = workload.events().memory;
  const auto bytes = memory.int64s("bytes");
  const auto direction = memory.ids("direction");
  struct Change {
    double rate = 0;  // GB/s
    std::int64_t copies = 0;
  };
  std::map<std::uint32_t, std::map<std::int64_t, Change>> changes;  // by direction, then time
  for_each_selected(workload, [&](const DeviceEvent& event) {
    if (!event.ref.is_memory_op || event.work != Work::kCopy || event.end <= event.ts) return;
    const std::int64_t size = bytes[event.ref.id - 1];
    if (size <= 0) return;
    const double rate = static_cast<double>(size) / static_cast<double>(event.end - event.ts);
    auto& own = changes[direction[event.ref.id - 1]];
    own[event.ts].rate += rate;
    ++own[event.ts].copies;
    own[event.end].rate -= rate;
    --own[event.end].copies;
  });
  for (const auto& [place, own] : changes) {
    Change now;
    for (const auto& [ts, change] : own) {
      now.copies += change.copies;
      now.rate = now.copies == 0 ? 0 : now.rate + change.rate;  // exactly 0 where nothing runs
      rows.add(place == 0 ? std::nullopt : std::optional(copy_directions()[place - 1]), ts, now.rate, now.copies);
    }
  }
}

}  // namespace

std::vector<PassTable> queue_tables() {
  return {declared_table("queues", fill_queues), declared_table("queue_points", fill_points),
          declared_table("copy_rates", fill_rates)};
}

}  // namespace tracedb
