#include "compare/runs/set_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "base/statistics.h"
#include "compare/runs/run_levels.h"
#include "compare/runs/set_statistics.h"

namespace tracedb {
namespace {

constexpr double kLeastSd = 0.0005;     // of a level: no group of kernels repeats better
constexpr double kLeastReason = 0.002;  // of the period
constexpr double kRate = 0.05;          // of false discoveries

using SideValues = std::array<std::vector<double>, 2>;

SideValues values_of_both(const PhaseLevels& levels, double RunLevel::*field) {
  const auto get = [&](const RunLevel& at) { return at.*field; };
  return {values_of(levels.sides[0], get), values_of(levels.sides[1], get)};
}

double middle_of(const SideValues& values) { return (mean_of(values[0]) + mean_of(values[1])) / 2; }

std::string bar_to_judging(const PhaseRuns& phase, const PhaseLevels& levels, const SetDesign& design) {
  if (!phase.incomparable.empty()) return phase.incomparable;
  const auto [least, most] = std::minmax(design.baseline_runs, design.candidate_runs);
  if (least == 0) {
    return fmt::format("no run of the {} has a level", design.baseline_runs == 0 ? "baseline" : "candidate");
  }
  const auto load = [](const RunLevel& at) { return at.load_mean; };
  const auto loads = std::minmax({mean_of(values_of(levels.sides[0], load)), mean_of(values_of(levels.sides[1], load))});
  if (loads.second > 1.1 * loads.first) return "the load differs by more than 10 %";
  if (design.dof() > 0) return {};
  if (design.paired) return "one pair of runs: run-to-run variance is unknown";
  return fmt::format("one run {}: run-to-run variance is unknown", most == 1 ? "a side" : "against two");
}

SetRange scaled(const SetRange& range, double by) { return {range.low * by, range.high * by}; }

SetMetric metric_of(const SideValues& values, const SetDesign& design, double extra, const std::string& bar,
                    double budget) {
  SetMetric out;
  out.baseline_runs = static_cast<std::int64_t>(values[0].size());
  out.candidate_runs = static_cast<std::int64_t>(values[1].size());
  out.reason = bar;
  if (values[0].empty() || values[1].empty()) return out;
  out.baseline = mean_of(values[0]);
  out.candidate = mean_of(values[1]);
  out.change = out.candidate - out.baseline;
  if (out.baseline <= 0) return out;
  const double to_pct = 100 / out.baseline;
  out.change_pct = out.change * to_pct;
  if (!bar.empty()) return out;
  const auto difference = difference_of(values[0], values[1], design, kLeastSd * middle_of(values), extra);
  out.range = difference.range();
  out.range_pct = scaled(*out.range, to_pct);
  out.run_sd_pct = std::sqrt(run_variance(values[0], values[1], design) * (design.paired ? 2 : 1)) * to_pct;
  const double sd = std::max(*out.run_sd_pct / (design.paired ? std::sqrt(2) : 1), 100 * kLeastSd);
  out.detectable_pct = detectable_change(design) * sd;
  out.runs_needed = runs_needed(design, sd, budget);
  const double within = budget / 100 * std::min(out.baseline, out.candidate);
  if (out.range->low > 0) {
    out.verdict = SetVerdict::kWorse;
  } else if (out.range->high < 0) {
    out.verdict = SetVerdict::kBetter;
  } else if (out.range->low >= -within && out.range->high <= within) {
    out.verdict = SetVerdict::kSame;
  } else {
    out.reason = fmt::format("the interval holds 0 and changes beyond {} %", budget);
  }
  return out;
}

// A row before it is judged.
struct RowValues {
  SetRow row;
  SideValues values;
  std::size_t place = 0;  // in SetRun::rows until rows are sorted
  double rounded_off = 0;
};

void count_agreeing(RowValues& one, bool paired) {
  const bool longer = mean_of(one.values[1]) > mean_of(one.values[0]);
  for (std::size_t a = 0; a < one.values[0].size(); ++a) {
    for (std::size_t b = 0; b < one.values[1].size(); ++b) {
      if (paired && a != b) continue;
      ++one.row.pairs;
      const double x = one.values[0][a], y = one.values[1][b];
      if (longer ? y > x : y < x) ++one.row.agreeing;
    }
  }
}

std::vector<RowValues> rows_of(const PhaseLevels& levels, const SpeedFit& fit, bool paired) {
  std::vector<RowValues> rows;
  const auto add = [&](SetRowKind kind, std::string name, const SideValues& values) -> RowValues& {
    RowValues& one = rows.emplace_back();
    one.row.kind = kind;
    one.row.name = std::move(name);
    one.values = values;
    one.place = rows.size() - 1;
    one.row.baseline = mean_of(values[0]);
    one.row.candidate = mean_of(values[1]);
    count_agreeing(one, paired);
    return one;
  };
  for (std::size_t part = 0; part < levels.parts.size(); ++part) {
    const auto get = [&](const RunLevel& at) { return at.parts[part]; };
    add(SetRowKind::kPart, levels.parts[part]->name, {values_of(levels.sides[0], get), values_of(levels.sides[1], get)})
        .row.op_class = levels.parts[part]->op_class;
  }
  if (fit.none.empty()) {
    add(SetRowKind::kSpeed, fit.suspect.empty() ? "[speed]" : fmt::format("[speed or {}]", fit.suspect),
        values_of_both(levels, &RunLevel::speed));
  }
  add(SetRowKind::kLoad, "[load]", values_of_both(levels, &RunLevel::load));
  add(SetRowKind::kRareSteps, "[rare steps]", values_of_both(levels, &RunLevel::rare));
  return rows;
}

std::int64_t rounded(double value) { return std::llround(std::clamp(value, -9e18, 9e18)); }

// Rounds the changes so that they add up to `total`: what is missing goes to the rows that lost most.
void close_account(std::vector<RowValues>& rows, std::int64_t total) {
  std::int64_t missing = total;
  for (RowValues& one : rows) {
    const double change = one.row.candidate - one.row.baseline;
    one.row.change = rounded(change);
    one.rounded_off = change - static_cast<double>(one.row.change);
    missing -= one.row.change;
  }
  const std::int64_t sign = missing < 0 ? -1 : 1;
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](std::size_t i) { return static_cast<double>(sign) * rows[i].rounded_off; });
  if (std::abs(missing) > static_cast<std::int64_t>(rows.size())) return;  // times beyond all measure
  for (std::size_t i = 0; missing != 0; ++i, missing -= sign) rows[order[i]].row.change += sign;
}

