#include "compare/steps/step_groups.h"

#include <doctest/doctest.h>

namespace tracedb {

TEST_CASE("usual steps: warm-up at the start, rare long steps and two kinds of steps") {
  struct Case {
    const char* what;
    std::vector<std::int64_t> times;
    std::size_t warm_up;
    std::vector<std::size_t> rare;
    std::optional<std::int64_t> slow_from;
  };
  const Case cases[] = {
      {"none", {}, 0, {}, {}},
      {"one", {7}, 0, {}, {}},
      {"alike", {100, 101, 99, 100, 102}, 0, {}, {}},
      {"at most a fifth longer is regular", {100, 100, 100, 120, 100}, 0, {}, {}},
      {"one stalls", {100, 101, 99, 480, 100, 102}, 0, {3}, {}},
      {"short steps are regular", {100, 101, 20, 100, 99}, 0, {}, {}},
      {"the first warms up", {1063, 3}, 1, {}, {}},
      {"two warm up, one stalls", {900, 300, 100, 101, 99, 100, 250, 100, 100}, 2, {6}, {}},
      {"noise is no warm-up", {110, 100, 95, 105, 102}, 0, {}, {}},
      {"two of four stall", {118, 115, 1021, 1076}, 0, {}, 1021},
      {"half of them stall", {170, 400, 171, 840, 170, 300, 172, 500}, 0, {}, 300},
      {"one of four is no kind", {100, 101, 99, 300}, 0, {3}, {}},
      {"spread without a gap", {100, 110, 125, 140, 160, 190, 210}, 0, {}, {}},
      {"zeros", {0, 0, 0, 0}, 0, {}, {}},
  };
  for (const Case& one : cases) {
    CAPTURE(one.what);
    const UsualSteps found = usual_steps(one.times);
    CHECK(found.warm_up == one.warm_up);
    CHECK(found.rare == one.rare);
    CHECK(found.slow_from == one.slow_from);
    CHECK(found.counted.size() + found.rare.size() + found.warm_up == one.times.size());
  }
}

TEST_CASE("usual steps: marked warm-up is left out whatever its time, but never all") {
  CHECK(usual_steps(std::vector<std::int64_t>{90, 100, 100, 100}, 1).warm_up == 1);
  CHECK(usual_steps(std::vector<std::int64_t>{90}, 1).warm_up == 0);
}

}  // namespace tracedb
