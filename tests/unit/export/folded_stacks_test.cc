#include "export/folded_stacks.h"

#include <doctest/doctest.h>

#include <sstream>

namespace tracedb {
namespace {

// a (10), a;b (5), without a stack 3.
FoldedStacks two_paths(std::int64_t inner) {
  StackTimes times;
  times.frames = {"", "a;x.py(3): f", "b"};
  times.stacks = {{}, {0, 1, 0}, {1, 2, 0}};
  times.times = {{3, 1}, {10, 2}, {inner, 1}};
  return folded_stacks(times, Frames::kAll);
}

}  // namespace

TEST_CASE("folded stacks") {
  SUBCASE("one line a path") {
    std::ostringstream out;
    write_folded(out, two_paths(5));
    CHECK(out.str() == "a,x.py(3): f 10\na,x.py(3): f;b 5\n[no stack] 3\n");
  }
  SUBCASE("two traces: paths of either") {
    std::ostringstream out;
    write_folded_difference(out, two_paths(0), two_paths(5));
    CHECK(out.str() == "[no stack] 3 3\na,x.py(3): f 10 10\na,x.py(3): f;b 0 5\n");
  }
  SUBCASE("kernels none of whose frames is looked at") {
    StackTimes times;
    times.frames = {""};
    times.stacks = {{}};
    times.times = {{0, 0}};
    times.passed_over = {4, 1};
    std::ostringstream out;
    write_folded(out, folded_stacks(times, Frames::kModules));
    CHECK(out.str() == "[no module] 4\n");
  }
}

TEST_CASE("write_speedscope") {
  std::ostringstream out;
  const FoldedStacks first = two_paths(5), second = two_paths(6);
  const SpeedscopeProfile profiles[] = {{"A", first}, {"B", second}};
  write_speedscope(out, "both", profiles);
  const std::string text = out.str();
  CHECK(
      text.find(R"("unit":"nanoseconds","startValue":0,"endValue":18,"samples":[[0],[0,1],[2]],"weights":[10,5,3])") !=
      std::string::npos);
  CHECK(text.find(R"("endValue":19,"samples":[[0],[0,1],[2]],"weights":[10,6,3])") != std::string::npos);
  CHECK(text.find(R"({"name":"a;x.py(3): f","file":"a;x.py","line":3})") != std::string::npos);
}

}  // namespace tracedb
