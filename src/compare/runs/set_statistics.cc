#include "compare/runs/set_statistics.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

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

// ---- levels of runs

// One value of each run, of what get(run) says.
template <class Get>
SideValues values_of(const PhaseLevels& levels, Get get) {
  SideValues out;
  for (std::size_t side = 0; side < 2; ++side) {
    for (const RunSums* run : levels.runs[side]) out[side].push_back(get(*run));
  }
  return out;
}

SideValues sum_of(SideValues to, const SideValues& values, double factor = 1) {
  for (std::size_t side = 0; side < 2; ++side) {
    for (std::size_t run = 0; run < to[side].size(); ++run) to[side][run] += factor * values[side][run];
  }
  return to;
}

struct Slope {
  double slope = 0, squared_error = 0;
  bool known = false;
};

template <class Sums>  // time, its squares, and time by load, of a run
Slope slope_of(const PhaseLevels& levels, Sums sums) {
  const auto total = [&](auto get) {
    const SideValues values =
        values_of(levels, [&](const RunSums& run) { return get(run, sums(run), static_cast<double>(run.steps)); });
    return std::accumulate(values[0].begin(), values[0].end(), 0.0) +
           std::accumulate(values[1].begin(), values[1].end(), 0.0);
  };
  using Run = const RunSums&;
  const double squares = total([](Run run, PartSums, double) { return run.load_squares; });
  const double dof = total([](Run, PartSums, double steps) { return steps - 1; }) - 1;
  const double nn =
      total([](Run run, PartSums, double steps) { return run.load_squares - run.load * run.load / steps; });
  if (nn <= 1e-9 * squares) return {};  // loads do not vary
  const double xn = total([](Run run, PartSums x, double steps) { return x.time_load - x.time * run.load / steps; });
  const double xx = total([](Run, PartSums x, double steps) { return x.time_squares - x.time * x.time / steps; });
  return {xn / nn, std::max(xx - xn * xn / nn, 0.0) / dof / nn, true};
}

std::string bar_of(const RunSums& run) {
  return run.bar.empty() && run.steps < kLeastOfLevel ? std::string("under 3 regular steps") : run.bar;
}

void add_runs(const PhaseRuns& phase, PhaseLevels& levels) {
  for (std::size_t side = 0; side < 2; ++side) {
    const auto& partners = phase.sides[1 - side];
    for (std::size_t i = 0; i < phase.sides[side].size(); ++i) {
      const RunSums& run = phase.sides[side][i];
      std::string bar = bar_of(run);
      if (bar.empty() && phase.paired && (i >= partners.size() || !bar_of(partners[i]).empty())) {
        bar = "its partner has no level";
      }
      if (bar.empty()) {
        levels.runs[side].push_back(&run);
        continue;
      }
      SetRun& without = levels.without.emplace_back();
      without.side = static_cast<int>(side);
      without.name = run.name;
      without.bar = std::move(bar);
      without.steps = run.steps;
      without.rare_steps = run.rare_steps;
      without.load = run.load / static_cast<double>(std::max<std::int64_t>(run.steps, 1));
    }
  }
  auto& [baseline, candidate] = levels.runs;
  if (!phase.paired) {
    for (auto& side : levels.runs) std::ranges::sort(side, {}, &RunSums::name);
    return;
  }
  std::vector<std::pair<const RunSums*, const RunSums*>> pairs;
  for (std::size_t i = 0; i < baseline.size(); ++i) pairs.emplace_back(baseline[i], candidate[i]);
  std::ranges::sort(pairs, {}, [](const auto& pair) { return std::minmax(pair.first->name, pair.second->name); });
  for (std::size_t i = 0; i < pairs.size(); ++i) std::tie(baseline[i], candidate[i]) = pairs[i];
}

// Half of the weight is at or below it and half at or above it; between two values, their mean. Whole weights make it
// odd to the last digit.
double weighted_median(std::vector<std::pair<double, std::int64_t>> values) {
  std::ranges::sort(values);
  std::int64_t total = 0;
  for (const auto& [value, weight] : values) total += weight;
  const auto reach = [&](auto at) {
    std::int64_t sum = at->second;
    while (2 * sum < total) sum += (++at)->second;
    return at->first;
  };
  return (reach(values.begin()) + reach(values.rbegin())) / 2;
}

