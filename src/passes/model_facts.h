// What kernel time by name says of a whole trace, without a look at each kernel.
#pragma once

#include <cstdint>
#include <vector>

#include "index/index.h"
#include "passes/kernel_traits.h"
#include "passes/layers.h"

namespace tracedb {

struct ModelFacts {
  Architecture architecture = Architecture::kUnknown;
  double classified = 0;  // share of kernel time whose name says what it is for; 0 where there is none
};

// `traits` as of kernel_traits().
ModelFacts model_facts(const Index& index, const std::vector<Traits>& traits);

}  // namespace tracedb
