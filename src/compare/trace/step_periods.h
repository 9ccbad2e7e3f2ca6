// From step to step: which device steps have a period, what lies between steps, and tokens per second. Pure.
//
// Source: schema/METRICS.md 7 and 10. A device step has a period if the next one on its device belongs to the next step
// of its track (thread or stream of the annotations) and that step is of the same kind: no other annotation lies
// between. The period is from the start of its work to the start of the next one's; if it is not positive, it is
// unknown. The last step of its kind in a row has none. If the next step of its track is of another kind, the device
// step has a transition instead: the same time, to that kind.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/unknown.h"
#include "compare/trace/device_steps.h"

namespace tracedb {

// From a device step to that of the next step, where that is of another kind.
struct Transition {
  std::int64_t period = kUnknownValue;  // ns; kUnknownValue: the next step is of the same kind, or there is none
  StepKind to = StepKind::kUnknown;
};

// By device step, which has at most one of them.
struct StepPeriods {
  std::vector<std::int64_t> within_kind;  // ns, to a step of the same kind; kUnknownValue: it has none
  std::vector<Transition> transitions;

  // As `within_kind`, of transitions to one kind of steps.
  [[nodiscard]] std::vector<std::int64_t> to(StepKind kind) const;
  // To the next step, of whichever kind.
  [[nodiscard]] std::int64_t to_next(std::size_t step) const {
    return within_kind[step] != kUnknownValue ? within_kind[step] : transitions[step].period;
  }
};
StepPeriods step_periods(const StepSet& set, std::span<const DeviceStep> steps);

// At least 0; nullopt where the annotation does not say.
std::optional<std::int64_t> tokens_of(const StepInfo& info);

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
