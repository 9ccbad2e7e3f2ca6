// Tests and intervals for the difference of two small sets of runs. Pure. All are odd under a swap of the sides to the
// last digit.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "compare/runs/set_comparison.h"

namespace tracedb {

// Student's t distribution; `dof`, degrees of freedom, more than 0.
double student_quantile(double probability, double dof);
double student_p_value(double t, double dof);  // two-sided

// How the runs stand to each other, and what was fitted to them before.
struct SetDesign {
  std::size_t baseline_runs = 0, candidate_runs = 0;
  bool paired = false;
  // The slope of the speed: how many coefficients were fitted within the sides (0 or 1), and by how much their error
  // adds to the squared error of a difference, in units of the variance of a run.
  std::size_t fitted = 0;
  double leverage = 0;

  // Degrees of freedom of the pooled variance. 0: variance is not known; one run is judged by three of the other side.
  [[nodiscard]] double dof() const;
  // Of the squared standard error of the difference of means, in units of the variance of a run.
  [[nodiscard]] double per_variance() const;
  [[nodiscard]] double kept() const;  // share of the degrees of freedom that the fit left
};

struct SetDifference {
  double change = 0;                                    // candidate less baseline
  double error = 0;                                     // standard error; 0: all values are equal
  double dof = 0;                                       // 0: not known
  [[nodiscard]] std::optional<SetRange> range() const;  // of 95 %
  [[nodiscard]] std::optional<double> p_value() const;
};

// Welch's t test; for sides of unequal size it or Student's, whichever has the wider interval, since Welch's is too
// sure where the smaller side happens to scatter little. One run against three or more: sd sqrt(1 + 1/K) of the other
// side. Paired: t test of the differences. `least_sd`: no run repeats better, unless all values are equal. `extra`:
// added to the squared error.
SetDifference difference_of(std::span<const double> baseline, std::span<const double> candidate,
                            const SetDesign& design, double least_sd, double extra = 0);

double mean_of(std::span<const double> values);

// Of a run within its side; paired: half that of the differences. Needs dof() > 0.
double run_variance(std::span<const double> baseline, std::span<const double> candidate, const SetDesign& design);

// Variances of many groups, each of `dof`, shrunk to what they have in common by empirical Bayes: Smyth, Linear models
// and empirical Bayes methods, SAGMB 3(1), 2004, section 6.2.
struct ModeratedVariances {
  std::vector<double> variances;
  double dof = 0;  // of each of them
};
ModeratedVariances moderated(std::span<const double> variances, double dof);

// Benjamini and Hochberg 1995: the least rate of false discoveries at which each is found.
std::vector<double> false_discovery_rates(std::span<const double> p_values);

// The least true change that is told from 0 at 5 % four times in five, by t quantiles: in units of the sd of a run.
double detectable_change(const SetDesign& design);
// Runs a side (pairs) until that, times `sd`, is at most `budget`; 10000 at most.
std::int64_t runs_needed(const SetDesign& design, double sd, double budget);

}  // namespace tracedb
