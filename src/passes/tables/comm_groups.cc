#include "passes/tables/comm_groups.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "passes/select/device_columns.h"
#include "passes/time/collective_size.h"
#include "passes/time/exposed_time.h"
#include "sql/temp_table.h"

namespace tracedb {
namespace {

struct Collective {
  std::string name, group_name, group_description, dtype;  // empty: unknown
  std::optional<std::int64_t> group_size, bytes;
  bool described = true;
  bool fused = false;  // with computation
};

class Collectives {
 public:
  Collectives(const Index& index, const DeviceColumns& columns)
      : group_of_kernel_(columns.kernel_names().size(), kNoGroup) {
    if (!find_any(columns)) return;
    read_described(index);
    const DeviceEvents kernels = columns.work().kernels;
    for (std::size_t row = 0; row < group_of_kernel_.size(); ++row) {
      GroupId& group = group_of_kernel_[row];
      const bool fused = kernels.kind[row] == kFused;
      const bool wanted =
          (fused || kernels.kind[row] == kPlain) && (kernels.left_out.empty() || kernels.left_out[row] == 0);
      if (!wanted) {
        group = kNoGroup;
      } else if (group == kNoGroup) {
        group = group_of_name(index, columns.kernel_names()[row], fused);
      } else if (fused) {
        group = fused_twin(group);
      }
    }
  }

  [[nodiscard]] const std::vector<GroupId>& group_of_kernel() const { return group_of_kernel_; }
  [[nodiscard]] const std::vector<Collective>& groups() const { return groups_; }

 private:
  static constexpr auto kPlain = static_cast<std::uint32_t>(StoredKernelKind::kComm);
  static constexpr auto kFused = static_cast<std::uint32_t>(StoredKernelKind::kCommCompute);

  static bool find_any(const DeviceColumns& columns) {
    const auto kinds = columns.work().kernels.kind;
    return std::any_of(kinds.begin(), kinds.end(), [](std::uint32_t kind) { return kind == kPlain || kind == kFused; });
  }

  // The same collective, fused.
  GroupId fused_twin(GroupId group) {
    const auto [entry, is_new] = fused_twins_.try_emplace(group, static_cast<GroupId>(groups_.size()));
    if (is_new) {
      Collective twin = groups_[group];
      twin.fused = true;
      groups_.push_back(std::move(twin));
    }
    return entry->second;
  }

  void read_described(const Index& index) {
    Statement rows(index.database(),
                   "SELECT kernel_id, name, group_name, group_description, group_size, dtype, "
                   "nullif(max(coalesce(in_elements, -1), coalesce(out_elements, -1)), -1) FROM collective "
                   "ORDER BY kernel_id");
    std::string key;
    while (rows.step()) {
      const std::int64_t kernel = rows.int64(0);
      if (kernel < 1 || static_cast<std::size_t>(kernel) > group_of_kernel_.size()) continue;
      key.clear();
      for (int column = 1; column <= 6; ++column) key.append(rows.text(column)).push_back('\0');
      const auto [entry, is_new] = by_key_.try_emplace(key, static_cast<GroupId>(groups_.size()));
      if (is_new) groups_.push_back(collective(rows));
      group_of_kernel_[static_cast<std::size_t>(kernel) - 1] = entry->second;
    }
  }

  static Collective collective(const Statement& row) {
    Collective out;
    out.name = row.text(1);
    out.group_name = row.text(2);
    out.group_description = row.text(3);
    if (!row.is_null(4)) out.group_size = row.int64(4);
    out.dtype = row.text(5);
    const auto size = element_size(out.dtype);
    std::int64_t bytes = 0;
    if (size && !row.is_null(6) && !__builtin_mul_overflow(*size, row.int64(6), &bytes)) out.bytes = bytes;
    return out;
  }

  // Kernels that the trace says nothing about but their name.
  GroupId group_of_name(const Index& index, std::uint32_t name_id, bool fused) {
    const auto known = by_name_id_.find(name_id);
    if (known != by_name_id_.end()) return known->second;
    Statement statement(index.database(), "SELECT short_name FROM kernel_name WHERE id = ?");
    statement.bind(1, std::int64_t{name_id});
    Collective own;
    own.name = statement.step() ? std::string(statement.text(0)) : "[no name]";
    own.described = false;
    own.fused = fused;
    const auto [entry, is_new] =
        by_short_name_.try_emplace(own.name + (fused ? "+" : ""), static_cast<GroupId>(groups_.size()));
    if (is_new) groups_.push_back(std::move(own));
    return by_name_id_[name_id] = entry->second;
  }

  std::vector<GroupId> group_of_kernel_;
  std::vector<Collective> groups_;
  std::unordered_map<std::string, GroupId> by_key_, by_short_name_;
  std::unordered_map<std::uint32_t, GroupId> by_name_id_;
  std::unordered_map<GroupId, GroupId> fused_twins_;
};

void bind(Statement& row, int place, const std::string& text) {
  if (!text.empty()) row.bind(place, std::string_view(text));
}

void write_row(Statement& row, const Collective& what, const GroupStats& stats, const ExposedTime& time) {
  bind(row, 1, what.name);
  bind(row, 2, what.group_name);
  bind(row, 3, what.group_description);
  if (what.group_size) row.bind(4, *what.group_size);
  bind(row, 5, what.dtype);
  if (what.bytes) row.bind(6, *what.bytes);
  row.bind(7, stats.count).bind(8, stats.known).bind(9, stats.total).bind(10, time.busy).bind(11, time.exposed);
  if (stats.known > 0) row.bind(12, stats.min).bind(13, stats.max).bind(14, stats.median).bind(15, stats.p99);
  if (const auto factor = bus_factor(what.name, what.group_size.value_or(0))) row.bind(16, *factor);
  row.bind(17, std::int64_t{what.described});
  row.bind(18, std::string_view(what.fused ? "comm_compute" : "comm"));
  row.run();
}

}  // namespace

void make_comm_group_table(const Index& index, const Selection& selection, const DevicePlaces* places) {
  const DeviceColumns columns(index, selection, LaneBy::kDevice, Times::kOfStart, places, KernelNames::kRead);
  const Collectives all(index, columns);
  const DeviceWork work = columns.work();
  const GroupedEvents events{work.kernels.ts, work.kernels.dur, work.kernels.stream, work.lane_of_stream,
                             all.group_of_kernel()};
  const std::size_t count = all.groups().size();
  const std::vector<GroupStats> stats = count == 0 ? std::vector<GroupStats>() : group_stats(events, count);
  const std::vector<ExposedTime> times =
      count == 0 ? std::vector<ExposedTime>() : exposed_time(work, all.group_of_kernel(), count);
  TempTable table(index.database(), "comm_group",
                  "name TEXT, group_name TEXT, group_description TEXT, group_size INTEGER, dtype TEXT, bytes INTEGER, "
                  "n INTEGER, known INTEGER, total INTEGER, busy INTEGER, exposed INTEGER, min INTEGER, max INTEGER, "
                  "median REAL, p99 INTEGER, factor REAL, described INTEGER, kind TEXT",
                  18);
  for (std::size_t g = 0; g < count; ++g) {
    if (stats[g].count > 0) write_row(table.insert(), all.groups()[g], stats[g], times[g]);
  }
}

}  // namespace tracedb
