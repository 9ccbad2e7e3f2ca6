#include "compare/wafer/same_kernels.h"

#include <cmath>

namespace tracedb::wafer {

double ratio_of(const KernelPair& pair) {
  const double second = mean(pair.second.total, pair.second.count);
  return second == 0 ? std::numeric_limits<double>::infinity() : mean(pair.first.total, pair.first.count) / second;
}

SameKernels find_same_kernels(const Alignment& alignment, const Trace& first, const Trace& second) {
  SameKernels same;
  double sum = 0;
  std::int64_t finite = 0;
  for (std::size_t layer = 0; layer < alignment.layers.size(); ++layer) {
    for (const KernelPair& pair : alignment.layers[layer].pairs) {
      if (!is_same_kernel(pair, first, second)) continue;
      same.kernels.push_back({layer, pair});
      const double ratio = ratio_of(pair);
      if (ratio < 1) ++same.first_faster;
      if (ratio > 1) ++same.second_faster;
      if (!std::isfinite(ratio)) continue;
      sum += ratio;
      ++finite;
    }
  }
  if (finite > 0) same.average_ratio = sum / static_cast<double>(finite);
  return same;
}

}  // namespace tracedb::wafer
