// Steps of a profile of XLA on GPUs without step annotations: the runs of the program that takes the most device time
// of those that ran at least twice. XLA marks each run, on each device, on the host thread that launches it
// ("jit_train_step:XLA GPU module"); of several devices the runs of the same place on each are one step, if all have as
// many.
#pragma once

#include "passes/steps/step_set.h"

namespace tracedb {

// Without steps (StepSource::kNone) where there is no such program.
StepSet steps_by_program(const Index& index, const EventTables& events);

}  // namespace tracedb
