// Tests and intervals for the difference of two small sets of runs. Pure. Odd under a swap of the sides to the last
// digit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compare/runs/set_comparison.h"

namespace tracedb {

using SideValues = std::array<std::vector<double>, 2>;  // one of each run: baseline, candidate

inline constexpr double kLeastSd = 0.0005;  // of a level: no group of kernels repeats better

double mean_of(std::span<const double> values);
double change_of(const SideValues& values);  // of the means
double middle_of(const SideValues& values);
double product_of(const SideValues& a, const SideValues& b);  // sum of the products
SideValues centred(SideValues values);                        // each side about its mean

double student_p_value(double t, double dof);  // two-sided, of Student's t distribution

// How many runs there are, and how they stand to each other.
struct SetDesign {
  std::size_t baseline_runs = 0, candidate_runs = 0;
  bool paired = false;  // runs of equal place
  // Degrees of freedom of run_variance(). 0: not known. One run is judged by three or more of the other side.
  [[nodiscard]] double dof() const;
  // The squared standard error of the change, in units of run_variance().
  [[nodiscard]] double per_variance() const {
    return 1 / static_cast<double>(baseline_runs) + 1 / static_cast<double>(candidate_runs);
  }
};

// Of a run within its side; paired: half that of the differences.
double run_variance(const SideValues& values, const SetDesign& design);

struct SetDifference {
  double change = 0;
  double error = 0;  // standard error; 0: the values of each side are equal, and `least_sd` is 0
  double dof = 0;    // 0: error not known
  [[nodiscard]] std::optional<Interval> range() const;  // of 95 %
  [[nodiscard]] std::optional<double> p_value() const;
  [[nodiscard]] double detectable() const;  // the least true change that is told from 0 four times in five; dof > 0
};

// Welch's t test; for sides of unequal size it or Student's, whichever has the wider interval, since Welch's is too
// sure where the smaller side happens to scatter little. One run: sd sqrt(1 + 1/K) of the other side. Paired: t test of
// the differences. `least_sd`: no run repeats better, unless all values are equal. `extra`: added to the squared error.
SetDifference difference_of(const SideValues& values, const SetDesign& design, double least_sd, double extra = 0);

// Of the mean of some runs, 95 %; nullopt of fewer than two.
std::optional<Interval> interval_of_mean(std::span<const double> values);

// Variances of many groups, shrunk to what they have in common by empirical Bayes: Smyth, Linear models and empirical
// Bayes methods, SAGMB 3(1), 2004, section 6.2; but never below a group's own, which may have a reason: two algorithms.
// `dof`: of each; returns what it is then.
double moderate(std::vector<double>& variances, double dof);

// Benjamini and Hochberg 1995: the least rate of false discoveries at which each is found.
std::vector<double> false_discovery_rates(std::span<const double> p_values);

// The least true change that is told from 0 at 5 % four times in five, by quantiles of t, in units of the sd of a run.
double detectable_change(const SetDesign& design);
// Runs a side (pairs) until that, times `sd`, is at most `budget`; 10000 at most.
std::int64_t runs_needed(bool paired, double sd, double budget);

}  // namespace tracedb
