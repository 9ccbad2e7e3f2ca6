#include "passes/steps/device_periods.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/saturating.h"
#include "passes/steps/step_stats.h"

namespace tracedb {
namespace {

StepKind kind_of(const StepSet& set, const StepStart& start) { return set.steps[start.step - 1].info.kind; }

}  // namespace

std::vector<StepMean> means_of_steps(std::span<const std::uint32_t> steps, std::span<const std::int64_t> values) {
  std::vector<StepMean> out;
  std::int64_t devices = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == kUnknownValue) continue;
    const bool is_next = out.empty() || out.back().step != steps[i];
    devices = is_next ? 1 : devices + 1;
    if (is_next) out.push_back({steps[i], 0});
    out.back().mean += (values[i] - out.back().mean) / devices;
  }
  return out;
}

std::vector<std::uint32_t> earlier_on_track(const StepSet& set) {
  std::vector<std::uint32_t> out;
  std::map<std::pair<bool, std::uint32_t>, std::uint32_t> latest;
  for (const StepFacts& step : set.steps) {
    std::uint32_t& last = latest[{step.on_device, step.track}];
    out.push_back(last);
    last = static_cast<std::uint32_t>(out.size());
  }
  return out;
}

std::optional<std::int64_t> tokens_of(const StepInfo& info) {
  if (!info.context_tokens && !info.generation_tokens) return std::nullopt;
  return saturating_add(std::max<std::int64_t>(info.context_tokens.value_or(0), 0),
                        std::max<std::int64_t>(info.generation_tokens.value_or(0), 0));
}

std::vector<StepStart> step_starts(const SteppedEvents& kernels, const SteppedEvents& memory,
                                   std::span<const std::uint32_t> device_of_stream, std::size_t steps) {
  const DenseDevices devices(device_of_stream);
  std::vector<std::int64_t> first((steps + 1) * devices.count, kUnknownValue);
  const auto first_of = [&](const SteppedEvents& events, std::size_t i) -> std::int64_t& {
    return first[(events.step[i] <= steps ? events.step[i] : 0) * devices.count + devices.of(events.stream[i])];
  };
  for (std::size_t i = 0; i < kernels.ts.size(); ++i) {
    std::int64_t& own = first_of(kernels, i);
    if (own == kUnknownValue) own = std::max<std::int64_t>(kernels.ts[i], 0);
  }
  for (std::size_t i = 0; i < memory.ts.size(); ++i) {
    std::int64_t& own = first_of(memory, i);
    if (own != kUnknownValue) own = std::min(own, std::max<std::int64_t>(memory.ts[i], 0));
  }
  std::vector<StepStart> out;
  for (std::size_t i = devices.count; i < first.size(); ++i) {
    if (first[i] == kUnknownValue) continue;
    out.push_back(
        {static_cast<std::uint32_t>(i / devices.count), static_cast<std::uint32_t>(i % devices.count), first[i]});
  }
  return out;
}

StepPeriods device_periods(const StepSet& set, std::span<const StepStart> starts) {
  StepPeriods out{std::vector<std::int64_t>(starts.size(), kUnknownValue), std::vector<Transition>(starts.size())};
  const std::vector<std::uint32_t> earlier = earlier_on_track(set);
  std::map<std::uint32_t, std::size_t> last;  // by device
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const StepStart& start = starts[i];
    if (start.step == 0) continue;
    const auto [before, is_first] = last.try_emplace(start.device, i);
    if (is_first) continue;
    const std::size_t previous = std::exchange(before->second, i);
    const std::int64_t period = start.first - starts[previous].first;
    if (earlier[start.step - 1] != starts[previous].step || period <= 0) continue;
    const StepKind kind = kind_of(set, start);
    if (kind == kind_of(set, starts[previous])) {
      out.within_kind[previous] = period;
    } else {
      out.transitions[previous] = {period, kind};
    }
  }
  return out;
}

std::vector<std::int64_t> StepPeriods::to(StepKind kind) const {
  std::vector<std::int64_t> out;
  out.reserve(transitions.size());
  for (const Transition& transition : transitions) {
    out.push_back(transition.to == kind ? transition.period : kUnknownValue);
  }
  return out;
}

}  // namespace tracedb
