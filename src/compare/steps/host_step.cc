#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/unknown.h"
#include "compare/steps/step_groups.h"
#include "compare/steps/step_metrics.h"
#include "passes/steps/step_stats.h"

namespace tracedb {
namespace {

// From the first to the last of what is recorded of the host, as one step.
StepFacts recorded_on_host(const ComparedTrace& trace) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = 0;
  for (const EventColumns* events : {&trace.events.calls, &trace.events.operators}) {
    const auto ts = events->int64s("ts"), dur = events->int64s("dur");
    for (std::size_t i = 0; i < ts.size(); ++i) {
      first = std::min(first, ts[i]);
      last = std::max(last, saturating_add(ts[i], duration_or_zero(dur[i])));
    }
  }
  StepFacts out;
  if (first < last) std::tie(out.ts, out.dur) = std::pair(first, last - first);
  return out;
}

// By index of a device step: when the device has ended all earlier ones; INT64_MIN where there is none.
std::vector<std::int64_t> end_of_earlier_steps(const std::vector<DeviceStep>& steps) {
  std::vector<std::size_t> order(steps.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return std::tie(steps[i].device, steps[i].first); });
  std::vector<std::int64_t> out(steps.size(), std::numeric_limits<std::int64_t>::min());
  for (std::size_t i = 1; i < order.size(); ++i) {
    const DeviceStep& before = steps[order[i - 1]];
    if (before.device != steps[order[i]].device) continue;
    out[order[i]] = std::max(out[order[i - 1]], saturating_add(before.first, before.span));
  }
  return out;
}

}  // namespace

std::optional<HostStep> host_step(const ComparedTrace& trace, const GroupSide& side, bool whole_trace) {
  // What runs beside a step is known only where all work is in steps.
  if (side.by_period || trace.work.outside_kernels > 0) return std::nullopt;
  const std::vector<std::int64_t> idle_from = end_of_earlier_steps(trace.work.steps);
  std::vector<std::int64_t> lags, tails, hosts;
  StepFacts facts = whole_trace ? recorded_on_host(trace) : StepFacts{};
  for (const std::uint32_t index : side.device_steps) {
    const DeviceStep& step = trace.work.steps[index];
    if (!whole_trace) facts = trace.steps.steps[step.step - 1];
    const std::optional<std::int64_t> lag = launch_lag(facts, step.first);
    if (!lag || facts.dur == kUnknownValue) continue;
    lags.push_back(idle_from[index] <= facts.ts ? std::max<std::int64_t>(*lag, 0) : 0);
    tails.push_back(std::max<std::int64_t>(facts.dur - *lag - step.span, 0));
    hosts.push_back(facts.dur);
  }
  if (hosts.empty()) return std::nullopt;
  const double span = mean_over(side.device_steps, [&](std::uint32_t i) { return trace.work.steps[i].span; });
  HostStep out{*median_of(std::move(hosts))};
  const auto if_much = [&](double time) {
    constexpr double kMuch = 0.2;  // of a step: more than any class of kernels
    return time <= out.time && time > kMuch * (time + span) ? time : 0;
  };
  out.before = if_much(*median_of(std::move(lags)));
  out.behind = if_much(*median_of(std::move(tails)));
  return out;
}

}  // namespace tracedb
