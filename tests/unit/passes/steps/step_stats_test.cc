#include "passes/steps/step_stats.h"

#include <doctest/doctest.h>

#include "base/unknown.h"

namespace tracedb {
namespace {

using StepTimes = std::vector<std::int64_t>;
using Ids = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("figures of steps: of the longest device, copies in spans only, kernels of none apart") {
  const StepTimes ts = {0, 5, 20, 100, 300};
  const StepTimes dur = {10, 10, 30, kUnknownValue, 7};
  const Ids stream = {1, 2, 1, 3, 1};
  const Ids step = {1, 1, 1, 1, 0};
  const StepTimes copy_ts = {60};
  const StepTimes copy_dur = {5};
  const Ids copy_stream = {1};
  const Ids copy_step = {1};
  const Ids devices = {0, 7, 7, 9};
  const auto stats = step_stats({ts, dur, stream, step}, {copy_ts, copy_dur, copy_stream, copy_step}, devices, 2);
  REQUIRE(stats.size() == 3);
  CHECK(stats[0].kernels == 1);
  CHECK(stats[0].kernel_time == 7);
  CHECK(stats[1].kernels == 4);
  CHECK(stats[1].known == 3);
  CHECK(stats[1].kernel_time == 50);
  CHECK(stats[1].first == 0);
  CHECK(stats[1].gpu_span == 65);
  CHECK(stats[1].gpu_busy == 50);  // 0..15, 20..50, 60..65
  CHECK(stats[2].kernels == 0);
  CHECK(stats[2].gpu_span == kUnknownValue);
}

TEST_CASE("periods run from step to step of one track") {
  CHECK(periods(StepTimes{0, 5, 10, kUnknownValue, 40}, Ids{1, 2, 1, 1, 2}) ==
        StepTimes{10, 35, kUnknownValue, kUnknownValue, kUnknownValue});
  CHECK(periods({}, {}).empty());
}

TEST_CASE("the steady state leaves the ramps out") {
  const auto steady = [](const StepTimes& requests) {
    const StepRange range = steady_steps(requests);
    return std::pair(range.first, range.last);
  };
  CHECK(steady({0, 10, 60, 99, 100, 100, 96, 80, 100, 20}) == std::pair<std::size_t, std::size_t>(3, 7));
  CHECK(steady({-1, -1}) == std::pair<std::size_t, std::size_t>(0, 0));
  CHECK(steady({}) == std::pair<std::size_t, std::size_t>(0, 0));
}

TEST_CASE("medians") {
  CHECK(median_of({}) == std::nullopt);
  CHECK(median_of({3, 1, 2}) == 2.0);
  CHECK(median_of({4, 1, 2, 9}) == 3.0);
}

TEST_CASE("starts of steps: the first event on each device that runs a kernel of the step") {
  const std::vector<std::uint32_t> devices = {0, 10, 20};  // by stream
  const std::vector<std::int64_t> ts = {5, 6, 20, 30}, dur = {1, 1, 1, 1};
  const std::vector<std::uint32_t> stream = {1, 2, 1, 1}, step = {1, 1, 2, 0};
  // A copy before the first kernel is work of the step; copies alone make no step on a device.
  const std::vector<std::int64_t> copy_ts = {3, 15}, copy_dur = {1, 1};
  const std::vector<std::uint32_t> copy_stream = {1, 2}, copy_step = {1, 2};
  const auto starts = step_starts({ts, dur, stream, step}, {copy_ts, copy_dur, copy_stream, copy_step}, devices, 2);
  REQUIRE(starts.size() == 3);
  CHECK((starts[0].step == 1 && starts[0].device == 0 && starts[0].first == 3));
  CHECK((starts[1].step == 1 && starts[1].device == 1 && starts[1].first == 6));
  CHECK((starts[2].step == 2 && starts[2].device == 0 && starts[2].first == 20));
}

TEST_CASE("a step is the mean over its devices") {
  const std::vector<std::uint32_t> steps = {1, 1, 2, 3, 3};
  const std::vector<std::int64_t> values = {10, 20, kUnknownValue, 7, kUnknownValue};
  const auto means = means_of_steps(steps, values);
  REQUIRE(means.size() == 2);
  CHECK((means[0].step == 1 && means[0].mean == 15));
  CHECK((means[1].step == 3 && means[1].mean == 7));
}

}  // namespace tracedb
