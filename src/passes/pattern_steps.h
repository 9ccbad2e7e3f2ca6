// Steps by a pattern of the user's over the names of annotations, made anew for each query. A kernel is in the
// outermost matching annotation around its launch; if its thread has none there, in that of another thread which takes
// it in (trace/process_marks.h); where no annotation on a thread has that name, in the one on its stream around its
// start.
#pragma once

#include <string_view>

#include "passes/step_set.h"

namespace tracedb {

StepSet steps_by_pattern(const Index& index, std::string_view pattern, const EventTables& events);

}  // namespace tracedb
