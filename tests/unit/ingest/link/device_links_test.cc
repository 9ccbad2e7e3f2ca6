#include "ingest/link/device_links.h"

#include <doctest/doctest.h>

#include "base/unknown.h"
#include "ingest/store/records.h"

namespace tracedb {
namespace {

KernelSum sum_of(const std::vector<std::int64_t>& durations) {
  KernelSums sums;
  for (const std::int64_t dur : durations) sums.add(1, dur);
  return sums.finish().at(0);
}

}  // namespace

TEST_CASE("percentiles are nearest ranks, the median is the middle") {
  const KernelSum one = sum_of({7});
  CHECK(one.p50 == 7);
  CHECK(one.p99 == 7);
  CHECK(one.median == 7);
  CHECK(sum_of({4, 1}).median == 2.5);
  CHECK(sum_of({4, 1}).p50 == 1);
  CHECK(sum_of({4, 1}).p90 == 4);
  const KernelSum ten = sum_of({10, 9, 8, 7, 6, 5, 4, 3, 2, 1});
  CHECK(ten.p50 == 5);
  CHECK(ten.p90 == 9);
  CHECK(ten.p99 == 10);
  CHECK(ten.median == 5.5);
  CHECK(ten.n == 10);
  CHECK(ten.total == 55);
  CHECK(ten.min == 1);
  CHECK(ten.max == 10);
  CHECK(ten.sum_of_squares == 385);
  std::vector<std::int64_t> hundred;
  for (std::int64_t i = 1; i <= 101; ++i) hundred.push_back(i);
  CHECK(sum_of(hundred).p99 == 100);
  CHECK(sum_of(hundred).p50 == 51);
}

TEST_CASE("kernels of unknown duration are counted, not summed") {
  const KernelSum sum = sum_of({kUnknownValue, 0, 10, kUnknownValue});
  CHECK(sum.n == 4);
  CHECK(sum.known == 2);
  CHECK(sum.total == 10);
  CHECK(sum.min == 0);
  CHECK(sum.median == 5);
  const KernelSum unknown = sum_of({kUnknownValue});
  CHECK(unknown.n == 1);
  CHECK(unknown.known == 0);
  CHECK(unknown.total == 0);
}

TEST_CASE("names are kept apart, in order of their first kernel") {
  KernelSums sums;
  sums.add(2, 10);
  sums.add(1, 1);
  sums.add(2, 20);
  sums.add(2, 40);
  sums.add(2, 30);
  const std::vector<KernelSum> names = sums.finish();
  REQUIRE(names.size() == 2);
  CHECK(names[0].name == 2);
  CHECK(names[0].n == 4);
  CHECK(names[0].total == 100);
  CHECK(names[0].median == 25);
  CHECK(names[1].total == 1);
  CHECK(KernelSums{}.finish().empty());
}

TEST_CASE("durations of more than 32 bits stand in their place") {
  constexpr std::int64_t kLong = 5'000'000'000;
  const KernelSum sum = sum_of({kLong, 3, kLong + 1, 4'294'967'295, 4'294'967'296});
  CHECK(sum.min == 3);
  CHECK(sum.max == kLong + 1);
  CHECK(sum.median == 4'294'967'296.0);
  CHECK(sum.p90 == kLong + 1);
  CHECK(sum.total == 2 * kLong + 1 + 3 + 4'294'967'295 + 4'294'967'296);
}

}  // namespace tracedb
