// Copies and fills by kind and direction.
#include <array>
#include <bit>

#include "base/saturating.h"
#include "base/unknown.h"
#include "passes/columns/group_stats.h"
#include "passes/tables/pass_tables.h"
#include "trace/event_names.h"

namespace tracedb {
namespace {

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

}  // namespace

PassTable copies_table() {
  using enum ColumnType;
  return {
      "copies",
      "copies and fills by kind and direction",
      {{"kind", kText, "", "memcpy, memset or [unknown]"},
       {"direction", kText, "", "HtoD, DtoH ...; NULL: the trace does not say"},
       {"n", kInteger, "count", "operations"},
       {"known", kInteger, "count", "of them, whose duration is known"},
       {"total", kInteger, "ns", "their durations"},
       {"busy", kInteger, "ns", "time during which any of them ran, added up over devices"},
       {"median", kReal, "ns", "of the durations; NULL: none is known"},
       {"sized", kInteger, "count", "operations whose size is known"},
       {"bytes", kInteger, "bytes", "their sizes; NULL: there are none"},
       {"measured_bytes", kInteger, "bytes", "of operations whose size and duration are known"},
       {"measured_total", kInteger, "ns", "durations of these"},
       {"measured_busy", kInteger, "ns", "time during which any of these ran"},
       {"measured_time", kReal, "ns", "what measured_bytes took: by the profiler's own bandwidth, else by duration"},
       {"by_profiler", kInteger, "count", "of these, with a bandwidth of the profiler"},
       {"by_duration", kInteger, "count", "of these, without"}},
      fill_memory_groups};
}

}  // namespace tracedb
