// Fusions to plant: which runs of kernels one kernel replaces.
#pragma once

#include <vector>

#include "make_trace/model/model.h"

namespace tracedb {

// Replaces every run of operations that an enabled fusion covers (longest first) and records each distinct fusion in
// `planted`. Throws Error{kUsage} for a fusion that does not exist.
void fuse_operations(const TraceOptions& options, std::vector<Operation>& operations,
                     std::vector<PlantedFusion>& planted);

}  // namespace tracedb
