// Steps of a trace without step annotations, from the calls of its model, which Python frames of nn.Module show. The
// model is the module that no other module calls; if there are several, the one with the most host time. It must be
// called at least twice, one call after the other. A step contains what any thread of the process launched during its
// call; work between two calls is in no step.
#pragma once

#include "passes/steps/step_set.h"

namespace tracedb {

// Without steps (StepSource::kNone) where no module was called so.
StepSet steps_by_module(const Index& index, const EventTables& events);

}  // namespace tracedb
