#include "compare/runs/set_statistics.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>
#include <functional>
#include <numeric>

namespace tracedb {
namespace {

double half_width(const SetDifference& one) { return one.error * student_quantile(0.975, one.dof); }

double sum_of_squares(std::span<const double> values) {
  const double mean = mean_of(values);
  return std::accumulate(values.begin(), values.end(), 0.0,
                         [&](double sum, double value) { return sum + (value - mean) * (value - mean); });
}

SetDifference welch(const SideValues& values, double change, double least) {
  std::array<double, 2> errors{}, terms{};  // squared
  for (std::size_t side = 0; side < 2; ++side) {
    const auto n = static_cast<double>(values[side].size());
    errors[side] = std::max(sum_of_squares(values[side]) / (n - 1), least) / n;
    terms[side] = errors[side] * errors[side] / (n - 1);
  }
  const double squared = errors[0] + errors[1];
  return {change, std::sqrt(squared), squared * squared / (terms[0] + terms[1])};
}

// x with trigamma(x) = value, within what variances of groups can have.
double inverse_trigamma(double value) {
  double low = 1e-3, high = 1e6;
  for (int i = 0; i < 60; ++i) {
    const double middle = std::sqrt(low * high);
    (boost::math::trigamma(middle) > value ? low : high) = middle;
  }
  return low;
}

}  // namespace

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double change_of(const SideValues& values) { return mean_of(values[1]) - mean_of(values[0]); }
double middle_of(const SideValues& values) { return (mean_of(values[0]) + mean_of(values[1])) / 2; }

double product_of(const SideValues& a, const SideValues& b) {
  const auto of = [&](std::size_t side) {
    return std::inner_product(a[side].begin(), a[side].end(), b[side].begin(), 0.0);
  };
  return of(0) + of(1);
}

SideValues centred(SideValues values) {
  for (auto& side : values) {
    const double mean = mean_of(side);
    for (double& value : side) value -= mean;
  }
  return values;
}

double student_p_value(double t, double dof) {
  return 2 * boost::math::cdf(boost::math::complement(boost::math::students_t(dof), std::abs(t)));
}

double SetDesign::dof() const {
  const auto [least, most] = std::minmax(baseline_runs, candidate_runs);
  if (least == 0 || most < 2 || (least == 1 && (most == 2 || paired))) return 0;
  return static_cast<double>(paired ? least - 1 : least + most - 2);
}

double run_variance(const SideValues& values, const SetDesign& design) {
  if (!design.paired) return (sum_of_squares(values[0]) + sum_of_squares(values[1])) / design.dof();
  std::vector<double> differences = values[1];
  std::ranges::transform(differences, values[0], differences.begin(), std::minus<>());
  return sum_of_squares(differences) / (2 * design.dof());
}

std::optional<Interval> SetDifference::range() const {
  if (dof == 0) return {};
  return Interval{change - half_width(*this), change + half_width(*this)};
}

std::optional<double> SetDifference::p_value() const {
  if (dof == 0) return {};
  if (error == 0) return change == 0 ? 1 : 0;
  return student_p_value(change / error, dof);
}

SetDifference difference_of(const SideValues& values, const SetDesign& design, double least_sd, double extra) {
  SetDifference out{change_of(values), 0, design.dof()};
  if (out.dof == 0) return out;
  const auto equal = [&](double value) { return value == values[0][0]; };
  if (std::ranges::all_of(values[0], equal) && std::ranges::all_of(values[1], equal)) return {0, 0, out.dof};
  const double least = least_sd * least_sd;
  out.error = std::sqrt(std::max(run_variance(values, design), least) * design.per_variance());
  if (out.error > 0 && !design.paired && std::min(design.baseline_runs, design.candidate_runs) > 1) {
    const SetDifference unequal = welch(values, out.change, least);
    if (design.baseline_runs == design.candidate_runs || half_width(unequal) > half_width(out)) out = unequal;
  }
  out.error = std::sqrt(out.error * out.error + extra);
  return out;
}

std::optional<Interval> interval_of_mean(std::span<const double> values) {
  if (values.size() < 2) return {};
  const auto n = static_cast<double>(values.size());
  return SetDifference{mean_of(values), std::sqrt(sum_of_squares(values) / (n - 1) / n), n - 1}.range();
}

double moderate(std::vector<double>& variances, double dof) {
  if (variances.size() < 2) return dof;
  const auto groups = static_cast<double>(variances.size());
  std::vector<double> logs(variances.size());
  std::ranges::transform(variances, logs.begin(), [](double variance) { return std::log(variance); });
  const double excess = sum_of_squares(logs) / (groups - 1) - boost::math::trigamma(dof / 2);
  // All groups together know no more than the sum of their degrees of freedom.
  const double most = (groups - 1) * dof;
  const double prior_dof = excess <= 0 ? most : std::min(2 * inverse_trigamma(excess), most);
  const auto bias = [](double of) { return boost::math::digamma(of / 2) - std::log(of / 2); };
  const double prior = std::exp(mean_of(logs) - bias(dof) + bias(prior_dof));
  for (double& variance : variances) {
    variance = std::max(variance, (prior_dof * prior + dof * variance) / (prior_dof + dof));
  }
  return dof + prior_dof;
}

std::vector<double> false_discovery_rates(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return p_values[i]; });
  std::vector<double> out(p_values.size());
  double least = 1;
  for (std::size_t rank = order.size(); rank > 0; --rank) {
    const double rate = p_values[order[rank - 1]] * static_cast<double>(order.size()) / static_cast<double>(rank);
    out[order[rank - 1]] = least = std::min(least, rate);
  }
  return out;
}

double SetDifference::detectable() const { return error * (student_quantile(0.975, dof) + student_quantile(0.8, dof)); }

double detectable_change(const SetDesign& design) {
  return SetDifference{0, std::sqrt(design.per_variance()), design.dof()}.detectable();
}

std::int64_t runs_needed(bool paired, double sd, double budget) {
  constexpr std::size_t kMost = 10000;
  // From what quantiles of a normal distribution say, which are less than those of t.
  const double ratio = (1.9599 + 0.8416) * sd / budget;
  auto runs = static_cast<std::size_t>(std::clamp(2 * ratio * ratio, 2.0, static_cast<double>(kMost)));
  while (runs < kMost && detectable_change({runs, runs, paired}) * sd > budget) ++runs;
  return static_cast<std::int64_t>(runs);
}

}  // namespace tracedb
