// Communication kernels by collective.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "passes/tables/pass_tables.h"
#include "passes/time/communication.h"

namespace tracedb {
namespace {

struct Collective {
  std::string name, group_name, group_description, dtype;  // empty: unknown
  std::optional<std::int64_t> group_size, bytes;
  std::optional<double> leaving;  // of what goes to all, the share that at least goes to other ranks
  bool described = true;
  bool fused = false;  // with computation
};

class Collectives {
 public:
  Collectives(const Index& index, const DeviceEvents& kernels, const EventColumns& columns)
      : group_of_kernel_(kernels.ts.size(), kNoGroup) {
    const bool any =
        std::ranges::any_of(kernels.kind, [](std::uint32_t kind) { return kind == kPlain || kind == kFused; });
    if (!any) return;
    read_described(index);
    const auto name = columns.ids("name_id");
    for (std::size_t row = 0; row < group_of_kernel_.size(); ++row) {
      GroupId& group = group_of_kernel_[row];
      const bool fused = kernels.kind[row] == kFused;
      const bool wanted =
          (fused || kernels.kind[row] == kPlain) && (kernels.left_out.empty() || kernels.left_out[row] == 0);
      if (!wanted) {
        group = kNoGroup;
      } else if (group == kNoGroup) {
        group = group_of_name(index, name[row], fused);
      } else if (fused) {
        group = fused_twin(group);
      }
    }
  }

  [[nodiscard]] const std::vector<GroupId>& group_of_kernel() const { return group_of_kernel_; }
  [[nodiscard]] const std::vector<Collective>& groups() const { return groups_; }

 private:
  static constexpr auto kPlain = static_cast<std::uint32_t>(KernelKind::kComm);
  static constexpr auto kFused = static_cast<std::uint32_t>(KernelKind::kCommCompute);

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
    Statement rows(
        index.database(),
        "SELECT kernel_id, name, group_name, group_description, group_size, dtype, "
        "nullif(max(coalesce(in_elements, -1), coalesce(out_elements, -1)), -1), "
        "(SELECT max(0.0, 1.0 - 1.0 * max(value) / nullif(total(value), 0)) FROM json_each(iif(lower(name) "
        "GLOB '*all*to*all*' AND json_valid(in_splits), in_splits, '[]'))) FROM collective ORDER BY kernel_id");
    std::string key;
    while (rows.step()) {
      const std::int64_t kernel = rows.int64(0);
      if (kernel < 1 || static_cast<std::size_t>(kernel) > group_of_kernel_.size()) continue;
      key.clear();
      for (int column = 1; column <= 6; ++column) key.append(rows.text(column)).push_back('\0');
      const auto [entry, is_new] = by_key_.try_emplace(key, static_cast<GroupId>(groups_.size()));
      if (is_new) groups_.push_back(collective(rows));
      std::optional<double>& leaving = groups_[entry->second].leaving;
      if (!rows.is_null(7)) leaving = std::min(leaving.value_or(1), rows.real(7));
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
    Collective own;
    own.name = TextById(index, "SELECT short_name FROM kernel_name WHERE id = ?").of(name_id).value_or("[no name]");
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

}  // namespace

void fill_comm_groups(Workload& workload, const PassOptions&, TableRows& rows) {
  const DeviceColumns columns(workload, LaneBy::kDevice, Times::kOfStart);
  const DeviceWork work = columns.work();
  const Collectives all(workload.index(), work.kernels, workload.events().kernels);
  const std::size_t count = all.groups().size();
  if (count == 0) return;
  const std::vector<GroupStats> stats = group_stats(
      {work.kernels.ts, work.kernels.dur, work.kernels.stream, work.lane_of_stream, all.group_of_kernel()}, count);
  const std::vector<ExposedTime> times = exposed_time(work, all.group_of_kernel(), count);
  for (std::size_t g = 0; g < count; ++g) {
    const Collective& what = all.groups()[g];
    const GroupStats& own = stats[g];
    if (own.count == 0) continue;
    const auto figure = [&](auto value) { return own.known > 0 ? std::optional(value) : std::nullopt; };
    rows.add(known_text(what.name), known_text(what.group_name), known_text(what.group_description), what.group_size);
    rows.add(known_text(what.dtype), what.bytes, own.count, own.known, own.total, times[g].busy, times[g].exposed);
    rows.add(figure(own.min), figure(own.max), figure(own.median), figure(own.p99));
    std::optional<double> factor = bus_factor(what.name, what.group_size.value_or(0));
    if (factor && what.leaving) factor = std::min(*factor, *what.leaving);
    rows.add(factor, what.described, what.fused ? "comm_compute" : "comm");
  }
}

}  // namespace tracedb
