#include "compare/trace/device_steps.h"

#include <doctest/doctest.h>

#include "base/unknown.h"

namespace tracedb {
namespace {

constexpr StepKind kD = StepKind::kDecode;
constexpr StepKind kP = StepKind::kPrefill;
using StepTimes = std::vector<std::int64_t>;

// Steps and the device steps of their work, added in order.
struct MadeSteps {
  StepSet set;
  std::vector<DeviceStep> steps;

  MadeSteps& step(StepKind kind, std::uint32_t track = 1, std::optional<std::int64_t> tokens = std::nullopt) {
    StepFacts facts;
    facts.info.kind = kind;
    facts.info.generation_tokens = tokens;
    facts.track = track;
    set.steps.push_back(facts);
    return *this;
  }
  // Of the latest step.
  MadeSteps& run(std::int64_t first, std::int64_t span, std::uint32_t device = 0) {
    DeviceStep& made = steps.emplace_back();
    made.step = static_cast<std::uint32_t>(set.steps.size());
    made.device = device;
    made.first = first;
    made.span = span;
    return *this;
  }
  [[nodiscard]] StepTimes periods() const { return step_periods(set, steps).within_kind; }
  [[nodiscard]] PeriodSums sums(const std::vector<std::uint32_t>& group) const {
    return sum_periods(set, steps, group, periods());
  }
};

}  // namespace

TEST_CASE("periods: from a run to the next of its kind on the device, without another mark between") {
  MadeSteps made;
  made.step(kD).run(0, 8).step(kD).run(10, 8).step(kP).run(25, 9).step(kD).run(40, 8).step(kD).run(52, 8);
  CHECK(made.periods() == StepTimes{10, kUnknownValue, kUnknownValue, 12, kUnknownValue});
  // A step that ran nothing on the device lies between too.
  MadeSteps empty;
  empty.step(kD).run(0, 8).step(kD).step(kD).run(30, 8);
  CHECK(empty.periods() == StepTimes{kUnknownValue, kUnknownValue});
}

TEST_CASE("transitions: from a run to the next, where that is of another kind") {
  MadeSteps made;
  made.step(kD).run(0, 8).step(kD).run(10, 8).step(kP).run(25, 9).step(kD).run(40, 8).step(kP).step(kD).run(52, 8);
  const StepPeriods found = step_periods(made.set, made.steps);
  CHECK(found.to(kP) == StepTimes{kUnknownValue, 15, kUnknownValue, kUnknownValue, kUnknownValue});
  CHECK(found.to(kD) == StepTimes{kUnknownValue, kUnknownValue, 15, kUnknownValue, kUnknownValue});
  CHECK(found.transitions[1].to == kP);
  // No device step has both.
  for (std::size_t i = 0; i < made.steps.size(); ++i) {
    CHECK((found.within_kind[i] == kUnknownValue || found.transitions[i].period == kUnknownValue));
  }
}

TEST_CASE("periods: devices and tracks each by themselves") {
  MadeSteps devices;
  devices.step(kD).run(0, 8, 0).run(1, 8, 1).step(kD).run(10, 8, 0).run(13, 8, 1);
  CHECK(devices.periods() == StepTimes{10, 12, kUnknownValue, kUnknownValue});
  // Two processes whose steps take turns, each on a device of its own.
  MadeSteps processes;
  processes.step(kD, 1).run(0, 8, 0).step(kD, 2).run(1, 8, 1).step(kD, 1).run(10, 8, 0).step(kD, 2).run(13, 8, 1);
  CHECK(processes.periods() == StepTimes{10, 12, kUnknownValue, kUnknownValue});
  // And on one device: what follows is not the next step of the same track.
  MadeSteps mixed;
  mixed.step(kD, 1).run(0, 8).step(kD, 2).run(10, 8).step(kD, 1).run(20, 8);
  CHECK(mixed.periods() == StepTimes{kUnknownValue, kUnknownValue, kUnknownValue});
}

TEST_CASE("periods: none where the next run does not start later, nor without steps") {
  MadeSteps back;
  back.step(kD).run(50, 8).step(kD).run(50, 8).step(kD).run(20, 8);
  CHECK(back.periods() == StepTimes{kUnknownValue, kUnknownValue, kUnknownValue});
  MadeSteps trace;
  trace.run(0, 8);
  CHECK(trace.periods() == StepTimes{kUnknownValue});
}

TEST_CASE("tokens a second: of the steps that have a period, where all say") {
  MadeSteps made;
  made.step(kD, 1, 4).run(0, 6).step(kD, 1, 8).run(10, 7).step(kD, 1, 100).run(30, 8);
  REQUIRE(made.sums({0, 1, 2}).tokens_per_s());
  CHECK(*made.sums({0, 1, 2}).tokens_per_s() == doctest::Approx(12e9 / 30));
  MadeSteps unknown;
  unknown.step(kD, 1, 4).run(0, 6).step(kD).run(10, 7).step(kD, 1, 4).run(30, 8);
  CHECK_FALSE(unknown.sums({0, 1, 2}).tokens_per_s());
  CHECK_FALSE(unknown.sums({2}).tokens_per_s());
}

}  // namespace tracedb
