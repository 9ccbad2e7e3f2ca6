// Steps of a trace whose annotations name none: the calls of the model, which python frames of nn.Module show. The
// model is the module that no other calls, and of several such ones that which takes the host longest; it must be
// called at least twice, one call after the other. A step has what was launched while its call lasted, by any thread of
// the process; work between two calls is in none.
#pragma once

#include "passes/step_set.h"

namespace tracedb {

// Without steps (StepSource::kNone) where no module was called so. `events`: with launch_id and pass.
StepSet steps_by_module(const Index& index, const EventTables& events);

}  // namespace tracedb