// Groups that follow the speed are many of one kind: their relative variances are moderated. The others, and all where
// no speed is told and they would vary together, have a t test of their own.
void judge_rows(std::vector<RowValues>& rows, const PhaseLevels& levels, const SpeedFit& fit, const SetDesign& plain,
                const SetDesign& fitted) {
  std::vector<double> variances;
  for (std::size_t i = 0; i < levels.parts.size(); ++i) {
    if (!fit.follows[i]) continue;
    const double level = middle_of(rows[i].values);
    variances.push_back(
        std::max(run_variance(rows[i].values[0], rows[i].values[1], fitted) / level / level, kLeastSd * kLeastSd));
  }
  const ModeratedVariances shrunk = variances.empty() ? ModeratedVariances{} : moderated(variances, fitted.dof());
  auto variance = shrunk.variances.begin();
  std::vector<double> p_values;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    auto& [row, values, place, off] = rows[i];
    const bool part = row.kind == SetRowKind::kPart;
    const double level = std::abs(middle_of(values));
    double extra = part ? levels.slope_errors[i] : 0;
    if (row.kind == SetRowKind::kLoad) extra = levels.period_slope_error;
    SetDifference difference = difference_of(values[0], values[1], plain, kLeastSd * level, extra);
    if (part && fit.follows[i]) {
      const double squared = *variance++ * level * level * fitted.per_variance();
      difference.error = difference.error == 0 ? 0 : std::sqrt(squared + extra + fit.extra[i]);
      difference.dof = shrunk.dof;
    }
    row.range = difference.range();
    row.p = difference.p_value();
    if (part) p_values.push_back(*row.p);
  }
  const auto rates = false_discovery_rates(p_values);
  const double least = kLeastReason * middle_of(values_of_both(levels, &RunLevel::period));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    SetRow& row = rows[i].row;
    if (row.kind == SetRowKind::kPart) {
      row.q_value = rates[i];
      // Beside a suspect nothing else is sure: its part of the change is not known.
      row.named = rates[i] <= kRate && fit.suspect.empty() && std::abs(row.candidate - row.baseline) >= least;
    } else if (row.kind == SetRowKind::kSpeed && !fit.suspect.empty()) {
      row.q_value = row.p = fit.suspect_p;
      row.named = true;
    }
  }
}

// Names the row by which a run differs most from its side, if beyond 5 robust sigmas and 0.5 % of the period. Of fewer
// than 10 runs a robust sigma is too rough.
void note_outliers(const std::vector<RowValues>& rows, std::size_t side, double period, std::span<SetRun> runs) {
  if (runs.size() < 10) return;
  std::vector<double> largest(runs.size(), 0.005 * period);
  for (const RowValues& one : rows) {
    std::vector<double> values = one.values[side];
    const double middle = median(std::span(values));
    for (double& value : values) value = std::abs(value - middle);
    const double sigma = 1.4826 * median(std::span(values));
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const double beyond = one.values[side][i] - middle;
      if (std::abs(beyond) <= std::max(5 * sigma, largest[i])) continue;
      largest[i] = std::abs(beyond);
      runs[i].note = fmt::format("{}: {:+.1f} % of the period against the median of its side", one.row.name,
                                 100 * beyond / period);
    }
  }
}