struct Group {
  PartLevels* part = nullptr;
  double time = 0;  // ns, in the middle of the sides
  double loading = 1;
  SideValues logs{};  // of the level of each run, less the middle of the sides
};

std::vector<Group> groups_of(PhaseLevels& levels) {
  std::vector<Group> groups;
  for (PartLevels& one : levels.parts) {
    const auto has = [](double time) { return time > 0; };
    if (!one.part->kernels || !std::ranges::all_of(one.values[0], has) || !std::ranges::all_of(one.values[1], has)) {
      continue;
    }
    Group& group = groups.emplace_back(Group{&one, middle_of(one.values), 1, one.values});
    for (auto& side : group.logs)
      std::ranges::transform(side, side.begin(), [](double time) { return std::log(time); });
    const double middle = middle_of(group.logs);
    for (auto& side : group.logs) std::ranges::transform(side, side.begin(), [&](double log) { return log - middle; });
  }
  return groups;
}

// The speed of each run by the groups with a weight.
template <class Weight>
SideValues speeds_of(const std::vector<Group>& groups, Weight weight) {
  SideValues out;
  for (std::size_t side = 0; side < 2; ++side) {
    for (std::size_t run = 0; run < groups.front().logs[side].size(); ++run) {
      std::vector<std::pair<double, std::int64_t>> values;
      for (const Group& group : groups) {
        if (const double w = weight(group) * group.loading; w > 0) {
          values.emplace_back(group.logs[side][run] / group.loading, std::llround(std::clamp(w, 1.0, 1e12)));
        }
      }
      out[side].push_back(weighted_median(std::move(values)));
    }
  }
  return out;
}

constexpr double kRidge = 2 * 0.003 * 0.003;  // holds loadings at 1 where speeds of 0.3 % are all there is
constexpr double kLoadingSd = 0.35;           // of loadings about 1, where runs do not tell
constexpr double kSuspectP = 0.005, kLeastSuspect = 0.005;

// Loadings and speeds depend on each other: five rounds. Returns the squares of the speeds about the means of the
// sides.
double fit_speeds(std::vector<Group>& groups, SideValues& speeds) {
  for (int round = 0;; ++round) {
    speeds = speeds_of(groups, [](const Group& group) { return group.time; });
    const SideValues within = centred(speeds);
    const double squares = product_of(within, within);
    if (round == 5) return squares;
    for (Group& group : groups) {
      group.loading = std::clamp((product_of(within, group.logs) + kRidge) / (squares + kRidge), 0.15, 1.5);
    }
  }
}

// Whether a group stayed as it was where the speed changed: its change is next to nothing of the speed's, and the rest
// is certain.
bool stayed(const Group& group, const SideValues& log_speed, const SetDesign& design) {
  const SideValues rest = sum_of(group.logs, log_speed, -group.loading);
  const double error = std::sqrt(run_variance(rest, design) * design.per_variance());
  return std::abs(change_of(rest)) > 2 * std::abs(change_of(group.logs)) && error > 0 &&
         student_p_value(change_of(rest) / error, design.dof()) < kSuspectP;
}

// Whether a third of the votes stayed, each with an error below kSuspectP.
template <class Weight>
bool third_stayed(const std::vector<Group>& groups, const SideValues& log_speed, const SetDesign& design,
                  Weight votes_of) {
  if (std::abs(change_of(log_speed)) <= kLeastSuspect) return false;
  double votes = 0, against = 0;
  for (const Group& group : groups) {
    votes += votes_of(group);
    if (stayed(group, log_speed, design)) against += votes_of(group);
  }
  return 3 * against >= votes;
}

// By how much `others` change from run to run of a side with `speeds`.
struct Following {
  double slope = 0, squares = 0, variance = 0, dof = 0;  // `squares`: of the speeds; `variance`: of what is left
};

Following following_of(const SideValues& speeds, const SideValues& others) {
  const SideValues by = centred(speeds), of = centred(others);
  Following out;
  out.squares = product_of(by, by);
  out.slope = out.squares > 0 ? product_of(of, by) / out.squares : 0;
  const SideValues rest = sum_of(of, by, -out.slope);
  out.dof = static_cast<double>(by[0].size() + by[1].size()) - 3;
  out.variance = std::max(product_of(rest, rest) / out.dof, kLeastSd * kLeastSd);
  return out;
}

