// Kernel time of a selection by name, class or phase, as a temporary table that reports join:
//
//   temp.kernel_group(label TEXT, pass TEXT, names INTEGER, n INTEGER, known INTEGER, total INTEGER, busy INTEGER,
//                     min INTEGER, max INTEGER, median REAL, p90 INTEGER, p99 INTEGER, stddev REAL)
//
// One row per label that has kernels and, if split so, per pass of training (else pass is NULL). Figures are those of
// group_stats.h, NULL where no duration is known; `names` counts distinct kernel names. Takes some ten milliseconds for
// a million kernels.
#pragma once

#include <cstdint>

#include "index/index.h"
#include "passes/select/selection.h"

namespace tracedb {

enum class GroupBy {
  kName,
  kClass,  // under the rules in force: needs make_kernel_class_table() before
  kPhase,  // kind of the step; "[no step]"
};

enum class SplitBy { kNone, kPass };  // kPass: forward, backward, optimizer, "[no pass]"

// Returns the busy time of all kernels of the selection: their union per device, added up over devices.
std::int64_t make_kernel_group_table(const Index& index, const Selection& selection, GroupBy by,
                                     SplitBy split = SplitBy::kNone);

// The same with steps that are not, or not all, those of table step, and with layers, where the selection asks for
// them. Not for GroupBy::kPhase.
struct KernelPlaces {
  const EventTables& events;
  const StepSet& steps;
  const LayerSet* layers = nullptr;
};
std::int64_t make_kernel_group_table(const Index& index, const Selection& selection, GroupBy by,
                                     const KernelPlaces& places, SplitBy split = SplitBy::kNone);

}  // namespace tracedb
