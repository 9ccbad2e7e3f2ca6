#include "compare/runs/run_levels.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace tracedb {
namespace {

using Sides = std::array<std::vector<RunLevel>, 2>;

// Sums over all runs, each side for itself, so that a swap changes no digit.
template <class Get>
double sum_over(const Sides& sides, Get get) {
  std::array<double, 2> sums{};
  for (std::size_t side = 0; side < 2; ++side) {
    for (const RunLevel& level : sides[side]) sums[side] += get(level);
  }
  return sums[0] + sums[1];
}

struct Slope {
  double slope = 0, squared_error = 0;
};

template <class Sums>  // time, its squares, and times load, of a run
Slope slope_of(const Sides& sides, Sums sums) {
  const auto steps = [](const RunLevel& at) { return static_cast<double>(at.run->steps); };
  const double squares = sum_over(sides, [](const RunLevel& at) { return at.run->load_squares; });
  const double nn = sum_over(
      sides, [&](const RunLevel& at) { return at.run->load_squares - at.run->load * at.run->load / steps(at); });
  const double dof = sum_over(sides, [&](const RunLevel& at) { return steps(at) - 1; }) - 1;
  if (nn <= 1e-9 * squares || dof < 1) return {};
  const double xn = sum_over(sides, [&](const RunLevel& at) {
    const PartSums x = sums(at);
    return x.time_load - x.time * at.run->load / steps(at);
  });
  const double xx = sum_over(sides, [&](const RunLevel& at) {
    const PartSums x = sums(at);
    return x.time_squares - x.time * x.time / steps(at);
  });
  return {xn / nn, std::max(xx - xn * xn / nn, 0.0) / dof / nn};
}

std::string bar_of(const RunSums& run) {
  return run.bar.empty() && run.steps < 3 ? std::string("under 3 regular steps") : run.bar;
}

void sort_sides(PhaseLevels& levels, bool paired) {
  const auto name = [](const RunLevel& at) -> const std::string& { return at.run->name; };
  if (!paired) {
    for (auto& side : levels.sides) std::ranges::sort(side, {}, name);
    return;
  }
  auto& [baseline, candidate] = levels.sides;
  std::vector<std::pair<RunLevel, RunLevel>> pairs;
  for (std::size_t i = 0; i < baseline.size(); ++i) pairs.emplace_back(baseline[i], candidate[i]);
  std::ranges::sort(pairs, {}, [&](const auto& pair) { return std::minmax(name(pair.first), name(pair.second)); });
  for (std::size_t i = 0; i < pairs.size(); ++i) std::tie(baseline[i], candidate[i]) = pairs[i];
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
        levels.sides[side].emplace_back().run = &run;
      } else {
        SetRun& without = levels.without.emplace_back();
        without.side = static_cast<int>(side);
        without.name = run.name;
        without.bar = std::move(bar);
        without.steps = run.steps;
        without.rare_steps = run.rare_steps;
        if (run.steps > 0) without.load = run.load / static_cast<double>(run.steps);
      }
    }
  }
  sort_sides(levels, phase.paired);
}

// Half of the weight is at or below it and half at or above it; between two values, their mean. Whole weights make it
// odd to the last digit.
double weighted_median(std::vector<std::pair<double, std::int64_t>> values) {
  std::ranges::sort(values);
  std::int64_t total = 0;
  for (const auto& [value, weight] : values) total += weight;
  const auto reach = [&](auto begin) {
    std::int64_t sum = begin->second;
    while (2 * sum < total) sum += (++begin)->second;
    return begin->first;
  };
  return (reach(values.begin()) + reach(values.rbegin())) / 2;
}

std::int64_t weight_of(double value) { return std::llround(std::clamp(value, 1.0, 1e12)); }

struct Group {
  std::size_t part = 0;
  double time = 0;  // ns, mean of the sides
  double loading = 1;
  std::array<std::vector<double>, 2> logs{};  // of the level of each run, less the mean of the sides
  std::array<double, 2> means{};              // of those
};