// Whether other classes surely follow less than a third of what runs of a side differ by: all of them together, where
// that is 1 % and more, or one against the rest.
bool runs_stayed(const SideValues& speeds, const SideValues& others) {
  const auto is_sure = [](double lack, double error, double dof, double p) {
    return lack > 0 && student_p_value(lack / error, dof) / 2 < p;
  };
  const Following all = following_of(speeds, others);
  const double runs = all.dof + 3;
  const bool differ = all.squares > (runs - 2) * 0.01 * 0.01;
  if (differ && is_sure(1.0 / 3 - all.slope, std::sqrt(all.variance / all.squares), all.dof, 0.05)) return true;
  for (std::size_t side = 0; side < 2; ++side) {
    for (std::size_t run = 0; run < speeds[side].size(); ++run) {
      std::array<SideValues, 2> rest = {speeds, others};
      for (SideValues& of : rest) of[side].erase(of[side].begin() + static_cast<std::ptrdiff_t>(run));
      const double speed = speeds[side][run] - mean_of(rest[0][side]),
                   other = others[side][run] - mean_of(rest[1][side]);
      const Following usual = following_of(rest[0], rest[1]);
      const double error = std::sqrt(usual.variance * (1 + 1 / static_cast<double>(rest[0][side].size())));
      const double lack = speed > 0 ? speed / 3 - other : other - speed / 3;
      if (std::abs(speed) > kLeastSuspect && is_sure(lack, error, usual.dof, kSuspectP / runs)) return true;
    }
  }
  return false;
}

std::string largest_class(const std::vector<Group>& groups) {
  std::map<std::string, double> times;
  for (const Group& group : groups) times[group.part->part->op_class] += group.time;
  return std::ranges::max_element(times, {}, [](const auto& at) { return at.second; })->first;
}

// A vote for each class but the largest, so that a change of one is outvoted, however many groups it has.
std::function<double(const Group&)> votes_of_others(const std::vector<Group>& groups, const std::string& largest) {
  std::map<std::string, double> of_class;
  for (const Group& group : groups) ++of_class[group.part->part->op_class];
  return [of_class, largest](const Group& group) {
    const std::string& op_class = group.part->part->op_class;
    return op_class != largest ? 1e6 / of_class.at(op_class) : 0;
  };
}

// "": there is one.
std::string why_no_speed(const std::vector<Group>& groups, const SetDesign& design, const std::string& largest) {
  if (std::min(design.baseline_runs, design.candidate_runs) < 3) return "fewer than 3 runs a side";
  if (groups.size() < 5) return "fewer than 5 groups of kernels that all runs have";
  return std::ranges::count_if(groups, votes_of_others(groups, largest)) < 3
             ? "fewer than 3 groups of kernels of other classes than " + largest
             : "";
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

PhaseLevels levels_of(const PhaseRuns& phase) {
  PhaseLevels levels;
  add_runs(phase, levels);
  levels.mean_period = values_of(levels, [](const RunSums& run) { return run.mean_period; });
  levels.mean_load = values_of(levels, [](const RunSums& run) { return run.load / static_cast<double>(run.steps); });
  levels.period = levels.load = levels.speed = levels.log_speed = values_of(levels, [](const RunSums&) { return 0.0; });
  const bool both = !levels.runs[0].empty() && !levels.runs[1].empty();
  if (levels.runs[0].empty() && levels.runs[1].empty()) return levels;

  const auto n = [&](std::size_t side) { return static_cast<double>(levels.runs[side].size()); };
  const auto sum = [&](std::size_t side) { return n(side) > 0 ? n(side) * mean_of(levels.mean_load[side]) : 0; };
  const double all = (sum(0) + sum(1)) / (n(0) + n(1));
  SideValues beyond = levels.mean_load;  // the mean of all runs
  for (auto& side : beyond) std::ranges::transform(side, side.begin(), [&](double load) { return load - all; });
  const double change_squared = both ? change_of(beyond) * change_of(beyond) : 0;
  std::vector<std::size_t> order(phase.parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t part) -> const std::string& { return phase.parts[part].name; });
  const Slope of_period = slope_of(levels, [&](const RunSums& run) {
    PartSums sums{run.period, run.period_squares, 0};
    for (const std::size_t part : order) sums.time_load += run.parts[part].time_load;
    return sums;
  });
  levels.period_slope_error = change_squared * of_period.squared_error;
  levels.load_varies = of_period.known;
  for (const std::size_t part : order) {
    const Slope slope = slope_of(levels, [&](const RunSums& run) { return run.parts[part]; });
    const SideValues means =
        values_of(levels, [&](const RunSums& run) { return run.parts[part].time / static_cast<double>(run.steps); });
    PartLevels& one = levels.parts.emplace_back();
    one.part = &phase.parts[part];
    one.values = sum_of(means, beyond, -slope.slope);
    one.slope_error = change_squared * slope.squared_error;
    levels.period = sum_of(levels.period, one.values);
    levels.load = sum_of(levels.load, beyond, slope.slope);
  }
  levels.rare = sum_of(sum_of(levels.mean_period, levels.period, -1), levels.load, -1);
  return levels;
}

