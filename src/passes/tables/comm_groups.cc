// Communication kernels by collective.
#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>

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

Collective described_by(const Statement& row) {
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

// What the trace says of communication, each once, and which of it of a kernel: by row its place + 1; 0: nothing.
struct Described {
  std::vector<Collective> collectives;
  std::vector<std::uint32_t> of_kernel;

  Described(const Index& index, std::size_t kernels) : of_kernel(kernels) {
    Statement rows(
        index.database(),
        "SELECT kernel_id, name, group_name, group_description, group_size, dtype, "
        "nullif(max(coalesce(in_elements, -1), coalesce(out_elements, -1)), -1), "
        "(SELECT max(0.0, 1.0 - 1.0 * max(value) / nullif(total(value), 0)) FROM json_each(iif(lower(name) "
        "GLOB '*all*to*all*' AND json_valid(in_splits), in_splits, '[]'))) FROM collective ORDER BY kernel_id");
    std::unordered_map<std::string, std::uint32_t> places;
    std::string key;
    while (rows.step()) {
      const std::int64_t kernel = rows.int64(0);
      if (kernel < 1 || static_cast<std::size_t>(kernel) > kernels) continue;
      key.clear();
      for (int column = 1; column <= 6; ++column) key.append(rows.text(column)).push_back('\0');
      const auto [entry, is_new] = places.try_emplace(key, static_cast<std::uint32_t>(places.size() + 1));
      if (is_new) collectives.push_back(described_by(rows));
      std::optional<double>& leaving = collectives[entry->second - 1].leaving;
      if (!rows.is_null(7)) leaving = std::min(leaving.value_or(1), rows.real(7));
      of_kernel[static_cast<std::size_t>(kernel) - 1] = entry->second;
    }
  }
};

// Those that are selected, in order of their first kernels: what the trace says nothing about but the name of the
// kernel, by that; fused ones apart.
struct Collectives {
  std::vector<Collective> groups;
  std::vector<GroupId> group_of_kernel;  // kNoGroup: it does not communicate, or is not selected

  Collectives(const Index& index, const DeviceEvents& kernels, const EventColumns& columns)
      : group_of_kernel(kernels.ts.size(), kNoGroup) {
    constexpr auto kUnfused = static_cast<std::uint32_t>(KernelKind::kComm);
    constexpr auto kFused = static_cast<std::uint32_t>(KernelKind::kCommCompute);
    const Described described(index, group_of_kernel.size());
    const std::string none = "[no name]";
    const std::vector<std::string> short_names = by_id(
        index, "SELECT id, short_name FROM kernel_name", [](const Statement& row) { return std::string(row.text(1)); },
        none);
    const auto names = columns.ids("name_id");
    std::map<std::tuple<std::uint32_t, std::string_view, bool>, GroupId> known;  // by what is said, name, if fused
    for (std::size_t row = 0; row < group_of_kernel.size(); ++row) {
      const bool fused = kernels.kind[row] == kFused;
      if (!fused && kernels.kind[row] != kUnfused) continue;
      if (!kernels.left_out.empty() && kernels.left_out[row] != 0) continue;
      const std::uint32_t said = described.of_kernel[row];
      std::string_view name;
      if (said == 0) name = names[row] < short_names.size() ? short_names[names[row]] : none;
      const auto [entry, is_new] =
          known.try_emplace(std::tuple(said, name, fused), static_cast<GroupId>(groups.size()));
      group_of_kernel[row] = entry->second;
      if (!is_new) continue;
      Collective& own = groups.emplace_back(said != 0 ? described.collectives[said - 1] : Collective{});
      if (said == 0) own.name = name;
      own.described = said != 0;
      own.fused = fused;
    }
  }
};

}  // namespace

void fill_comm_groups(Workload& workload, const PassOptions&, TableRows& rows) {
  const DeviceColumns columns(workload, LaneBy::kDevice, Times::kOfStart);
  const DeviceWork work = columns.work();
  const Collectives all(workload.index(), work.kernels, workload.events().kernels);
  const std::size_t count = all.groups.size();
  if (count == 0) return;
  const std::vector<GroupStats> stats = group_stats(
      {work.kernels.ts, work.kernels.dur, work.kernels.stream, work.lane_of_stream, all.group_of_kernel}, count);
  const std::vector<ExposedTime> times = exposed_time(work, all.group_of_kernel, count);
  for (std::size_t g = 0; g < count; ++g) {
    const Collective& what = all.groups[g];
    const GroupStats& own = stats[g];
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
