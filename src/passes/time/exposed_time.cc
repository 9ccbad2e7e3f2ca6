#include "passes/time/exposed_time.h"

#include <algorithm>

#include "base/saturating.h"

namespace tracedb {
namespace {

// Part of a kernel during which nothing that started earlier communicates. Those of a lane are disjoint and in order.
struct HiddenPart {
  std::int64_t begin, end;
  GroupId group;
  std::int64_t hidden = 0;  // under computation
};

struct Lane {
  std::vector<HiddenPart> parts;
  std::int64_t comm_until = 0;
  std::int64_t compute_until = 0;
  std::size_t next = 0;  // first part that may still be computed under

  void add_comm(const DeviceEvent& event, GroupId group) {
    if (event.end <= comm_until) return;
    parts.push_back({std::max(event.ts, comm_until), event.end, group});
    comm_until = event.end;
  }

  void add_compute(const DeviceEvent& event) {
    if (event.end <= compute_until) return;
    const std::int64_t begin = std::max(event.ts, compute_until);
    compute_until = event.end;
    while (next < parts.size() && parts[next].end <= begin) ++next;
    for (std::size_t i = next; i < parts.size() && parts[i].begin < event.end; ++i) {
      parts[i].hidden += std::min(parts[i].end, event.end) - std::max(parts[i].begin, begin);
    }
  }
};

}  // namespace

std::vector<ExposedTime> exposed_time(const DeviceWork& work, std::span<const GroupId> group_of_kernel,
                                      std::size_t groups) {
  std::vector<Lane> lanes(work.lanes);
  for (std::size_t row = 0; row < work.kernels.ts.size(); ++row) {
    if (group_of_kernel[row] == kNoGroup) continue;
    const DeviceEvent event = event_at(work, work.kernels, row, false);
    lanes[event.lane].add_comm(event, group_of_kernel[row]);
  }
  for_each_in_order(work, [&](const DeviceEvent& event) {
    if (event.work == Work::kCompute) lanes[event.lane].add_compute(event);
  });
  std::vector<ExposedTime> out(groups);
  for (const Lane& lane : lanes) {
    for (const HiddenPart& part : lane.parts) {
      ExposedTime& own = out[part.group];
      own.busy = saturating_add(own.busy, part.end - part.begin);
      own.exposed = saturating_add(own.exposed, part.end - part.begin - part.hidden);
    }
  }
  return out;
}

}  // namespace tracedb
