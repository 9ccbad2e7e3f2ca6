// The table of layers, one-sided ones first.
#pragma once

#include <cstdint>
#include <vector>

#include "compare/wafer/layers.h"
#include "compare/wafer/operations.h"

namespace tracedb::wafer {

struct LayerSide {
  std::int64_t kernels = 0, total = 0;
};

struct LayerRecord {
  std::uint32_t layer = 0;
  LayerSide first, second;
  double ratio = 0;      // of totals; 1 where the second is 0, 0 where only one side has the layer
  std::int64_t gap = 0;  // first - second
  Status status = Status::kSimilar;
  bool in_both = false;
};

std::vector<LayerRecord> compare_layers(const Trace& first, const LayerMap& first_layers, const Trace& second,
                                        const LayerMap& second_layers, PhaseFilter filter);

}  // namespace tracedb::wafer
