// Tests and intervals for the difference of two small sets of runs. Pure. Odd under a swap of the sides to the last
// digit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
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

// The level of each run: what each part of the period takes at equal load, and at equal speed. Pure.
//
// Each run's mean period over all its steps is the sum of its parts, the speed, the load and the rare steps.

struct PartLevels {
  const RunPart* part = nullptr;  // borrowed
  SideValues values;              // ns a step
  double slope_error = 0;         // squared error of their change, by the slope of load
  bool follows_speed = false;
  double loading_error = 0;  // of those: squared error by how much it follows, where the runs do not show it
};

struct PhaseLevels {
  std::array<std::vector<const RunSums*>, 2> runs;  // with a level, by name; paired: pairs at equal places
  std::vector<SetRun> without;                      // runs without level
  std::vector<PartLevels> parts;                    // by name
  SideValues mean_period, mean_load, period;        // of all steps; of regular steps; at equal load
  SideValues load, rare, speed;                     // ns by which these make the mean period longer
  SideValues log_speed;  // by how much a run's kernels take longer than in the middle of both sides
  SideValues suspect;    // ns, of the class that may have changed instead of the speed; empty: there is none
  double period_slope_error = 0;
  bool load_varies = false;  // within runs, so that its slope is known
};

// At equal load: one slope for all runs, from the steps within runs.
PhaseLevels levels_of(const PhaseRuns& phase);

struct SpeedFit {
  std::string none;         // why there is none; ""
  double leverage = 1;      // adds to SetDesign::per_variance() of parts that follow the speed, by their slopes' error
  double kept = 1;          // share of the degrees of freedom that the slopes left
  double period_error = 0;  // squared error of the change of the period at equal speed, by the slopes
  std::string suspect;      // class of kernels that may have changed instead of the speed; "": none
  std::optional<double> suspect_p;  // of a change between the sides; none: it differs from run to run
};

// Takes the speed of each run out of its parts. It is the median of the logarithms of the kernels' times over their
// loadings (how much of the speed a group follows: 1, less if it waits for memory), weighted by time and loading: a
// change of a few groups does not move it. A change of more than half of the time does; then the other
// classes than the largest, with a vote each, say another speed, or a third of them did not change, and none is taken
// out; nor where the other classes follow less than a third of what runs of a side differ by.
SpeedFit take_out_speed(PhaseLevels& levels, const SetDesign& design);

}  // namespace tracedb
