#include "compare/align/alignment.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "passes/layers/layers.h"

namespace tracedb {

TEST_CASE("the order of a step") {
  std::vector<std::int32_t> layers = {kNoLayer, 2, kTail, 0, kHead, 10, 1};
  std::sort(layers.begin(), layers.end(), comes_before);
  CHECK(layers == std::vector<std::int32_t>{kHead, 0, 1, 2, 10, kTail, kNoLayer});
  for (const std::int32_t layer : layers) CHECK_FALSE(comes_before(layer, layer));
}

}  // namespace tracedb
