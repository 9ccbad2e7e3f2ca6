#include "ingest/link/open_intervals.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

namespace tracedb {
namespace {

int at(const OpenIntervals<int>& open, std::int64_t t) {
  const int* found = open.innermost(t);
  return found == nullptr ? 0 : *found;
}

}  // namespace

TEST_CASE("the innermost interval that is open") {
  OpenIntervals<int> open;
  CHECK(at(open, 0) == 0);
  open.push(100, 1);
  open.push(50, 2);
  open.push(10, 3);
  CHECK(at(open, 9) == 3);
  CHECK(at(open, 10) == 2);  // the end is not inside
  open.advance(50);
  CHECK(at(open, 50) == 1);
  open.advance(100);
  CHECK(at(open, 100) == 0);
}

TEST_CASE("an interval that ended this very moment can still be found") {
  OpenIntervals<int> open;
  open.push(10, 1);
  open.push(10, 2);
  const auto is = [](int wanted) { return [wanted](int payload) { return payload == wanted; }; };
  open.advance(10);
  REQUIRE(open.find(10, is(1)) != nullptr);
  CHECK(at(open, 10) == 0);
  open.advance(11);
  CHECK(open.find(11, is(1)) == nullptr);
}

TEST_CASE("intervals that overlap without nesting") {
  OpenIntervals<int> open;
  open.push(20, 1);  // [0, 20)
  open.push(30, 2);  // [10, 30)
  open.advance(25);
  CHECK(at(open, 25) == 2);
  CHECK(at(open, 15) == 2);
  OpenIntervals<int> hidden;
  hidden.push(100, 1);
  hidden.push(20, 2);
  hidden.push(60, 3);
  hidden.advance(40);
  CHECK(at(hidden, 40) == 3);
  hidden.advance(70);
  CHECK(at(hidden, 70) == 1);
}

TEST_CASE("intervals of no length enclose nothing") {
  OpenIntervals<int> open;
  open.push(5, 1);
  CHECK(at(open, 5) == 0);
}

TEST_CASE("thousands of overlapping intervals give the same answer as looking at all of them") {
  struct Interval {
    std::int64_t ts, end;
  };
  std::mt19937 random(7);
  std::vector<Interval> intervals;
  OpenIntervals<int> open;
  std::int64_t t = 0;
  for (int i = 0; i < 3000; ++i) {
    t += static_cast<std::int64_t>(random() % 3);
    open.advance(t);
    const auto expected =
        std::find_if(intervals.rbegin(), intervals.rend(), [t](const Interval& one) { return one.end > t; });
    const int number = expected == intervals.rend() ? 0 : static_cast<int>(intervals.rend() - expected);
    REQUIRE(at(open, t) == number);
    intervals.push_back({t, t + static_cast<std::int64_t>(random() % (i % 2 == 0 ? 5 : 2000))});
    open.push(intervals.back().end, i + 1);
  }
}

}  // namespace tracedb
