#include "passes/steps/device_periods.h"

#include <doctest/doctest.h>

#include "passes/steps/step_stats.h"

namespace tracedb {

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
