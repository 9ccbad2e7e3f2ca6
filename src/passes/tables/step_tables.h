// Steps and phases as temporary tables that reports join, in the order of their rows:
//
//   temp.step_row(step INTEGER, phase TEXT, name TEXT, context_requests INTEGER, context_tokens INTEGER,
//                 generation_requests INTEGER, generation_tokens INTEGER, kernels INTEGER, kernel_time INTEGER,
//                 gpu_span INTEGER, gpu_busy INTEGER, host INTEGER, period INTEGER, launch_lag INTEGER,
//                 tokens_per_s REAL, steady INTEGER, ts INTEGER)
//   temp.phase_row(phase TEXT, steps INTEGER, requests REAL, tokens INTEGER, kernels INTEGER, total INTEGER,
//                  known INTEGER, busy INTEGER, gpu_span REAL, host REAL, period REAL, launch_lag REAL,
//                  tokens_per_s REAL)
//
// Both have a row [no step] for kernels outside of steps, so that kernel time adds up. Definitions: schema/METRICS.md
// 7. `period` uses the clock that the step is known by (host or device). A phase's requests, gpu_span, host, period and
// launch_lag are medians.
#pragma once

#include "passes/steps/step_set.h"

namespace tracedb {

enum class StepChoice {
  kAll,
  kSteady,  // the longest run of full decode batches alone
};

// Returns the steady range, places in steps.steps.
struct SteadyNote {
  std::size_t first = 0, last = 0;  // [first, last)
};
SteadyNote make_step_table(const Index& index, const StepSet& steps, const EventTables& events, StepChoice choice);
// Returns the time in which any kernel of those steps ran, added up over devices.
std::int64_t make_phase_table(const Index& index, const StepSet& steps, const EventTables& events, StepChoice choice);

}  // namespace tracedb
