#include "compare/trace/exclusive_time.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

namespace tracedb {
namespace {

// Instant by instant, straight from the definition.
std::vector<std::int64_t> by_instants(const std::vector<WorkInterval>& intervals, std::int64_t end) {
  std::vector<std::int64_t> out(intervals.size(), 0);
  for (std::int64_t at = 0; at < end; ++at) {
    for (const Work work : {Work::kCompute, Work::kComm, Work::kCopy}) {
      const auto owner = std::find_if(intervals.begin(), intervals.end(), [&](const WorkInterval& interval) {
        return interval.work == work && interval.begin <= at && at < interval.end;
      });
      if (owner == intervals.end()) continue;
      ++out[static_cast<std::size_t>(owner - intervals.begin())];
      break;
    }
  }
  return out;
}

std::vector<WorkInterval> random_intervals(std::mt19937& chance, std::int64_t end) {
  std::vector<WorkInterval> out(chance() % 24);
  for (WorkInterval& interval : out) {
    interval.begin = static_cast<std::int64_t>(chance()) % end;
    interval.end = std::min<std::int64_t>(end, interval.begin + static_cast<std::int64_t>(chance() % 30));
    interval.work = static_cast<Work>(chance() % 3);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const WorkInterval& a, const WorkInterval& b) { return a.begin < b.begin; });
  return out;
}

}  // namespace

TEST_CASE("exclusive time by hand: computation hides communication, which hides copies") {
  const std::vector<WorkInterval> intervals = {{0, 100, Work::kCompute}, {50, 150, Work::kComm},
                                               {60, 90, Work::kCompute}, {90, 120, Work::kCompute},
                                               {110, 200, Work::kCopy},  {140, 160, Work::kComm}};
  std::vector<std::int64_t> times;
  exclusive_times(intervals, times);
  CHECK(times == std::vector<std::int64_t>{100, 30, 0, 20, 40, 10});
}

TEST_CASE("exclusive time of random intervals: each instant belongs to one") {
  std::mt19937 chance(11);
  std::vector<std::int64_t> times;
  for (int round = 0; round < 2000; ++round) {
    constexpr std::int64_t kEnd = 120;
    const std::vector<WorkInterval> intervals = random_intervals(chance, kEnd);
    exclusive_times(intervals, times);
    REQUIRE(times == by_instants(intervals, kEnd));
  }
}

TEST_CASE("exclusive time of nothing, and of intervals without length") {
  std::vector<std::int64_t> times(3, 7);
  exclusive_times({}, times);
  CHECK(times.empty());
  const std::vector<WorkInterval> points = {{5, 5, Work::kCompute}, {5, 5, Work::kCopy}};
  exclusive_times(points, times);
  CHECK(times == std::vector<std::int64_t>{0, 0});
}

}  // namespace tracedb
