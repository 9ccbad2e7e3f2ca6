// From step to step on a device: which steps have a period, and which a transition. Pure.
//
// Source: schema/METRICS.md 7. The work of a step on a device has a period if the next work on that device belongs to
// the next step of its track (thread or stream of the annotations) and that step is of the same kind: no other
// annotation lies between. The period is from the start of this work to the start of that; if it is not positive, it is
// unknown. The last step of its kind in a row has none. If the next step of its track is of another kind, there is a
// transition instead: the same time, to that kind.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/unknown.h"
#include "passes/steps/step_set.h"

namespace tracedb {

struct SteppedEvents;  // step_stats.h

// Where a step begins on one of the devices that run its kernels.
struct StepStart {
  std::uint32_t step = 0;    // index into StepSet::steps + 1; 0: work in no step
  std::uint32_t device = 0;  // counted from 0 (DenseDevices)
  std::int64_t first = 0;    // ns: start of its first kernel, copy or fill
};

// In order of step and device; a step without kernels on a device has none there: copies alone make no step.
std::vector<StepStart> step_starts(const SteppedEvents& kernels, const SteppedEvents& memory,
                                   std::span<const std::uint32_t> device_of_stream, std::size_t steps);

// To the next step, where that is of another kind.
struct Transition {
  std::int64_t period = kUnknownValue;  // ns; kUnknownValue: the next step is of the same kind, or there is none
  StepKind to = StepKind::kUnknown;
};

// By start, which has at most one of them.
struct StepPeriods {
  std::vector<std::int64_t> within_kind;  // ns, to a step of the same kind; kUnknownValue: it has none
  std::vector<Transition> transitions;

  // As `within_kind`, of transitions to one kind of steps.
  [[nodiscard]] std::vector<std::int64_t> to(StepKind kind) const;
  // To the next step, of whichever kind.
  [[nodiscard]] std::int64_t to_next(std::size_t start) const {
    return within_kind[start] != kUnknownValue ? within_kind[start] : transitions[start].period;
  }
};
// `starts` in order of step.
StepPeriods device_periods(const StepSet& set, std::span<const StepStart> starts);

// Of values of device steps, those of one step together: by step (index + 1) the mean over its devices. kUnknownValue
// is left out.
struct StepMean {
  std::uint32_t step = 0;
  std::int64_t mean = 0;
};
std::vector<StepMean> means_of_steps(std::span<const std::uint32_t> steps, std::span<const std::int64_t> values);

// By step: the index + 1 of the step before it on its track; 0: it is the first.
std::vector<std::uint32_t> earlier_on_track(const StepSet& set);

// At least 0; nullopt where the annotation does not say.
std::optional<std::int64_t> tokens_of(const StepInfo& info);

}  // namespace tracedb
