#include <doctest/doctest.h>

#include "compare/comparison.h"

namespace tracedb {

TEST_CASE("few steps: the more frequent direction, of how many, and the median") {
  CHECK(to_string(tally("layers", {1.03, 1.05, 1.041})) == "3 of 3 layers slower, median +4.1 %");
  CHECK(to_string(tally("layers", {0.9, 0.8, 1.5})) == "2 of 3 layers faster, median -10.0 %");
  CHECK(to_string(tally("operations", {0.9, 1.3})) == "1 of 2 operations slower, median +10.0 %");
  CHECK(to_string(tally("operations", {0.5, 1.1})) == "1 of 2 operations faster, median -20.0 %");
  CHECK(to_string(tally("layers", {1, 1, 1.2})) == "2 of 3 layers the same, median +0.0 %");
  CHECK(to_string(tally("layers", {1, 1})) == "2 of 2 layers the same, median +0.0 %");
}

TEST_CASE("few steps: parts that both sides have, by their time per step") {
  GroupComparison group;
  group.baseline_units = 1;
  group.candidate_units = 2;
  const auto layer = [&](std::int32_t number, std::int64_t a, std::int64_t b) {
    LayerChange change;
    change.layer = number;
    change.baseline.time = a;
    change.candidate.time = b;
    group.layers.push_back(change);
  };
  layer(0, 100, 208);
  layer(1, 100, 208);
  layer(2, 100, 0);       // the candidate has it not
  layer(-1, 100, 10000);  // head
  OpChange op;
  op.baseline.time = 50;
  op.candidate.time = 90;
  group.ops.push_back(op);
  const std::vector<Tally> found = tallies(group);
  REQUIRE(found.size() == 2);
  CHECK(to_string(found[0]) == "2 of 2 layers slower, median +4.0 %");
  CHECK(to_string(found[1]) == "1 of 1 operations faster, median -10.0 %");
}

}  // namespace tracedb
