// From an index to a side of a comparison.
#pragma once

#include "compare/same_kernels.h"
#include "compare/side.h"
#include "compare/vocabulary.h"
#include "index/index.h"
#include "passes/steps/step_set.h"

namespace tracedb {

// Reads the columns, finds steps and layers and cuts the runs: nearly all the work of a comparison, and independent of
// the other side, so that each may have a thread of its own. Needs make_kernel_class_table() before.
Side load_side(const Index& index, const StepOptions& options);

// Numbers the side's names and launch configurations like those of the other sides. One side after the other.
void name_side(Side& side, const Index& index, Vocabulary& vocabulary, ConfigNumbers& configs);

}  // namespace tracedb
