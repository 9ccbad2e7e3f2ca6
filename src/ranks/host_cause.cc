#include "ranks/host_cause.h"

#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "passes/host/host_activity.h"

namespace tracedb {

std::optional<HostCause> find_host_cause(Workload& workload, const RankTrace& rank, const RankWaits& waits) {
  if (waits.host_windows.empty()) return std::nullopt;
  const EventTables& events = workload.events();
  const LaunchThreads threads(workload.index(), events.kernels, events.memory, events.device_of_stream);
  std::vector<HostGap> gaps;
  for (const LateWindow& window : waits.host_windows) {
    const std::uint32_t thread = threads.of({window.kernel, false});
    rank.working.for_each_gap(window.from, window.to, [&](std::int64_t from, std::int64_t to) {
      gaps.push_back({from - rank.shift, to - rank.shift, thread});
    });
  }
  if (gaps.empty()) return std::nullopt;
  const HostActivities activities(workload.index(), std::move(gaps));
  std::vector<std::uint32_t> all(activities.gaps().size());
  std::iota(all.begin(), all.end(), 0U);
  const HostPlace place = HostActivities::place(activities.sum(all));
  if (place.place == kNoPlace) return std::nullopt;
  return HostCause{std::string(activities.text(place.layer, place.place)), place.share()};
}

}  // namespace tracedb
