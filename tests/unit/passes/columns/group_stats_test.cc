#include "passes/columns/group_stats.h"

#include <doctest/doctest.h>

#include <random>

#include "base/unknown.h"

namespace tracedb {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
const std::vector<std::uint32_t> kDevices = {0, 1, 1, 2};  // streams 1 and 2 share a device

struct Events {
  std::vector<std::int64_t> ts, dur;
  std::vector<std::uint32_t> stream;
  std::vector<GroupId> group;
  [[nodiscard]] GroupedEvents view() const { return {ts, dur, stream, kDevices, group}; }
};

}  // namespace

TEST_CASE("figures of a group, by hand") {
  const Events events{{0, 10, 20, 30, 40}, {5, 4, 1, 2, kUnknownValue}, {1, 1, 1, 1, 1}, {0, 0, 0, 0, 0}};
  const GroupStats stats = group_stats(events.view(), 1).front();
  CHECK(stats.count == 5);
  CHECK(stats.known == 4);
  CHECK(stats.total == 12);
  CHECK(stats.min == 1);
  CHECK(stats.max == 5);
  CHECK(stats.median == 3);
  CHECK(stats.p90 == 5);
  CHECK(stats.p99 == 5);
  CHECK(stats.stddev == doctest::Approx(1.8257418583505538));
}

TEST_CASE("one value has no deviation; an empty group has nothing") {
  const Events events{{0}, {7}, {1}, {1}};
  const std::vector<GroupStats> stats = group_stats(events.view(), 2);
  CHECK(stats[1].stddev == 0);
  CHECK(stats[1].median == 7);
  CHECK(stats[0].count == 0);
}

TEST_CASE("busy: overlap counts once on a device, twice on two") {
  const Events one{{0, 5, 20}, {10, 10, 1}, {1, 2, 1}, {0, 0, 0}};
  CHECK(group_stats(one.view(), 1)[0].busy == 16);
  CHECK(busy_time(one.view()) == 16);
  const Events two{{0, 5, 20}, {10, 10, 1}, {1, 3, 1}, {0, 0, 0}};
  CHECK(group_stats(two.view(), 1)[0].busy == 21);
  const Events inner{{0, 2, 12}, {10, 3, 3}, {1, 2, 1}, {0, 0, 0}};
  CHECK(busy_time(inner.view()) == 13);
}

TEST_CASE("absurd durations do not overflow") {
  const Events events{{5, 6}, {kMost, kMost}, {1, 3}, {0, 0}};
  const GroupStats stats = group_stats(events.view(), 1).front();
  CHECK(stats.total == kMost);
  CHECK(stats.busy == kMost);
}

TEST_CASE("groups close: sums of parts are sums of all; busy is at most total and at least the longest") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Events events;
    std::int64_t ts = 0;
    const auto pick = [&](unsigned most) { return static_cast<std::uint32_t>(random() % most); };
    for (std::uint32_t n = 1 + pick(40); n > 0; --n) {
      events.ts.push_back(ts += pick(4));
      events.dur.push_back(pick(10) == 0 ? kUnknownValue : std::int64_t{pick(8)});
      events.stream.push_back(1 + pick(3));
      events.group.push_back(pick(3));
    }
    const std::vector<GroupStats> parts = group_stats(events.view(), 3);
    Events together = events;
    std::fill(together.group.begin(), together.group.end(), 0U);
    const GroupStats all = group_stats(together.view(), 1).front();
    CHECK(parts[0].count + parts[1].count + parts[2].count == all.count);
    CHECK(parts[0].total + parts[1].total + parts[2].total == all.total);
    CHECK(all.busy == busy_time(events.view()));
    CHECK(all.busy <= all.total);
    CHECK(all.busy >= all.max);
    CHECK(parts[0].busy <= all.busy);
    CHECK(parts[0].busy + parts[1].busy + parts[2].busy >= all.busy);
  }
}

}  // namespace tracedb
