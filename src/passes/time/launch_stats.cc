#include "passes/time/launch_stats.h"

#include <algorithm>

#include "base/unknown.h"

namespace tracedb {
namespace {

struct Delays {
  std::vector<std::int64_t> delay, queue;
  std::vector<GroupId> group;
  std::vector<std::int64_t> early;  // by group
};

class DelayWalk {
 public:
  DelayWalk(const DeviceWork& work, const RuntimeCalls& calls, std::size_t groups)
      : calls_(calls), free_from_(work.lanes, 0), kernels_(calls.ts.size(), 0), begun_(calls.ts.size(), 0) {
    delays_.early.resize(groups);
  }

  void add(const DeviceEvent& event) {
    if (!event.ref.is_memory_op) add_kernel(event);
    std::int64_t& free_from = free_from_[event.lane];
    free_from = std::max(free_from, event.end);
  }

  [[nodiscard]] const std::vector<std::uint32_t>& kernels() const { return kernels_; }  // selected ones, by call
  [[nodiscard]] const Delays& delays() const { return delays_; }
  [[nodiscard]] std::int64_t without_launch() const { return without_launch_; }

 private:
  void add_kernel(const DeviceEvent& event) {
    const std::size_t call = event.launch - std::size_t{1};
    if (event.launch == 0 || call >= calls_.ts.size() || calls_.group[call] == kNoGroup) {
      without_launch_ += event.left_out ? 0 : 1;
      return;
    }
    const bool first = begun_[call] == 0;
    begun_[call] = 1;
    if (event.left_out) return;
    ++kernels_[call];
    if (first && calls_.ts[call] != kUnknownValue && calls_.dur[call] != kUnknownValue) add_delay(event, call);
  }

  void add_delay(const DeviceEvent& event, std::size_t call) {
    const std::int64_t called = std::max<std::int64_t>(calls_.ts[call], 0);
    const std::int64_t returned = saturating_add(called, std::max<std::int64_t>(calls_.dur[call], 0));
    const std::int64_t delay = std::max<std::int64_t>(0, event.ts - returned);
    const std::int64_t behind = std::clamp<std::int64_t>(free_from_[event.lane] - returned, 0, delay);
    if (event.ts < returned) ++delays_.early[calls_.group[call]];
    delays_.delay.push_back(delay);
    delays_.queue.push_back(delay - behind);
    delays_.group.push_back(calls_.group[call]);
  }

  const RuntimeCalls& calls_;
  std::vector<std::int64_t> free_from_;  // by stream: end of everything so far
  std::vector<std::uint32_t> kernels_;
  std::vector<std::uint8_t> begun_;
  Delays delays_;
  std::int64_t without_launch_ = 0;
};

// Each selection works on what the one before left above its place.
void describe(std::span<std::int64_t> values, Distribution& out) {
  if (values.empty()) return;
  const auto at = [&](std::size_t place) { return values.begin() + static_cast<std::ptrdiff_t>(place); };
  const std::size_t middle = values.size() / 2;
  std::nth_element(values.begin(), at(middle), values.end());
  out.median = static_cast<double>(*at(middle));
  if (values.size() % 2 == 0) {
    out.median = (out.median + static_cast<double>(*std::max_element(values.begin(), at(middle)))) / 2;
  }
  const std::size_t rank = (values.size() * 99 + 99) / 100 - 1;
  if (rank > middle) std::nth_element(at(middle + 1), at(rank), values.end());
  out.p99 = *at(rank);
  out.max = *std::max_element(at(rank), values.end());
}

}  // namespace

std::vector<Distribution> distributions(std::span<const std::int64_t> values, std::span<const GroupId> group,
                                        std::size_t groups) {
  std::vector<Distribution> out(groups);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (group[i] == kNoGroup) continue;
    ++out[group[i]].count;
    out[group[i]].total = saturating_add(out[group[i]].total, values[i]);
  }
  std::vector<std::size_t> begin(groups + 1, 0);
  for (std::size_t g = 0; g < groups; ++g) begin[g + 1] = begin[g] + static_cast<std::size_t>(out[g].count);
  std::vector<std::int64_t> sorted(begin[groups]);
  std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (group[i] != kNoGroup) sorted[next[group[i]]++] = values[i];
  }
  for (std::size_t g = 0; g < groups; ++g) {
    describe(std::span(sorted).subspan(begin[g], begin[g + 1] - begin[g]), out[g]);
  }
  return out;
}

Launches launch_stats(const DeviceWork& work, const RuntimeCalls& calls, std::size_t groups) {
  DelayWalk walk(work, calls, groups);
  for_each_in_order(work, [&](const DeviceEvent& event) { walk.add(event); });
  const bool all = work.kernels.left_out.empty();
  Launches out{std::vector<LaunchStats>(groups), walk.without_launch()};
  std::vector<GroupId> timed(calls.ts.size(), kNoGroup);
  for (std::size_t call = 0; call < timed.size(); ++call) {
    const std::uint32_t kernels = walk.kernels()[call];
    if (calls.group[call] == kNoGroup || (kernels == 0 && !(all && calls.is_launching[call] != 0))) continue;
    LaunchStats& stats = out.groups[calls.group[call]];
    ++stats.calls;
    stats.launching += kernels > 0 ? 1 : 0;
    stats.kernels += kernels;
    if (calls.dur[call] >= 0) timed[call] = calls.group[call];
  }
  const std::vector<Distribution> api = distributions(calls.dur, timed, groups);
  const std::vector<Distribution> delay = distributions(walk.delays().delay, walk.delays().group, groups);
  const std::vector<Distribution> queue = distributions(walk.delays().queue, walk.delays().group, groups);
  for (std::size_t g = 0; g < groups; ++g) {
    out.groups[g].api = api[g];
    out.groups[g].delay = delay[g];
    out.groups[g].queue = queue[g];
    out.groups[g].started_early = walk.delays().early[g];
  }
  return out;
}

}  // namespace tracedb
