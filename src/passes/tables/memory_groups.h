// Copies and fills of a selection by kind and direction, as a temporary table that reports join:
//
//   temp.memory_group(kind TEXT, direction TEXT, n INTEGER, known INTEGER, total INTEGER, busy INTEGER, median REAL,
//                     sized INTEGER, bytes INTEGER, measured_bytes INTEGER, measured_total INTEGER,
//                     measured_busy INTEGER, measured_time REAL, by_profiler INTEGER, by_duration INTEGER)
//
// Figures as in group_stats.h. `sized`: operations whose size is known, `bytes`: of them, NULL if there are none;
// `measured_*`: of operations whose size and duration are both known. `measured_time`: what `measured_bytes` took, in
// ns, by the profiler's own bandwidth for the `by_profiler` operations where it gives one, by their duration for the
// others.
#pragma once

#include "index/index.h"
#include "passes/select/selection.h"

namespace tracedb {

// `steps` may be null: those of the index.
void make_memory_group_table(const Index& index, const Selection& selection, const StepSet* steps = nullptr);

}  // namespace tracedb