void add_runs(const PhaseLevels& levels, const std::vector<RowValues>& rows, SetComparison& out) {
  out.runs = levels.without;
  const double period = middle_of(values_of_both(levels, &RunLevel::period));
  for (std::size_t side = 0; side < 2; ++side) {
    std::vector<SetRun> runs;
    for (std::size_t i = 0; i < levels.sides[side].size(); ++i) {
      const RunLevel& at = levels.sides[side][i];
      SetRun& run = runs.emplace_back();
      run.side = static_cast<int>(side);
      run.name = at.run->name;
      run.steps = at.run->steps;
      run.rare_steps = at.run->rare_steps;
      run.load = at.load_mean;
      run.period = at.period;
      run.period_at_equal_speed = at.period - at.speed;
      run.speed_pct = 100 * std::expm1(at.log_speed);
      for (const RowValues& one : rows) run.rows.push_back(one.values[side][i]);
    }
    note_outliers(rows, side, period, runs);
    std::ranges::move(runs, std::back_inserter(out.runs));
  }
  std::ranges::sort(out.runs, {}, [](const SetRun& run) { return std::tie(run.side, run.name); });
}

void judge_gate(const SetOptions& options, SetComparison& out) {
  const auto asked = [&](GateMetric metric) {
    return options.gate_metric == metric || options.gate_metric == GateMetric::kBoth;
  };
  std::vector<const SetMetric*> metrics;
  if (asked(GateMetric::kPeriod)) metrics.push_back(&out.period);
  if (options.gate_metric == GateMetric::kPeriodAtEqualSpeed || (asked(GateMetric::kBoth) && out.no_speed.empty())) {
    metrics.push_back(&out.period_at_equal_speed);
  }
  const double budget = options.budget_pct;
  const auto fails = [&](const SetMetric* metric) {
    const auto& range = metric->range_pct;
    return range && metric->change_pct > budget && range->low > (options.gate_strict ? budget : 0);
  };
  const auto passes = [&](const SetMetric* metric) { return metric->range_pct && metric->range_pct->high <= budget; };
  if (std::ranges::any_of(metrics, fails)) {
    out.gate = GateOutcome::kFail;
  } else if (std::ranges::all_of(metrics, passes)) {
    out.gate = GateOutcome::kPass;
  } else {
    for (const SetMetric* metric : metrics) {
      if (!passes(metric)) out.gate_runs_needed = std::max(out.gate_runs_needed, metric->runs_needed);
    }
  }
}

}  // namespace

SetComparison compare_sets(const PhaseRuns& phase, const SetOptions& options) {
  PhaseLevels levels = levels_of(phase);
  const SetDesign plain{levels.sides[0].size(), levels.sides[1].size(), phase.paired};
  const std::string bar = bar_to_judging(phase, levels, plain);
  SpeedFit fit;
  fit.none = bar.empty() ? phase.no_speed : bar;
  fit.follows.resize(levels.parts.size());
  if (fit.none.empty()) fit = take_out_speed(levels, plain);
  SetDesign fitted = plain;
  if (fit.none.empty()) {
    fitted.fitted = 1;
    fitted.leverage = fit.leverage;
  }

  SetComparison out;
  out.no_speed = fit.none;
  const double budget = options.budget_pct;
  out.period = metric_of(values_of_both(levels, &RunLevel::period), plain, levels.period_slope_error, bar, budget);
  std::string equal_bar = fit.none;
  if (!fit.suspect.empty()) {
    equal_bar = fmt::format("groups of other classes did not follow: speed or {} changed", fit.suspect);
  }
  SideValues equal = values_of_both(levels, &RunLevel::period);
  for (std::size_t side = 0; side < 2; ++side) {
    for (std::size_t i = 0; i < equal[side].size(); ++i) equal[side][i] -= levels.sides[side][i].speed;
  }
  double extra = std::accumulate(fit.extra.begin(), fit.extra.end(), levels.period_slope_error);
  if (fit.none.empty()) {
    SideValues kernels;
    for (std::size_t side = 0; side < 2; ++side) {
      kernels[side] = values_of(levels.sides[side], [&](const RunLevel& at) {
        double sum = 0;
        for (std::size_t i = 0; i < at.parts.size(); ++i) sum += fit.follows[i] ? at.parts[i] : 0;
        return sum;
      });
    }
    extra += fit.leverage * run_variance(kernels[0], kernels[1], fitted);
  }
  out.period_at_equal_speed = metric_of(equal, plain, extra, equal_bar, budget);
  judge_gate(options, out);

  std::vector<RowValues> rows;
  if (plain.baseline_runs > 0 && plain.candidate_runs > 0) {
    const auto mean_period = [](const RunLevel& at) { return at.run->mean_period; };
    out.baseline = mean_of(values_of(levels.sides[0], mean_period));
    out.candidate = mean_of(values_of(levels.sides[1], mean_period));
    out.change = rounded(out.candidate - out.baseline);
    rows = rows_of(levels, fit, phase.paired);
    close_account(rows, out.change);
    if (bar.empty()) judge_rows(rows, levels, fit, plain, fitted);
  }
  std::ranges::sort(rows, {}, [](const RowValues& one) {
    const SetRow& row = one.row;
    return std::tuple(!row.named, row.kind, -std::abs(row.candidate - row.baseline), row.name);
  });
  add_runs(levels, rows, out);
  for (RowValues& one : rows) out.rows.push_back(std::move(one.row));
  return out;
}

}  // namespace tracedb
