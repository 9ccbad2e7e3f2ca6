// The steps of a trace as reports count them, and which kernels and copies belong to which.
//
// Sources of steps, in this order: annotations that match the user's pattern; the step table of the index; or, if that
// is empty, the calls of the model or the runs of a program of XLA or the rhythm of the kernels
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
#include <span>
#include <string>
#include <vector>

#include "base/large_vector.h"
#include "base/unknown.h"
#include "index/index.h"
#include "passes/classify/kernel_traits.h"
#include "passes/columns/device_events.h"
#include "passes/columns/event_columns.h"
#include "trace/process_marks.h"
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
  // This is an excerpt of a trace that has more kernels of it.
  bool cut = false;
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

// Steps of a trace without step annotations from what its host did: calls of a model, or runs of a program.
//
// By the calls of its model, which Python frames of nn.Module show. The model is the module that no other module calls;
// if there are several, the one with the most host time. It must be called at least twice, one call after the other. A
// step contains what any thread of the process launched during its call; work between two calls is in no step. Without
// steps (StepSource::kNone) where no module was called so.
StepSet steps_by_module(const Index& index, const EventTables& events);

// Of a profile of XLA on GPUs: the runs of the program that takes the most device time of those that ran at least
// twice. XLA marks each run, on each device, on the host thread that launches it ("jit_train_step:XLA GPU module"); of
// several devices the runs of the same place on each are one step, if all have as many. Without steps
// (StepSource::kNone) where there is no such program.
StepSet steps_by_program(const Index& index, const EventTables& events);

// Steps of launches by annotations on CPU threads that the index did not store as steps, by the rule of
// trace/process_marks.h.
struct HostMark {
  std::int64_t ts = 0, end = 0;  // ns
  std::uint32_t thread = 0, step = 0;
  StepScope scope = StepScope::kProcess;
};

// The step that each runtime call gets from marks that take in more than their own thread. Marks of scope kProcess give
// one to the calls of their own thread too: who knows what a thread's own marks say of it, asks that first.
class CallSteps {
 public:
  // `marks`: in time order.
  CallSteps(const Index& index, std::span<const HostMark> marks);

  // Of a kernel or copy; 0: none. `pass`: the value of its column.
  [[nodiscard]] std::uint32_t of(std::uint32_t launch, std::uint32_t pass) const;

 private:
  std::vector<std::uint32_t> any_, backward_;  // by id of runtime_call; empty where no mark has such a scope
};

}  // namespace tracedb