std::vector<Group> groups_of(const PhaseLevels& levels) {
  std::vector<Group> groups;
  for (std::size_t part = 0; part < levels.parts.size(); ++part) {
    if (!levels.parts[part]->kernels || levels.parts[part]->communication) continue;
    Group group{.part = part};
    bool everywhere = true;
    for (std::size_t side = 0; side < 2; ++side) {
      const auto level = [&](const RunLevel& at) { return at.parts[part]; };
      const auto times = values_of(levels.sides[side], level);
      everywhere = everywhere && std::ranges::all_of(times, [](double time) { return time > 0; });
      group.time += mean_of(times) / 2;
      group.logs[side] = values_of(levels.sides[side], [&](const RunLevel& at) { return std::log(at.parts[part]); });
      group.means[side] = mean_of(group.logs[side]);
    }
    if (!everywhere) continue;
    const double middle = (group.means[0] + group.means[1]) / 2;
    for (std::size_t side = 0; side < 2; ++side) {
      for (double& value : group.logs[side]) value -= middle;
      group.means[side] -= middle;
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

// The speed of each run of a side, by the groups that have a weight.
template <class Weight>
std::vector<double> speeds_of(const std::vector<Group>& groups, std::size_t side, Weight weight) {
  std::vector<double> out;
  for (std::size_t run = 0; run < groups.front().logs[side].size(); ++run) {
    std::vector<std::pair<double, std::int64_t>> values;
    for (const Group& group : groups) {
      if (const double w = weight(group); w > 0) {
        values.emplace_back(group.logs[side][run] / group.loading, weight_of(w));
      }
    }
    out.push_back(weighted_median(std::move(values)));
  }
  return out;
}

constexpr double kRidge = 2 * 0.003 * 0.003;  // holds loadings at 1 where speeds of 0.3 % are all there is

// Loadings and speeds depend on each other: five rounds. Returns the speeds.
std::array<std::vector<double>, 2> fit_speeds(std::vector<Group>& groups, double& squares) {
  std::array<std::vector<double>, 2> speeds;
  for (int round = 0;; ++round) {
    std::array<double, 2> sums{};
    std::array<double, 2> means{};
    for (std::size_t side = 0; side < 2; ++side) {
      speeds[side] = speeds_of(groups, side, [](const Group& group) { return group.loading * group.time; });
      means[side] = mean_of(speeds[side]);
      for (const double speed : speeds[side]) sums[side] += (speed - means[side]) * (speed - means[side]);
    }
    squares = sums[0] + sums[1];
    if (round == 5) return speeds;
    for (Group& group : groups) {
      std::array<double, 2> products{};
      for (std::size_t side = 0; side < 2; ++side) {
        for (std::size_t run = 0; run < speeds[side].size(); ++run) {
          products[side] += (speeds[side][run] - means[side]) * (group.logs[side][run] - group.means[side]);
        }
      }
      group.loading = std::clamp((products[0] + products[1] + kRidge) / (squares + kRidge), 0.15, 1.5);
    }
  }
}

std::string largest_class(const PhaseLevels& levels, const std::vector<Group>& groups) {
  std::map<std::string, double> times;
  for (const Group& group : groups) times[levels.parts[group.part]->op_class] += group.time;
  return std::ranges::max_element(times, {}, [](const auto& at) { return at.second; })->first;
}

}  // namespace

PhaseLevels levels_of(const PhaseRuns& phase) {
  PhaseLevels levels;
  std::vector<std::size_t> order(phase.parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t part) -> const std::string& { return phase.parts[part].name; });
  for (const std::size_t part : order) levels.parts.push_back(&phase.parts[part]);
  add_runs(phase, levels);
  auto& sides = levels.sides;
  for (auto& side : sides) {
    for (RunLevel& at : side) at.load_mean = at.run->load / static_cast<double>(at.run->steps);
  }
  if (sides[0].empty() || sides[1].empty()) return levels;
  const auto load_mean = [](const RunLevel& at) { return at.load_mean; };
  levels.load_change = mean_of(values_of(sides[1], load_mean)) - mean_of(values_of(sides[0], load_mean));
  const double all_load = sum_over(sides, load_mean) / static_cast<double>(sides[0].size() + sides[1].size());
  const double change_squared = levels.load_change * levels.load_change;
  levels.period_slope_error = change_squared * slope_of(sides, [](const RunLevel& at) {
                                                 double product = 0;
                                                 for (const PartSums& part : at.run->parts) product += part.time_load;
                                                 return PartSums{at.run->period, at.run->period_squares, product};
                                               }).squared_error;
  for (const std::size_t part : order) {
    const Slope slope = slope_of(sides, [&](const RunLevel& at) { return at.run->parts[part]; });
    levels.slope_errors.push_back(change_squared * slope.squared_error);
    for (auto& side : sides) {
      for (RunLevel& at : side) {
        const double by_load = slope.slope * (at.load_mean - all_load);
        at.parts.push_back(at.run->parts[part].time / static_cast<double>(at.run->steps) - by_load);
        at.load += by_load;
        at.period += at.parts.back();
      }
    }
  }
  for (auto& side : sides) {
    for (RunLevel& at : side) at.rare = at.run->mean_period - at.period - at.load;
  }
  return levels;
}

SpeedFit take_out_speed(PhaseLevels& levels, const SetDesign& design) {
  SpeedFit fit;
  fit.follows.resize(levels.parts.size());
  fit.extra.resize(levels.parts.size());
  if (std::min(design.baseline_runs, design.candidate_runs) < 3) {
    fit.none = "fewer than 3 runs a side";
    return fit;
  }
  std::vector<Group> groups = groups_of(levels);
  if (groups.size() < 5) {
    fit.none = "fewer than 5 groups of kernels that all runs have";
    return fit;
  }
  const std::string largest = largest_class(levels, groups);
  const auto is_other = [&](const Group& group) { return levels.parts[group.part]->op_class != largest; };
  if (std::ranges::count_if(groups, is_other) < 3) {
    fit.none = "fewer than 3 groups of kernels of other classes than " + largest;
    return fit;
  }
  double squares = 0;
  const auto speeds = fit_speeds(groups, squares);
  std::array<std::vector<double>, 2> contrasts;
  for (std::size_t side = 0; side < 2; ++side) {
    contrasts[side] =
        speeds_of(groups, side, [&](const Group& group) { return is_other(group) ? 1e6 * group.loading : 0; });
    for (std::size_t run = 0; run < speeds[side].size(); ++run) {
      contrasts[side][run] -= speeds[side][run];
      RunLevel& at = levels.sides[side][run];
      at.log_speed = speeds[side][run];
      for (const Group& group : groups) {
        const double by_speed = at.parts[group.part] * -std::expm1(-group.loading * at.log_speed);
        at.parts[group.part] -= by_speed;
        at.speed += by_speed;
      }
    }
  }
  const double change = mean_of(speeds[1]) - mean_of(speeds[0]);
  fit.leverage = change * change / (squares + kRidge);
  // What the ridge hides: loadings differ from 1 by about 0.35.
  const double hidden = change * 0.35 * kRidge / (squares + kRidge);
  for (const Group& group : groups) {
    fit.follows[group.part] = true;
    fit.extra[group.part] = hidden * hidden * group.time * group.time;
  }
  SetDesign moved = design;
  moved.leverage = fit.leverage;
  const double error = std::sqrt(std::max(run_variance(contrasts[0], contrasts[1], design), 2.5e-7) * moved.per_variance());
  const double p = student_p_value((mean_of(contrasts[1]) - mean_of(contrasts[0])) / error, design.dof());
  if (p < 0.005) {
    fit.suspect = largest;
    fit.suspect_p = p;
  }
  return fit;
}

}  // namespace tracedb
