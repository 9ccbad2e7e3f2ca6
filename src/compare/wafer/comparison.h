// All that wafer 0.1.28 says of two traces, in one call. Which of them is the first one (the AMD one, if any) is up to
// the caller: is_swapped().
#pragma once

#include <vector>

#include "compare/wafer/alignment.h"
#include "compare/wafer/architecture.h"
#include "compare/wafer/fusion.h"
#include "compare/wafer/layer_table.h"
#include "compare/wafer/operations.h"
#include "compare/wafer/same_kernels.h"
#include "compare/wafer/warnings.h"

namespace tracedb::wafer {

// What is said of one side, after the filter by phase.
struct TraceSums {
  std::int64_t kernels = 0, total = 0;
  std::size_t layers = 0;  // LayerMap::size(), whatever the filter
};

struct Comparison {
  TraceSums first, second;
  Architecture architecture = Architecture::kUnknown;
  std::vector<OperationRecord> operations;
  std::vector<LayerRecord> layers;
  Alignment alignment;  // this and what follows: of all phases
  std::vector<Fusion> fusions;
  SameKernels same_kernels;
  std::vector<Warning> warnings;
};

Comparison compare(const Trace& first, const Trace& second, PhaseFilter filter);

// Traces are swapped if only the second is AMD's.
constexpr bool is_swapped(Platform first, Platform second) {
  return first != Platform::kAmd && second == Platform::kAmd;
}

}  // namespace tracedb::wafer
