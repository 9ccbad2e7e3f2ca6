#include "passes/steps/step_stats.h"

#include <algorithm>
#include <map>

#include "base/saturating.h"
#include "base/statistics.h"
#include "base/unknown.h"

namespace tracedb {
namespace {

class Collector {
 public:
  Collector(std::span<const std::uint32_t> device_of_stream, std::size_t steps)
      : devices_(device_of_stream), stats_(steps + 1), extents_((steps + 1) * devices_.count) {}

  void add(const SteppedEvents& events, std::size_t i, bool is_kernel) {
    const std::size_t step = events.step[i] < stats_.size() ? events.step[i] : 0;
    StepStats& own = stats_[step];
    const std::int64_t dur = events.dur[i];
    if (is_kernel) {
      ++own.kernels;
      if (dur != kUnknownValue) ++own.known, own.kernel_time = saturating_add(own.kernel_time, dur);
    }
    if (own.first == kUnknownValue) own.first = events.ts[i];
    if (dur == kUnknownValue) return;
    Extent& extent = extents_[step * devices_.count + devices_.of(events.stream[i])];
    const std::int64_t ts = std::max<std::int64_t>(events.ts[i], 0);  // so that differences do not overflow
    if (extent.first == kUnknownValue) extent.first = extent.until = ts;
    const std::int64_t end = saturating_add(ts, std::max<std::int64_t>(dur, 0));
    extent.busy += std::max<std::int64_t>(end - std::max(ts, extent.until), 0);
    extent.until = std::max(extent.until, end);
  }

  std::vector<StepStats> result() {
    for (std::size_t step = 0; step < stats_.size(); ++step) {
      for (std::size_t device = 0; device < devices_.count; ++device) {
        const Extent& extent = extents_[step * devices_.count + device];
        if (extent.first == kUnknownValue) continue;
        stats_[step].gpu_span = std::max(stats_[step].gpu_span, extent.until - extent.first);
        stats_[step].gpu_busy = std::max(stats_[step].gpu_busy, extent.busy);
      }
    }
    return std::move(stats_);
  }

 private:
  struct Extent {
    std::int64_t first = kUnknownValue, until = kUnknownValue, busy = 0;
  };
  DenseDevices devices_;
  std::vector<StepStats> stats_;
  std::vector<Extent> extents_;  // by step, then device
};

// Devices beyond these, of which no trace of one machine has as many, count for the last of them.
constexpr std::size_t kMostDevices = 1024;

}  // namespace

DenseDevices::DenseDevices(std::span<const std::uint32_t> device_of_stream) : of_stream(device_of_stream.size(), 0) {
  std::map<std::uint32_t, std::uint32_t> numbers;
  for (std::size_t stream = 1; stream < device_of_stream.size(); ++stream) {
    const auto next = static_cast<std::uint32_t>(std::min(numbers.size(), kMostDevices - 1));
    of_stream[stream] = numbers.try_emplace(device_of_stream[stream], next).first->second;
  }
  count = std::clamp<std::size_t>(numbers.size(), 1, kMostDevices);
}

std::vector<StepStats> step_stats(const SteppedEvents& kernels, const SteppedEvents& memory,
                                  std::span<const std::uint32_t> device_of_stream, std::size_t steps) {
  Collector collector(device_of_stream, steps);
  std::size_t copy = 0;
  for (std::size_t i = 0; i < kernels.ts.size(); ++i) {
    while (copy < memory.ts.size() && memory.ts[copy] < kernels.ts[i]) collector.add(memory, copy++, false);
    collector.add(kernels, i, true);
  }
  while (copy < memory.ts.size()) collector.add(memory, copy++, false);
  return collector.result();
}

std::vector<std::int64_t> periods(std::span<const std::int64_t> start, std::span<const std::uint32_t> track) {
  std::vector<std::int64_t> out(start.size(), kUnknownValue);
  std::map<std::uint32_t, std::size_t> latest;  // by track
  for (std::size_t i = 0; i < start.size(); ++i) {
    const auto [entry, is_first] = latest.try_emplace(track[i], i);
    if (is_first) continue;
    const std::size_t before = entry->second;
    std::int64_t period = 0;
    const bool known = start[i] != kUnknownValue && start[before] != kUnknownValue && start[i] >= start[before] &&
                       !__builtin_sub_overflow(start[i], start[before], &period);
    if (known) out[before] = period;
    entry->second = i;
  }
  return out;
}

StepRange steady_steps(std::span<const std::int64_t> generation_requests) {
  StepRange best;
  if (generation_requests.empty()) return best;
  const std::int64_t most = *std::max_element(generation_requests.begin(), generation_requests.end());
  if (most <= 0) return best;
  for (std::size_t i = 0; i < generation_requests.size();) {
    std::size_t end = i;
    while (end < generation_requests.size() &&
           static_cast<double>(generation_requests[end]) >= 0.95 * static_cast<double>(most)) {
      ++end;
    }
    if (end - i > best.last - best.first) best = {i, end};
    i = end + 1;
  }
  return best;
}

std::optional<double> median_of(std::vector<std::int64_t> values) {
  return values.empty() ? std::nullopt : std::optional(median(std::span(values)));
}

}  // namespace tracedb
