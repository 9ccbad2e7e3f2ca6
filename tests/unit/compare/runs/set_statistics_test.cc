#include "compare/runs/set_statistics.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace tracedb {
namespace {

// Two-sided p of Student's t by plain integration: the density over t = sqrt(dof) tan(x) is cos(x)^(dof - 1).
double p_by_integration(double t, double dof) {
  constexpr int kSteps = 200000;
  double beyond = 0, all = 0;
  const double from = std::atan(std::abs(t) / std::sqrt(dof));
  for (int i = 0; i < kSteps; ++i) {
    const double x = (i + 0.5) / kSteps * std::numbers::pi / 2;
    const double density = std::pow(std::cos(x), dof - 1);
    all += density;
    if (x > from) beyond += density;
  }
  return beyond / all;
}

TEST_CASE("statistics of sets: Welch's t test") {
  const SideValues cases[] = {
      {{{1, 2, 3}, {2, 4, 9}}},
      {{{10.1, 9.8, 10.4, 10}, {10.9, 11.3, 10.2, 10.6}}},
      {{{5, 5.1}, {4, 7}}},
      {{{20, 21, 19, 22, 20.5}, {20.1, 20.2, 20.3, 20.2, 20.15}}},
  };
  for (const SideValues& values : cases) {
    const double n = static_cast<double>(values[0].size());
    double mean[2] = {}, variance[2] = {};
    for (int side = 0; side < 2; ++side) {
      for (const double value : values[static_cast<std::size_t>(side)]) mean[side] += value / n;
      for (const double value : values[static_cast<std::size_t>(side)]) {
        variance[side] += (value - mean[side]) * (value - mean[side]) / (n - 1);
      }
    }
    const double a = variance[0] / n, b = variance[1] / n;
    const double dof = (a + b) * (a + b) / (a * a / (n - 1) + b * b / (n - 1));
    const double t = (mean[1] - mean[0]) / std::sqrt(a + b);
    const SetDifference out = difference_of(values, {values[0].size(), values[1].size()}, 0);
    CHECK(out.change == doctest::Approx(mean[1] - mean[0]));
    CHECK(out.dof == doctest::Approx(dof));
    CHECK(*out.p_value() == doctest::Approx(p_by_integration(t, dof)).epsilon(1e-4));
    CHECK(p_by_integration((out.range()->high - out.change) / std::sqrt(a + b), dof) ==
          doctest::Approx(0.05).epsilon(1e-3));
  }
}

TEST_CASE("statistics of sets: pairs, one run, unequal sides, least sd") {
  // Differences 1, 2, 3: mean 2, sd 1, t(2) = 4.3027.
  const SetDifference pairs = difference_of({{{10, 20, 30}, {11, 22, 33}}}, {3, 3, true}, 0);
  CHECK(pairs.range()->high == doctest::Approx(2 + 4.30265 / std::sqrt(3)));
  // sd 1 of three runs: sqrt(1 + 1/3) t(2).
  const SetDifference one = difference_of({{{1, 2, 3}, {7}}}, {3, 1}, 0);
  CHECK(one.range()->low == doctest::Approx(5 - 4.30265 * std::sqrt(4.0 / 3)));
  // The smaller side scatters less: Student's is wider. sd^2 = (1 + 0.0002) / 4... of 0.01 and 1 about.
  const SideValues unequal{{{1, 2, 3, 2, 1, 3}, {2, 2.01}}};
  const double student = std::sqrt((4 + 0.00005) / 6 * (1.0 / 6 + 1.0 / 2));
  CHECK(difference_of(unequal, {6, 2}, 0).error == doctest::Approx(student));
  CHECK(difference_of({{{1, 1}, {2, 2}}}, {2, 2}, 0.1).error == doctest::Approx(0.1));
  CHECK(difference_of({{{1, 1}, {2, 2}}}, {2, 2}, 0.1, 0.03).error == doctest::Approx(0.2));
  CHECK(difference_of({{{1, 1}, {1, 1}}}, {2, 2}, 0.1).error == 0);
  CHECK(!difference_of({{{1}, {2}}}, {1, 1}, 0).range());
}

TEST_CASE("statistics of sets: sides without variance") {
  const SetDifference apart = difference_of({{{1, 1}, {2, 2}}}, {2, 2}, 0);
  CHECK(apart.change == 1);
  CHECK(apart.range()->low == 1);
  CHECK(*apart.p_value() == 0);
  CHECK(*difference_of({{{1, 1}, {1, 1}}}, {2, 2}, 0).p_value() == 1);
}

TEST_CASE("statistics of sets: runs that are needed") {
  const struct {
    std::size_t runs;
    double detectable;
  } cases[] = {{3, 3.04}, {4, 2.37}, {5, 2.02}, {6, 1.79}, {8, 1.51}, {10, 1.33}, {20, 0.91}};
  for (const auto& of : cases) {
    CHECK(detectable_change({of.runs, of.runs}) == doctest::Approx(of.detectable).epsilon(0.005));
    CHECK(runs_needed(false, 1, detectable_change({of.runs, of.runs})) == static_cast<std::int64_t>(of.runs));
  }
  CHECK(runs_needed(true, 1, 1) < runs_needed(false, 1, 1) + 2);
  CHECK(runs_needed(false, 1, 1e-6) == 10000);
}

TEST_CASE("statistics of sets: many rows") {
  const std::vector<double> p = {0.04, 0.01, 0.5, 0.03};
  const std::vector<double> expected = {0.16 / 3, 0.04, 0.5, 0.16 / 3};
  for (std::size_t i = 0; i < p.size(); ++i) CHECK(false_discovery_rates(p)[i] == doctest::Approx(expected[i]));
  // Equal variances: all is common; the prior is what chi-squared of equal logarithms would have.
  std::vector<double> equal(10, 4);
  CHECK(moderate(equal, 4) == doctest::Approx(40));
  CHECK(equal[0] >= 4);
  // Variances that differ beyond all chance have little in common.
  std::vector<double> wide = {1e-4, 1, 1e4, 1e-2, 1e2};
  CHECK(moderate(wide, 4) < 4.5);
  CHECK(wide[2] == 1e4);
  CHECK(wide[0] > 1e-4);
}

}  // namespace
}  // namespace tracedb
