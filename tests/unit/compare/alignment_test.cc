#include "compare/alignment.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "passes/layers.h"

namespace tracedb {

TEST_CASE("labels of layers") {
  CHECK(layer_label(0) == "0");
  CHECK(layer_label(79) == "79");
  CHECK(layer_label(kHead) == "[head]");
  CHECK(layer_label(kTail) == "[tail]");
  CHECK(layer_label(kNoLayer) == "[no layer]");
  CHECK(layers_label({}).empty());
  CHECK(layers_label({4}) == "4");
  CHECK(layers_label({0, 1}) == "0..1");
  CHECK(layers_label({0, 1, 2, 5, 7, 8}) == "0..2,5,7..8");
  CHECK(layers_label({kHead, 0, 1, kTail, kNoLayer}) == "[head],0..1,[tail],[no layer]");
  CHECK(layers_label({kTail, kHead}) == "[tail],[head]");
}

TEST_CASE("the order of a step") {
  std::vector<std::int32_t> layers = {kNoLayer, 2, kTail, 0, kHead, 10, 1};
  std::sort(layers.begin(), layers.end(), comes_before);
  CHECK(layers == std::vector<std::int32_t>{kHead, 0, 1, 2, 10, kTail, kNoLayer});
  for (const std::int32_t layer : layers) CHECK_FALSE(comes_before(layer, layer));
}

}  // namespace tracedb
