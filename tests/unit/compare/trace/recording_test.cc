#include "compare/trace/recording.h"

#include <doctest/doctest.h>

#include "base/unknown.h"
#include "compare/steps/step_metrics.h"
#include "passes/columns/device_events.h"

namespace tracedb {
namespace {

Change worse() {
  Change change;
  change.baseline_steps = change.candidate_steps = 8;
  change.verdict = Verdict::kWorse;
  return change;
}

constexpr HostWaits kFree = {0, 0, 0, 1000};
constexpr HostWaits kBound = {2, 500, 30, 1000};

}  // namespace

TEST_CASE("a period is bound by the host from 2 percent on") {
  CHECK_FALSE(HostWaits{}.bound());
  CHECK_FALSE(HostWaits{9, 19, 100, 1000}.bound());
  CHECK(HostWaits{9, 20, 0, 1000}.bound());
  CHECK(kBound.calls_per_gap() == 15);
  CHECK(HostWaits{}.calls_per_gap() == 0);
}

TEST_CASE("waits of a group: of its runs that have a period") {
  const RecordedGaps gaps = {{true, false}, {100, 0, 50, 7}, {9, 0, 3, 1}};
  const std::vector<std::int64_t> periods = {1000, 1000, 500, kUnknownValue};
  const HostWaits all = sum_host_waits(gaps, std::vector<std::uint32_t>{0, 1, 2, 3}, periods);
  CHECK(all.gaps == 2);
  CHECK(all.waiting == 150);
  CHECK(all.calls == 12);
  CHECK(all.periods == 2500);
  const HostWaits some = sum_host_waits(gaps, std::vector<std::uint32_t>{1, 3}, periods);
  CHECK(some.gaps == 0);
  CHECK(some.periods == 1000);
  CHECK_FALSE(sum_host_waits({}, std::vector<std::uint32_t>{0}, periods).bound());
}

TEST_CASE("traces differ in what they record, where that is known of both") {
  const Recording none, stacks = {true, false}, both = {true, true};
  CHECK(recording_difference(stacks, stacks).empty());
  CHECK(recording_difference(std::nullopt, stacks).empty());
  CHECK(recording_difference(stacks, none) ==
        "the baseline records python stacks, the candidate neither python stacks nor shapes");
  CHECK(recording_difference(stacks, both) ==
        "the baseline records python stacks, the candidate python stacks and shapes");
}

TEST_CASE("a period recorded differently is inconclusive, one bound by the host has a caveat") {
  Change usual = worse();
  judge_period(usual, "", kFree, kFree);
  CHECK(usual.verdict == Verdict::kWorse);
  CHECK(usual.caveat.empty());
  CHECK(usual.recorded_alike);
  Change different = worse();
  judge_period(different, "they differ", kBound, kFree);
  CHECK(different.verdict == Verdict::kInconclusive);
  CHECK(different.reason == "recorded differently");
  CHECK_FALSE(different.recorded_alike);
  Change waits = worse();
  judge_period(waits, "", kFree, kBound);
  CHECK(waits.verdict == Verdict::kWorse);
  CHECK(waits.caveat == "candidate bound by the recording host, 15 calls per gap");
  judge_period(waits, "", kBound, kBound);
  CHECK(waits.caveat == "both bound by the recording host, 15 and 15 calls per gap");
  Change unknown;
  judge_period(unknown, "they differ", kBound, kBound);
  CHECK(unknown.recorded_alike);
  CHECK(unknown.caveat.empty());
}

}  // namespace tracedb
