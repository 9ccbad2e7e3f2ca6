// From step to step: which runs have a period, what lies between steps, and tokens per second. Pure.
//
// Source: schema/METRICS.md 7 and 10. A run has a period if the next run on its device belongs to the next step of its
// track (thread or stream of the annotations) and that step is of the same kind: no other annotation lies between. The
// period is the start of that run's work minus the start of its own; if it is not positive, it is unknown. The last
// step of its kind in a row has none. If the next step of its track is of another kind, the run has a transition
// instead: the same time, to that kind.
//
// To combine the spans of all runs and the periods of some in one account, for a group of R runs, P of which have a
// period:
//   between = R / P * sum over those P of (period - span), to the nearest ns,
//   period  = sum over all R of span, + between.
// Per run, this is the mean span of all, and the mean of what lies between those that follow each other. What lies
// between is negative where steps overlap on the device.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compare/side.h"
#include "compare/step_groups.h"

namespace tracedb {

// By run, in ns; kNoTime: it has none.
std::vector<std::int64_t> step_periods(const StepSet& set, std::span<const Run> runs);

std::vector<Transition> step_transitions(const StepSet& set, std::span<const Run> runs);  // by run

// As step_periods(), of those to one kind of steps.
std::vector<std::int64_t> periods_to(std::span<const Transition> transitions, StepKind kind);

// Of a group of runs on one side; times in ns.
struct PeriodSums {
  std::int64_t followed = 0;           // runs that have a period
  std::int64_t periods = 0;            // sum over those
  std::int64_t between = 0;            // scaled to all runs of the group
  std::optional<std::int64_t> tokens;  // of the steps that have a period, where the annotations of all say
  [[nodiscard]] bool known() const { return followed > 0; }
  [[nodiscard]] std::optional<double> tokens_per_s() const;  // schema/METRICS.md 7: tokens over periods
};
PeriodSums sum_periods(const StepSet& set, std::span<const Run> runs, const GroupSide& group,
                       std::span<const std::int64_t> periods);

}  // namespace tracedb
