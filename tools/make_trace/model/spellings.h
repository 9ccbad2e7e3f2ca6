// Other names for the same work: what another library, or another release, calls a kernel of the model. Some say less
// than the usual name does (a fused norm that does not mention the add), and so get another class from it.
#pragma once

#include <string_view>
#include <vector>

#include "make_trace/model/model.h"

namespace tracedb {

// Names --spelling accepts, sorted.
std::vector<std::string_view> spelling_names();

// Gives each operation the name that the enabled spellings have for its role. Roles, and with them the ground truth of
// what is done, stay. Throws Error{kUsage} for a spelling that does not exist.
void respell(const TraceOptions& options, Model& model);

}  // namespace tracedb
