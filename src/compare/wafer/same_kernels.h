// Pairs whose two sides are the same kernel by full name.
#pragma once

#include <cstdint>
#include <vector>

#include "compare/wafer/alignment.h"

namespace tracedb::wafer {

struct SameKernel {
  std::size_t layer = 0;
  KernelPair pair;
};

struct SameKernels {
  std::vector<SameKernel> kernels;  // by layer, then as the pairs are
  double average_ratio = 1;         // of the averages of each, first / second, without weights; 1: there are none
  std::int64_t first_faster = 0, second_faster = 0;
};

SameKernels find_same_kernels(const Alignment& alignment, const Trace& first, const Trace& second);

// Of averages; infinite where the second is 0.
double ratio_of(const KernelPair& pair);

}  // namespace tracedb::wafer
