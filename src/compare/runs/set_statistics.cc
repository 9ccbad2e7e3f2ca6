#include "compare/runs/set_statistics.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>
#include <numeric>

namespace tracedb {
namespace {

double sum_of_squares(std::span<const double> values) {
  const double mean = mean_of(values);
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum;
}

std::vector<double> differences(std::span<const double> a, std::span<const double> b) {
  std::vector<double> out(a.size());
  std::ranges::transform(b, a, out.begin(), std::minus<>());
  return out;
}

double half_width(const SetDifference& one) { return one.error * student_quantile(0.975, one.dof); }

// Of a side's mean: squared error and degrees of freedom.
double squared_error(std::span<const double> values, double least) {
  const auto n = static_cast<double>(values.size());
  return std::max(sum_of_squares(values) / (n - 1), least) / n;
}

SetDifference welch(std::span<const double> a, std::span<const double> b, const SetDesign& design, double least) {
  const double va = squared_error(a, least), vb = squared_error(b, least);
  const double pooled = std::max(run_variance(a, b, design), least);
  const double dof = (va + vb) * (va + vb) /
                     (va * va / static_cast<double>(a.size() - 1) + vb * vb / static_cast<double>(b.size() - 1));
  return {0, std::sqrt((va + vb) / design.kept() + pooled * design.leverage), dof * design.kept()};
}

// x with trigamma(x) = value, for values that variances of groups can have.
double inverse_trigamma(double value) {
  double low = 1e-3, high = 1e6;
  for (int i = 0; i < 100; ++i) {
    const double middle = std::sqrt(low * high);
    (boost::math::trigamma(middle) > value ? low : high) = middle;
  }
  return low;
}

}  // namespace

double student_quantile(double probability, double dof) {
  return boost::math::quantile(boost::math::students_t(dof), probability);
}

double student_p_value(double t, double dof) {
  return 2 * boost::math::cdf(boost::math::complement(boost::math::students_t(dof), std::abs(t)));
}

double SetDesign::kept() const {
  const auto all = static_cast<double>(baseline_runs + candidate_runs) - 2;
  return fitted == 0 ? 1 : (all - static_cast<double>(fitted)) / all;
}

double SetDesign::dof() const {
  const auto [least, most] = std::minmax(baseline_runs, candidate_runs);
  if (least == 0 || most < 2 || (least == 1 && (most == 2 || paired))) return 0;
  return (paired ? static_cast<double>(least - 1) : static_cast<double>(least + most - 2)) * kept();
}

double SetDesign::per_variance() const {
  return 1 / static_cast<double>(baseline_runs) + 1 / static_cast<double>(candidate_runs) + leverage;
}

std::optional<SetRange> SetDifference::range() const {
  if (dof == 0) return {};
  const double half = half_width(*this);
  return SetRange{change - half, change + half};
}

std::optional<double> SetDifference::p_value() const {
  if (dof == 0) return {};
  return error == 0 ? 1 : student_p_value(change / error, dof);
}

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double run_variance(std::span<const double> baseline, std::span<const double> candidate, const SetDesign& design) {
  if (design.paired) return sum_of_squares(differences(baseline, candidate)) / (2 * design.dof());
  return (sum_of_squares(baseline) + sum_of_squares(candidate)) / design.dof();
}

SetDifference difference_of(std::span<const double> baseline, std::span<const double> candidate,
                            const SetDesign& design, double least_sd, double extra) {
  SetDifference out{mean_of(candidate) - mean_of(baseline), 0, design.dof()};
  if (out.dof == 0) return out;
  const auto [low, high] = std::ranges::minmax(baseline);
  if (std::ranges::all_of(candidate, [&](double x) { return x == low && x == high; })) return {0, 0, out.dof};
  const double least = least_sd * least_sd;
  out.error = std::sqrt(std::max(run_variance(baseline, candidate, design), least) * design.per_variance());
  if (!design.paired && baseline.size() > 1 && candidate.size() > 1) {
    const SetDifference unequal = welch(baseline, candidate, design, least);
    if (baseline.size() == candidate.size() || half_width(unequal) > half_width(out)) {
      out.error = unequal.error;
      out.dof = unequal.dof;
    }
  }
  out.error = std::hypot(out.error, std::sqrt(extra));
  return out;
}

ModeratedVariances moderated(std::span<const double> variances, double dof) {
  const auto groups = static_cast<double>(variances.size());
  std::vector<double> logs(variances.size());
  std::ranges::transform(variances, logs.begin(), [](double variance) { return std::log(variance); });
  const double mean = mean_of(logs);
  const double spread = groups < 2 ? 0 : sum_of_squares(logs) / (groups - 1);
  const double excess = spread - boost::math::trigamma(dof / 2);
  // All groups together know no more than the sum of their degrees of freedom.
  const double most = (groups - 1) * dof;
  const double prior_dof = excess <= 0 ? most : std::min(2 * inverse_trigamma(excess), most);
  ModeratedVariances out{{variances.begin(), variances.end()}, dof + prior_dof};
  if (prior_dof <= 0) return out;
  const auto bias = [](double of) { return boost::math::digamma(of / 2) - std::log(of / 2); };
  const double prior = std::exp(mean - bias(dof) + bias(prior_dof));
  for (double& variance : out.variances) variance = std::max(variance, (prior_dof * prior + dof * variance) / (prior_dof + dof));
  return out;
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

double detectable_change(const SetDesign& design) {
  const double dof = design.dof();
  return (student_quantile(0.975, dof) + student_quantile(0.8, dof)) *
         std::sqrt(design.per_variance() - design.leverage);
}

std::int64_t runs_needed(const SetDesign& design, double sd, double budget) {
  constexpr std::int64_t kMost = 10000;
  // With the quantiles of a normal distribution, which are less than those of t.
  const double quantiles = (1.9599 + 0.8416) * sd / budget;
  const double start = std::clamp(std::floor(2 * quantiles * quantiles), 2.0 + static_cast<double>(design.fitted),
                                  static_cast<double>(kMost));
  SetDesign larger = design;
  for (auto runs = static_cast<std::int64_t>(start); runs < kMost; ++runs) {
    larger.baseline_runs = larger.candidate_runs = static_cast<std::size_t>(runs);
    if (detectable_change(larger) * sd <= budget) return runs;
  }
  return kMost;
}

}  // namespace tracedb
