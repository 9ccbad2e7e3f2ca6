// The kind of model, by parts of kernel names anywhere in a trace: one kernel is enough.
#pragma once

#include <string_view>

#include "compare/wafer/trace.h"

namespace tracedb::wafer {

enum class Architecture { kUnknown, kTransformer, kSsm, kHybrid };

Architecture architecture_of(const Trace& trace);
Architecture architecture_of(const Trace& first, const Trace& second);  // of the names of both together

std::string_view to_string(Architecture architecture);

}  // namespace tracedb::wafer
