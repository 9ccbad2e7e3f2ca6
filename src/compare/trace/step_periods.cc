#include "compare/trace/step_periods.h"

#include "base/saturating.h"
#include "base/unknown.h"

namespace tracedb {

StepPeriods step_periods(const StepSet& set, std::span<const DeviceStep> steps) {
  std::vector<StepStart> starts;
  for (const DeviceStep& step : steps) starts.push_back({step.step, step.device, step.first});
  return device_periods(set, starts);
}

std::optional<double> PeriodSums::tokens_per_s() const {
  if (!tokens || periods <= 0) return std::nullopt;
  return static_cast<double>(*tokens) * 1e9 / static_cast<double>(periods);
}

PeriodSums sum_periods(const StepSet& set, std::span<const DeviceStep> steps, std::span<const std::uint32_t> group,
                       std::span<const std::int64_t> periods) {
  PeriodSums out;
  std::int64_t tokens = 0;
  bool tokens_known = true;
  for (const std::uint32_t i : group) {
    if (periods[i] == kUnknownValue) continue;
    ++out.followed;
    out.periods = saturating_add(out.periods, periods[i]);
    const std::int64_t own = tokens_of(set.steps[steps[i].step - 1].info).value_or(0);
    tokens_known = tokens_known && own > 0;
    tokens = saturating_add(tokens, own);
  }
  if (out.followed > 0 && tokens_known) out.tokens = tokens;
  return out;
}

}  // namespace tracedb
