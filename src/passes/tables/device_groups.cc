// The kernels of each device.
#include <algorithm>
#include <vector>

#include "passes/select/workload.h"
#include "passes/tables/pass_tables.h"

namespace tracedb {
namespace {

void fill(Workload& workload, const PassOptions&, TableRows& rows) {
  const EventTables& events = workload.events();
  const auto stream = events.kernels.ids("stream_id");
  const auto dur = events.kernels.int64s("dur");
  std::vector<std::int64_t> count, total;
  for (std::size_t i = 0; i < dur.size(); ++i) {
    if (!workload.filter().keeps_kernel(i)) continue;
    const std::size_t device = events.device_of_stream[stream[i]];
    count.resize(std::max(count.size(), device + 1));
    total.resize(count.size());
    ++count[device];
    if (dur[i] != kUnknownValue) total[device] = saturating_add(total[device], dur[i]);
  }
  for (std::size_t device = 0; device < count.size(); ++device) {
    if (count[device] > 0) rows.add(device).add(count[device]).add(total[device]);
  }
}

}  // namespace

PassTable device_groups_table() {
  using enum ColumnType;
  return {"device_groups",
          "kernels by device",
          {column("device_id", kInteger, "", "id of the device", "Device", "label", "5"),
           column("instances", kInteger, "count", "number of kernels", "Instances", "sum", "4"),
           column("total_time", kInteger, "ns", "sum of their durations", "Total Time", "sum", "6")},
          fill,
          {"devices", "total_time instances device_id", "total_time DESC, device_id", "", "",
           "selection | kernel time by device | no kernel ran"}};
}

}  // namespace tracedb
