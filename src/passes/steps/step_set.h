// The steps of a trace as reports count them, and which kernels and copies belong to which.
//
// Sources of steps, in this order: annotations that match the user's pattern; the step table of the index; or, if that
// is empty, the calls of the model or the runs of a program of XLA (host_steps.h) or the rhythm of the kernels
// (inferred_steps.h), which gives steps marked as inferred. Rhythm comes first where it knows more than the
// calls of the model: training that an optimizer ends, and text generation. Steps that are not in the index are never
// added to it.
//
// Nested step annotations count once. One that says what is done (prefill, decode, mixed, train) absorbs those inside
// it and takes the facts of the most detailed one; one that does not (ProfilerStep around vLLM's steps) gives way to
// those inside it that do, and its other work is in no step. A ProfilerStep with an optimizer step or work of a
// backward pass is of kind train.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/large_vector.h"
#include "base/unknown.h"
#include "index/index.h"
#include "passes/classify/kernel_traits.h"
#include "passes/columns/device_events.h"
#include "passes/columns/event_columns.h"
#include "trace/step_grammar.h"

namespace tracedb {

enum class StepSource { kNone, kIndex, kPattern, kModules, kPrograms, kInferred };

struct StepFacts {
  StepInfo info;
  std::string name;  // the annotation's text; "" where inferred
  // Of the annotation, in ns; kUnknownValue: unknown. On the device's clock if on_device, else the host's.
  std::int64_t ts = kUnknownValue, dur = kUnknownValue;
  bool on_device = false;
  std::uint32_t track = 0;  // thread, or stream if on_device: steps of one track follow each other
  // The first step, with other kernels than those that follow it: libraries try their algorithms, memory is made. A
  // step as any other, but none that usual times rest on. Only what is inferred knows it.
  bool warm_up = false;
};

// Whether a mark begins in another one and has more than half of its time behind it: it is no part of it. Marks that
// follow each other overlap by the rounding of their times.
bool follows(std::int64_t ts, std::int64_t dur, const StepFacts& around);

struct StepSet {
  StepSource source = StepSource::kNone;
  std::vector<StepFacts> steps;                     // in time order: the place of a step is its number
  LargeVector<std::uint32_t> of_kernel, of_memory;  // by row: place in `steps` + 1; 0: in no step
  double confidence = 1;                            // below 1 where inferred
  std::vector<std::string> notes;                   // what a reader must know: inferred, why there are none

  [[nodiscard]] std::uint32_t of(const EventRef& event) const {  // as `of_kernel`, of either table
    return (event.is_memory_op ? of_memory : of_kernel)[event.id - 1];
  }
};

struct StepOptions {
  std::optional<std::string> pattern;  // see step_pattern.h
};

// Whether load_steps() looks at the traits of kernels: where steps may have to be inferred.
bool needs_traits(const Index& index, const StepOptions& options);

// `traits` as of KernelClasses::traits(); may be empty unless they are needed. Error{kUsage} for a pattern that is
// none.
StepSet load_steps(const Index& index, const StepOptions& options, const EventTables& events,
                   const std::vector<Traits>& traits);

// By row of `kernels`: whether it is in no step because it was launched before the recording began. Streams work in
// order: that is so where it has no launch and, on its stream, comes before the first kernel that has one, or has an
// operator: of that, only the launch is lost. Correlations of a process rise: it is not so above that of the first
// recorded call of the process that launches there.
std::vector<bool> launched_before_recording(const StepSet& set, const EventColumns& kernels);

// From the start of a step on the host to `first`, that of its first kernel, copy or fill, in ns; nullopt where either
// is not known.
std::optional<std::int64_t> launch_lag(const StepFacts& step, std::int64_t first);

std::string_view to_string(StepSource source);  // none, annotations, pattern, module calls, program runs, inferred

}  // namespace tracedb