SpeedFit take_out_speed(PhaseLevels& levels, const SetDesign& design) {
  SpeedFit fit;
  std::vector<Group> groups = groups_of(levels);
  const std::string largest = groups.empty() ? "" : largest_class(groups);
  const auto other = votes_of_others(groups, largest);
  fit.none = why_no_speed(groups, design, largest);
  if (!fit.none.empty()) return fit;

  // By loadings of 1, since those that are fitted are as rough as runs are alike.
  const bool is_of_some =
      runs_stayed(speeds_of(groups, [](const Group& group) { return group.time; }), speeds_of(groups, other));
  const double squares = fit_speeds(groups, levels.log_speed) + kRidge;
  const double change = change_of(levels.log_speed);
  const SideValues others = speeds_of(groups, other);
  const SideValues contrast = sum_of(others, levels.log_speed, -1);
  fit.leverage = change * change / squares;
  fit.kept = 1 - 1 / static_cast<double>(design.baseline_runs + design.candidate_runs - 2);
  // Of the squares, what is the ridge or noise tells nothing of loadings.
  const double unknown = std::min(1.0, (kRidge + product_of(centred(contrast), contrast)) / squares);
  const double speed = std::min(std::abs(change), std::abs(change_of(others)));
  const double error = std::sqrt(run_variance(contrast, design) * (design.per_variance() + speed * speed / squares));
  const double p = error > 0 ? student_p_value(change_of(contrast) / error, design.dof()) : 1;
  const bool is_local = third_stayed(groups, levels.log_speed, design, other) ||
                        (p < kSuspectP && std::abs(change_of(contrast)) > kLeastSuspect);
  if (is_local || is_of_some) {
    fit.suspect = largest;
    if (is_local) fit.suspect_p = std::min(p, kSuspectP);
    levels.suspect = levels.speed;  // zeros
    levels.log_speed = levels.speed;
    for (const PartLevels& one : levels.parts) {
      if (one.part->op_class == largest) levels.suspect = sum_of(levels.suspect, one.values);
    }
    return fit;
  }
  const double hidden = change * kLoadingSd * unknown;
  SideValues kernels = levels.speed;  // zeros
  double others_time = 0;
  for (const Group& group : groups) {
    group.part->follows_speed = true;
    group.part->loading_error = hidden * hidden * group.time * group.time;
    if (other(group) > 0) others_time += group.time;
    SideValues by_speed = group.part->values;
    for (std::size_t side = 0; side < 2; ++side) {
      for (std::size_t run = 0; run < by_speed[side].size(); ++run) {
        by_speed[side][run] *= -std::expm1(-group.loading * levels.log_speed[side][run]);
      }
    }
    levels.speed = sum_of(levels.speed, by_speed);
    group.part->values = sum_of(group.part->values, by_speed, -1);
    kernels = sum_of(kernels, group.part->values);
  }
  // What classes follow less is alike within them, so errors of loadings may add up over all but the largest.
  fit.period_error =
      fit.leverage * run_variance(kernels, design) / fit.kept + hidden * hidden * others_time * others_time;
  return fit;
}

}  // namespace tracedb
