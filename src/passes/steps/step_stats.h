// Figures of each step: schema/METRICS.md 7. Pure functions on columns.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/time_cover.h"
#include "base/unknown.h"
#include "passes/columns/event_columns.h"
#include "passes/steps/step_set.h"

namespace tracedb {

// Events of one table in time order; unknown durations are kUnknownValue. `step`: place + 1; 0: in none.
struct SteppedEvents {
  std::span<const std::int64_t> ts, dur;
  std::span<const std::uint32_t> stream, step;
};
inline SteppedEvents stepped(const EventColumns& events, std::span<const std::uint32_t> step) {
  return {events.int64s("ts"), events.busy_durs(), events.ids("stream_id"), step};
}

// All times in ns. Spans and busy times are those of the device where they are longest: devices work at the same time.
struct StepStats {
  std::int64_t kernels = 0;
  std::int64_t known = 0;                           // kernels whose duration is known
  std::int64_t kernel_time = 0;                     // sum of their durations, at most 2^63 - 1
  std::uint32_t first_kernel = 0, last_kernel = 0;  // their ids; 0: there is none
  std::int64_t kernels_begin = kUnknownValue,
               kernels_end = kUnknownValue;  // start of the first, last end that is known
  std::int64_t first = kUnknownValue;        // start of its first kernel, copy or fill; kUnknownValue: there is none
  std::int64_t gpu_span = kUnknownValue;     // from the start of the first to the end of the last on a device
  std::int64_t gpu_busy = kUnknownValue;     // union of kernels, copies and fills on a device
};

// By id of stream (from 1): a number for its device, counted from 0 without gaps. Unknown streams count for the first.
struct DenseDevices {
  std::vector<std::uint32_t> of_stream;
  std::size_t count = 1;

  explicit DenseDevices(std::span<const std::uint32_t> device_of_stream);
  [[nodiscard]] std::size_t of(std::uint32_t stream) const { return stream < of_stream.size() ? of_stream[stream] : 0; }
};

// Element 0 is of what is in no step, element i + 1 of step i; `steps` of them.
std::vector<StepStats> step_stats(const SteppedEvents& kernels, const SteppedEvents& memory,
                                  std::span<const std::uint32_t> device_of_stream, std::size_t steps);

// By step: from the start to the end of its mark, or of what it launched where that is known to end later; without a
// known mark, of what it launched alone. Of no length where nothing is known of it.
std::vector<Extent> extents_of_steps(const StepSet& set, const EventTables& events);

// The longest run of steps, [first, last), whose requests in decode are at least 95 % of the most of any step: without
// the ramps at both ends. Empty where no step decodes; -1: not known.
struct StepRange {
  std::size_t first = 0, last = 0;
};
StepRange steady_steps(std::span<const std::int64_t> generation_requests);

// The mean of the middle one or two; nullopt for none.
std::optional<double> median_of(std::vector<std::int64_t> values);

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

// From step to step on a device: which steps have a period, and which a transition. Pure.
//
// Source: schema/METRICS.md 7. The work of a step on a device has a period if the next work on that device belongs to
// the next step of its track (thread or stream of the annotations) and that step is of the same kind: no other
// annotation lies between. The period is from the start of this work to the start of that; if it is not positive, it is
// unknown. The last step of its kind in a row has none. If the next step of its track is of another kind, there is a
// transition instead: the same time, to that kind.
//
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

// At least 0; nullopt where the annotation does not say all.
std::optional<std::int64_t> tokens_of(const StepInfo& info);
std::optional<std::int64_t> requests_of(const StepInfo& info);

}  // namespace tracedb
