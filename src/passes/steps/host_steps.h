// Steps of a trace without step annotations from what its host did: calls of a model, or runs of a program.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "passes/columns/event_columns.h"
#include "passes/steps/step_set.h"
#include "trace/process_marks.h"

namespace tracedb {

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
