// Differences between two traces that limit conclusions: other work, other conditions, missing or unrecognised kernels,
// clocks.
#pragma once

#include <string>
#include <vector>

#include "compare/comparison.h"

namespace tracedb {

// `notes`: of the matching of steps. Most serious first.
std::vector<CompareWarning> compare_warnings(const ComparedTrace& baseline, const ComparedTrace& candidate,
                                             const KernelNameTable& kernel_names, const Comparison& comparison,
                                             const std::vector<std::string>& notes);

}  // namespace tracedb
