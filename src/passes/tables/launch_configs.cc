// Kernels by name and launch configuration: how much of the multiprocessors they use.
#include <optional>

#include "base/dense_index.h"
#include "passes/tables/pass_tables.h"
#include "passes/work/device_peaks.h"

namespace tracedb {
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
    rows.add(name).add(matrix_units_text(name)).add(group.sums.kernels).add(group.known).add(group.sums.total);
    rows.add(range(group.min)).add(range(group.max));
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

}  // namespace tracedb
