// Steps from a user's pattern over names of annotations, computed for each query. A kernel is in the outermost matching
// annotation around its launch; if its thread has none there, in the annotation of another thread that covers it
// (trace/process_marks.h); if no annotation on a thread has that name, in the one on its stream around its start.
#pragma once

#include <string_view>

#include "passes/steps/step_set.h"

namespace tracedb {

StepSet steps_by_pattern(const Index& index, std::string_view pattern, const EventTables& events);

}  // namespace tracedb
