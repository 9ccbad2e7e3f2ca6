// Steps of whose work a part is not recorded.
#pragma once

#include "index/index.h"
#include "passes/columns/event_columns.h"
#include "passes/steps/step_set.h"

namespace tracedb {

// Sets StepFacts::cut and notes it. An excerpt says which steps it cuts; else a step is where nothing is recorded of a
// fifth of its mark at either end, and of others of its kind all is: a step may end with work of which nothing is
// recorded, as all of its kind then do.
void find_cut_steps(const Index& index, const EventTables& events, StepSet& set);

}  // namespace tracedb
