#include "passes/tables/memory_groups.h"

#include <array>
#include <bit>
#include <string_view>
#include <vector>

#include "passes/columns/event_columns.h"
#include "passes/columns/group_stats.h"
#include "sql/temp_table.h"
#include "trace/event_names.h"

namespace tracedb {
namespace {

constexpr std::size_t kKinds = 3;  // unknown, memcpy, memset

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
  sizes.measured_bytes = bounded_add(sizes.measured_bytes, bytes);
  const bool by_profiler = bandwidth != kNullCell && bytes > 0 && std::bit_cast<double>(bandwidth) > 0;
  ++(by_profiler ? sizes.by_profiler : sizes.by_duration);
  sizes.time += by_profiler ? static_cast<double>(bytes) / std::bit_cast<double>(bandwidth) : static_cast<double>(dur);
}

Groups groups_of(const EventColumns& columns, const EventFilter& filter, std::span<const std::uint32_t> step,
                 std::size_t directions) {
  const auto ts = columns.int64s("ts");
  const auto dur = columns.int64s("dur");
  const auto bytes = columns.int64s("bytes");
  const auto bandwidth = columns.int64s("bandwidth_gb_s");
  const auto kind = columns.ids("kind");
  const auto direction = columns.ids("direction");
  const auto stream = columns.ids("stream_id");
  Groups out{std::vector<GroupId>(ts.size(), kNoGroup), std::vector<GroupId>(ts.size(), kNoGroup),
             std::vector<Sizes>(kKinds * directions)};
  for (std::size_t i = 0; i < ts.size(); ++i) {
    if (!filter.keeps(ts[i], 0, stream[i], step[i])) continue;
    const std::size_t group = kind[i] * directions + direction[i];
    out.all[i] = static_cast<GroupId>(group);
    if (bytes[i] == kNullCell) continue;
    Sizes& sizes = out.sizes[group];
    ++sizes.sized;
    sizes.bytes = bounded_add(sizes.bytes, bytes[i]);
    if (dur[i] == kNullCell) continue;
    add_measured(sizes, bytes[i], dur[i], bandwidth[i]);
    out.measured[i] = out.all[i];
  }
  return out;
}

void write_row(Statement& row, const GroupStats& stats, const GroupStats& measured, const Sizes& sizes) {
  row.bind(3, stats.count).bind(4, stats.known).bind(5, stats.total).bind(6, stats.busy);
  if (stats.known > 0) row.bind(7, stats.median);
  row.bind(8, sizes.sized);
  if (sizes.sized > 0) row.bind(9, sizes.bytes);
  row.bind(10, sizes.measured_bytes).bind(11, measured.total).bind(12, measured.busy).bind(13, sizes.time);
  row.bind(14, sizes.by_profiler).bind(15, sizes.by_duration);
  row.run();
}

}  // namespace

void make_memory_group_table(const Index& index, const Selection& selection, const StepSet* steps) {
  const EventColumns columns(index, "memory_op",
                             {"ts", "dur", "kind", "direction", "bytes", "bandwidth_gb_s", "stream_id", "step_id"});
  const std::size_t directions = copy_directions().size() + 1;
  const Groups groups = groups_of(columns, EventFilter(index, selection, steps),
                                  steps == nullptr ? columns.ids("step_id") : steps->of_memory, directions);
  const std::vector<std::uint32_t> devices = devices_of_streams(index);
  const auto stats_of = [&](const std::vector<GroupId>& group) {
    return group_stats({columns.int64s("ts"), columns.int64s("dur"), columns.ids("stream_id"), devices, group},
                       kKinds * directions);
  };
  const std::vector<GroupStats> all = stats_of(groups.all);
  const std::vector<GroupStats> measured = stats_of(groups.measured);
  constexpr std::array<std::string_view, kKinds> kNames = {"[unknown]", "memcpy", "memset"};
  TempTable table(index.database(), "memory_group",
                  "kind TEXT, direction TEXT, n INTEGER, known INTEGER, total INTEGER, busy INTEGER, median REAL, "
                  "sized INTEGER, bytes INTEGER, measured_bytes INTEGER, measured_total INTEGER, "
                  "measured_busy INTEGER, measured_time REAL, by_profiler INTEGER, by_duration INTEGER",
                  15);
  for (std::size_t g = 0; g < all.size(); ++g) {
    if (all[g].count == 0) continue;
    Statement& row = table.insert();
    row.bind(1, kNames.at(g / directions));
    // Places 0 and 1: not one of the list, or the empty text that stands for none.
    if (g % directions > 1) row.bind(2, copy_directions()[g % directions - 1]);
    write_row(row, all[g], measured[g], groups.sizes[g]);
  }
}

}  // namespace tracedb
