#include "compare/steps/step_metrics.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

namespace tracedb {
namespace {

std::vector<std::int64_t> noisy(std::mt19937& chance, std::size_t n, std::int64_t about) {
  std::vector<std::int64_t> values(n);
  for (std::int64_t& value : values) value = about + static_cast<std::int64_t>(chance() % 101) - 50;
  return values;
}

Evidence evidence(double baseline, double candidate, Interval interval) {
  return {baseline, candidate, interval, 10, 10, 1};
}

}  // namespace

TEST_CASE("draws of means: constant and empty samples, zeros") {
  const MeanDraws constant = draw_means(std::vector<std::int64_t>(7, 42));
  CHECK(constant.mean == 42);
  CHECK(constant.draws == std::vector<double>(kResamples, 42.0));
  CHECK(draw_means({}).draws.empty());
  CHECK(draw_means({}).mean == 0);
  CHECK(draw_means(std::vector<std::int64_t>{4, 8}).mean == 6);
  CHECK(draw_means(std::vector<std::int64_t>{4, 8}, 3).mean == doctest::Approx(2.4));
  CHECK(draw_means({}, 2).draws == std::vector<double>(kResamples, 0.0));
}

TEST_CASE("draws of means: the same in every run, whatever the order, within the sample") {
  std::mt19937 chance(5);
  for (const std::size_t n : {std::size_t{2}, std::size_t{5}, std::size_t{40}, std::size_t{200}, std::size_t{1000}}) {
    std::vector<std::int64_t> values = noisy(chance, n, 1000);
    const MeanDraws first = draw_means(values);
    std::shuffle(values.begin(), values.end(), chance);
    CHECK(draw_means(values).draws == first.draws);
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    const auto [least, most] = std::minmax_element(first.draws.begin(), first.draws.end());
    CHECK(*least >= static_cast<double>(*low));
    CHECK(*most <= static_cast<double>(*high));
  }
}

TEST_CASE("interval of a difference: none against itself, negated by a swap, about the difference") {
  std::mt19937 chance(6);
  for (const std::size_t n : {std::size_t{5}, std::size_t{12}, std::size_t{300}}) {
    const MeanDraws a = draw_means(noisy(chance, n, 1000));
    const MeanDraws b = draw_means(noisy(chance, n + 3, 1300));
    const Interval itself = difference_interval(a, a);
    CHECK(itself.low == 0);
    CHECK(itself.high == 0);
    const Interval there = difference_interval(a, b);
    const Interval back = difference_interval(b, a);
    CHECK(there.low == -back.high);
    CHECK(there.high == -back.low);
    CHECK(there.low <= there.high);
    CHECK(there.low > 150);
    CHECK(there.high < 450);
  }
  const Interval new_one = difference_interval({}, draw_means(std::vector<std::int64_t>(5, 9)));
  CHECK(new_one.low == 9);
  CHECK(new_one.high == 9);
}

TEST_CASE("the way of drawing changes with the size of the sample, the width of the interval hardly") {
  std::mt19937 chance(8);
  const auto width = [&](std::size_t n) {
    const MeanDraws draws = draw_means(noisy(chance, n, 1000));
    const auto [least, most] = std::minmax_element(draws.draws.begin(), draws.draws.end());
    return *most - *least;
  };
  const double directly = width(50);
  const double by_normal = width(51);
  CHECK(by_normal > directly / 2);
  CHECK(by_normal < directly * 2);
}

TEST_CASE("verdicts") {
  CHECK(verdict_of(evidence(100, 110, {5, 15})) == Verdict::kWorse);
  CHECK(verdict_of(evidence(100, 90, {-15, -5})) == Verdict::kBetter);
  CHECK(verdict_of(evidence(100, 110, {-1, 15})) == Verdict::kSame);    // may be nothing
  CHECK(verdict_of(evidence(100, 101, {0.5, 1.5})) == Verdict::kSame);  // sure, and too small
  CHECK(verdict_of(evidence(100, 100, {0, 0})) == Verdict::kSame);
  CHECK(verdict_of(evidence(0, 5, {5, 5})) == Verdict::kWorse);     // new
  CHECK(verdict_of(evidence(5, 0, {-5, -5})) == Verdict::kBetter);  // gone
  Evidence few = evidence(100, 110, {5, 15});
  few.candidate_steps = 4;
  CHECK(verdict_of(few) == Verdict::kInconclusive);
  CHECK(!reason_of(few).empty());
  Evidence uncovered = evidence(100, 110, {5, 15});
  uncovered.coverage = 0.79;
  CHECK(verdict_of(uncovered) == Verdict::kInconclusive);
  Evidence other_load = evidence(100, 110, {5, 15});
  other_load.barred = "the load differs";
  CHECK(verdict_of(other_load) == Verdict::kInconclusive);
  CHECK(reason_of(evidence(100, 110, {5, 15})).empty());
}

TEST_CASE("verdicts of swapped sides are opposite, also where the change is just large enough") {
  for (double candidate = 95; candidate < 105; candidate += 0.01) {
    const double change = candidate - 100;
    const Interval interval = {change - 0.001, change + 0.001};
    const Verdict there = verdict_of(evidence(100, candidate, interval));
    const Verdict back = verdict_of(evidence(candidate, 100, {-interval.high, -interval.low}));
    const Verdict opposite = there == Verdict::kWorse    ? Verdict::kBetter
                             : there == Verdict::kBetter ? Verdict::kWorse
                                                         : there;
    CHECK(back == opposite);
  }
}

}  // namespace tracedb
