// The periods of the device steps of a trace, sums of them, and tokens per second. Pure.
//
// Source: schema/METRICS.md 7 and 10; which device steps have a period: passes/steps/device_periods.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compare/trace/device_steps.h"
#include "passes/steps/device_periods.h"

namespace tracedb {

// By device step.
StepPeriods step_periods(const StepSet& set, std::span<const DeviceStep> steps);

// Sums over some device steps; times in ns.
struct PeriodSums {
  std::int64_t followed = 0;           // device steps that have a period
  std::int64_t periods = 0;            // sum over those
  std::optional<std::int64_t> tokens;  // of the steps that have a period, where the annotations of all say
  [[nodiscard]] std::optional<double> tokens_per_s() const;  // schema/METRICS.md 7: tokens over periods
};
// `group`: indices of device steps.
PeriodSums sum_periods(const StepSet& set, std::span<const DeviceStep> steps, std::span<const std::uint32_t> group,
                       std::span<const std::int64_t> periods);

}  // namespace tracedb
