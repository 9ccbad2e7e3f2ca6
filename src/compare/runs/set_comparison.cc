#include "compare/runs/set_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <tuple>

#include "base/statistics.h"
#include "compare/runs/set_statistics.h"

namespace tracedb {
namespace {

constexpr double kLeastReason = 0.002;  // of the period
constexpr double kRate = 0.05;          // of false discoveries

// Why nothing is judged, however many runs there are; "": it may be.
std::string bar_of(const PhaseRuns& phase, const PhaseLevels& levels, const SetDesign& design) {
  if (!phase.incomparable.empty()) return phase.incomparable;
  if (design.baseline_runs == 0) return "no run of the baseline has a level";
  if (design.candidate_runs == 0) return "no run of the candidate has a level";
  const double baseline = mean_of(levels.mean_load[0]), candidate = mean_of(levels.mean_load[1]);
  const double apart = std::abs(candidate - baseline), less = std::min(baseline, candidate);
  if (apart > 0.1 * less) return "the load differs by more than 10 %";
  // Unknown, its effect may be as large as its share. Where loads scatter from run to run by as much, the intervals
  // hold that effect.
  if (apart > 0.01 * less && !levels.load_varies) {
    const auto range = difference_of(levels.mean_load, design, 0).range();
    if (!range || range->low > 0 || range->high < 0) {
      return fmt::format("the load differs by {:.1f} %, and no run has steps of several loads to tell what that does",
                         100 * apart / less);
    }
  }
  return "";
}

// Why there is no variance; "": there is.
std::string too_few(const SetDesign& design) {
  if (design.dof() > 0) return "";
  if (design.paired) return "one pair: run-to-run variance is unknown";
  return fmt::format("one run {}: run-to-run variance is unknown",
                     design.baseline_runs == design.candidate_runs ? "a side" : "against two");
}

void judge(double budget, SetMetric& out) {
  const auto [low, high] = *out.range;
  const double within = budget / 100 * std::min(out.baseline, out.candidate);
  out.reason.clear();
  if (low > 0) {
    out.verdict = Verdict::kWorse;
  } else if (high < 0) {
    out.verdict = Verdict::kBetter;
  } else if (low >= -within && high <= within && !out.devices) {
    out.verdict = Verdict::kSame;
  } else {
    out.verdict = Verdict::kInconclusive;
    out.reason = out.devices ? fmt::format("spans of devices changed by {:+.1f} to {:+.1f} %", 100 * out.devices->low,
                                           100 * out.devices->high)
                             : fmt::format("the interval holds 0 and changes beyond {} %", budget);
  }
}

SetMetric metric_of(const SideValues& values, const SetDesign& design, double extra, std::string bar, double budget,
                    const std::optional<Interval>& devices) {
  SetMetric out;
  out.devices = devices;
  out.baseline_runs = static_cast<std::int64_t>(design.baseline_runs);
  out.candidate_runs = static_cast<std::int64_t>(design.candidate_runs);
  out.reason = std::move(bar);
  if (!values[0].empty()) out.baseline = mean_of(values[0]);
  if (!values[1].empty()) out.candidate = mean_of(values[1]);
  if (values[0].empty() || values[1].empty()) return out;
  const SetDifference difference = difference_of(values, design, kLeastSd * middle_of(values), extra);
  out.change = difference.change;
  const double to_pct = out.baseline > 0 ? 100 / out.baseline : 0;
  out.change_pct = out.change * to_pct;
  if (!out.reason.empty()) return out;
  out.range = difference.range();
  out.range_pct = Interval{out.range->low * to_pct, out.range->high * to_pct};
  const double sd = std::max(std::sqrt(run_variance(values, design)) * to_pct, 100 * kLeastSd);
  out.run_sd_pct = sd * (design.paired ? std::sqrt(2) : 1);
  // By the error that the interval has, which may be more than that of the runs' sd.
  const double each = std::sqrt(design.per_variance());
  const double error = std::max(difference.error * to_pct, sd * each);
  out.detectable_pct = SetDifference{0, error, difference.dof}.detectable();
  out.runs_needed = runs_needed(design.paired, error / each, budget);
  judge(budget, out);
  return out;
}

struct RowValues {
  SetRow row;
  const SideValues* values;
  const PartLevels* part;  // of kPart
};

void count_agreeing(const SideValues& values, bool paired, SetRow& row) {
  for (std::size_t a = 0; a < values[0].size(); ++a) {
    for (std::size_t b = 0; b < values[1].size(); ++b) {
      if (paired && a != b) continue;
      ++row.pairs;
      const double change = values[1][b] - values[0][a];  // below half a nanosecond it is none
      if (row.candidate > row.baseline ? change > 0.5 : change < -0.5) ++row.agreeing;
    }
  }
}

std::int64_t rounded(double value) { return std::llround(std::clamp(value, -9e18, 9e18)); }

// Rounds the changes so that they add up to `total`: what is missing goes to the rows that rounding took most from.
void close_account(std::vector<RowValues>& rows, std::int64_t total) {
  std::vector<std::pair<double, SetRow*>> order;  // what rounding took
  std::int64_t missing = total;
  for (auto& [row, values, part] : rows) {
    row.change = rounded(change_of(*values));
    order.emplace_back(change_of(*values) - static_cast<double>(row.change), &row);
    missing -= row.change;
  }
  const int sign = missing < 0 ? -1 : 1;
  std::ranges::stable_sort(order, std::greater<>(), [&](const auto& one) { return sign * one.first; });
  if (std::abs(missing) > std::ssize(rows)) return;  // times beyond all measure
  for (std::size_t i = 0; missing != 0; ++i, missing -= sign) order[i].second->change += sign;
}

std::vector<RowValues> rows_of(const PhaseLevels& levels, const SpeedFit& fit, bool paired, std::int64_t total) {
  std::vector<RowValues> rows;
  const auto add = [&](SetRowKind kind, const SideValues& values, std::string name, const PartLevels* part) {
    RowValues& one = rows.emplace_back(RowValues{{}, &values, part});
    one.row.kind = kind;
    one.row.name = std::move(name);
    if (part != nullptr) one.row.op_class = part->part->op_class;
    one.row.baseline = mean_of(values[0]);
    one.row.candidate = mean_of(values[1]);
    count_agreeing(values, paired, one.row);
  };
  const bool is_told = fit.suspect.empty();
  for (const PartLevels& part : levels.parts) {
    if (is_told || part.part->op_class != fit.suspect) add(SetRowKind::kPart, part.values, part.part->name, &part);
  }
  const std::string speed = is_told ? "[speed]" : fmt::format("[speed or {}]", fit.suspect);
  if (fit.none.empty()) add(SetRowKind::kSpeed, is_told ? levels.speed : levels.suspect, speed, nullptr);
  add(SetRowKind::kLoad, levels.load, "[load]", nullptr);
  rows.back().row.known =
      levels.load_varies || std::abs(change_of(levels.mean_load)) <= 1e-9 * middle_of(levels.mean_load);
  add(SetRowKind::kRareSteps, levels.rare, "[rare steps]", nullptr);
  close_account(rows, total);
  return rows;
}

// Relative variances of the groups that follow the speed, in order.
std::vector<double> relative_variances(const PhaseLevels& levels, const SpeedFit& fit, const SetDesign& design) {
  std::vector<double> out;
  for (const PartLevels& part : levels.parts) {
    if (!part.follows_speed) continue;
    const double level = middle_of(part.values);
    const double variance = run_variance(part.values, design) / fit.kept;
    out.push_back(std::max(variance / level / level, kLeastSd * kLeastSd));
  }
  return out;
}

void name_reasons(std::vector<RowValues>& rows, const PhaseLevels& levels) {
  std::vector<double> p_values;
  std::vector<SetRow*> judged;
  for (RowValues& one : rows) {
    if (one.part == nullptr || !one.row.p) continue;
    p_values.push_back(*one.row.p);
    judged.push_back(&one.row);
  }
  const auto rates = false_discovery_rates(p_values);
  for (std::size_t i = 0; i < rates.size(); ++i) {
    SetRow& row = *judged[i];
    row.q_value = rates[i];
    row.named = rates[i] <= kRate && std::abs(row.candidate - row.baseline) >= kLeastReason * middle_of(levels.period);
  }
}

// No clock makes waits, nor kernels that one side has (next to) none of.
bool may_be_speed(const SetRow& row, const RunPart& part) {
  const auto [less, more] = std::minmax(row.baseline, row.candidate);
  return !part.waits && less > 0.01 * more;
}

// Beside a suspect, what else changed may be the speed. `p`: of its change, where that is not the row's.
void name_suspect(std::vector<RowValues>& rows, std::optional<double> p) {
  for (auto& [row, values, part] : rows) {
    if (part != nullptr && may_be_speed(row, *part->part)) {
      row.range.reset();
      row.p.reset();
    } else if (row.kind == SetRowKind::kSpeed) {
      if (p) row.p = p;
      row.q_value = row.p;
      row.named = *row.p <= kRate;
    }
  }
}

constexpr double kOfNormal = 1e6;  // degrees of freedom from which Student's t is the normal distribution

// The squared error of the change by rare steps: how many a run has is chance, however alike the runs are.
double chance_of_rare(const PhaseLevels& levels) {
  double out = 0;
  for (std::size_t side = 0; side < 2; ++side) {
    const auto runs = static_cast<double>(levels.runs[side].size());
    for (std::size_t run = 0; run < levels.runs[side].size(); ++run) {
      const double time = levels.rare[side][run] / runs;
      out += time * time / static_cast<double>(std::max<std::int64_t>(levels.runs[side][run]->rare_steps, 1));
    }
  }
  return out;
}

// Groups that follow the speed are many of one kind: their relative variances are moderated. The others have a t test
// of their own; so have all where no speed is told, since they would vary together.
void judge_rows(std::vector<RowValues>& rows, const PhaseLevels& levels, const SpeedFit& fit, const SetDesign& design) {
  std::vector<double> variances = relative_variances(levels, fit, design);
  const double dof = moderate(variances, design.dof() * fit.kept);
  auto variance = variances.begin();
  for (auto& [row, values, part] : rows) {
    const double level = middle_of(*values);
    const double extra = part != nullptr                 ? part->slope_error + part->loading_error
                         : row.kind == SetRowKind::kLoad ? levels.period_slope_error
                                                         : 0;
    SetDifference difference = difference_of(*values, design, kLeastSd * std::abs(level), extra);
    if (part != nullptr && part->follows_speed) {
      const double squared = *variance++ * level * level * (design.per_variance() + fit.leverage);
      if (difference.error > 0) difference = {difference.change, std::sqrt(squared + extra), dof};
    }
    if (row.kind == SetRowKind::kRareSteps) {
      const SetDifference by_chance{difference.change, std::sqrt(chance_of_rare(levels)), kOfNormal};
      if (by_chance.range()->high > difference.range()->high) difference = by_chance;
    }
    if (!row.known) continue;
    row.range = difference.range();
    row.p = difference.p_value();
  }
  if (!fit.suspect.empty()) name_suspect(rows, fit.suspect_p);
  name_reasons(rows, levels);
}

// Deviations from the median of their side, but those of the medians themselves.
std::vector<double> deviations_of(const SideValues& values) {
  std::vector<double> out;
  for (std::vector<double> side : values) {
    if (side.size() < 3) continue;
    const double middle = median(std::span(side));
    for (double& value : side) value = std::abs(value - middle);
    std::ranges::sort(side);
    out.insert(out.end(), side.begin() + 1, side.end());
  }
  return out;
}

// Names the row by which a run differs most from its side, if beyond 5 robust sigmas of both sides, more of few runs,
// and 0.5 % of the period.
void note_outliers(const std::vector<RowValues>& rows, std::size_t side, double period, std::span<SetRun> runs) {
  std::vector<double> largest(runs.size(), 0.005 * period);
  for (const auto& [row, of_both, part] : rows) {
    std::vector<double> beyond = deviations_of(*of_both);
    if (runs.size() < 3 || beyond.size() < 4) return;
    const double most = std::max(5.0, student_quantile(0.9995, static_cast<double>(beyond.size())));
    const double sigma = 1.4826 * median(std::span(beyond));
    std::vector<double> own = (*of_both)[side];
    const double middle = median(std::span(own));
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const double change = (*of_both)[side][i] - middle;
      if (std::abs(change) <= std::max(most * sigma, largest[i])) continue;
      largest[i] = std::abs(change);
      runs[i].note =
          fmt::format("{}: {:+.1f} % of the period from the median of its side", row.name, 100 * change / period);
    }
  }
}

std::vector<SetRun> runs_of(const PhaseLevels& levels, const std::vector<RowValues>& rows) {
  std::vector<SetRun> out = levels.without;
  for (std::size_t side = 0; side < 2; ++side) {
    std::vector<SetRun> runs;
    for (std::size_t i = 0; i < levels.runs[side].size(); ++i) {
      const RunSums& run = *levels.runs[side][i];
      const double period = levels.period[side][i];
      runs.push_back(
          {static_cast<int>(side),
           run.name,
           "",
           run.steps,
           run.rare_steps,
           levels.mean_load[side][i],
           period,
           period - levels.speed[side][i],
           levels.suspect[side].empty() ? std::optional(100 * std::expm1(levels.log_speed[side][i])) : std::nullopt,
           "",
           {}});
      for (const RowValues& one : rows) runs.back().rows.push_back((*one.values)[side][i]);
    }
    if (!rows.empty()) note_outliers(rows, side, middle_of(levels.period), runs);
    std::ranges::move(runs, std::back_inserter(out));
  }
  std::ranges::sort(out, {}, [](const SetRun& run) { return std::tie(run.side, run.name); });
  return out;
}

void judge_gate(const SetOptions& options, SetComparison& out) {
  std::vector<const SetMetric*> metrics;
  if (options.gate_metric != GateMetric::kPeriodAtEqualSpeed) metrics.push_back(&out.period);
  if (options.gate_metric == GateMetric::kPeriodAtEqualSpeed ||
      (options.gate_metric == GateMetric::kBoth && out.no_speed.empty())) {
    metrics.push_back(&out.period_at_equal_speed);
  }
  const double budget = options.budget_pct;
  const auto fails = [&](const SetMetric* metric) {
    const auto& range = metric->range_pct;
    return range && metric->change_pct > budget && range->low > (options.gate_strict ? budget : 0);
  };
  const auto passes = [&](const SetMetric* metric) {
    return metric->range_pct && metric->range_pct->high <= budget &&
           (!metric->devices || 100 * metric->devices->high <= budget);
  };
  if (std::ranges::any_of(metrics, fails)) {
    out.gate = GateOutcome::kFail;
  } else if (std::ranges::all_of(metrics, passes)) {
    out.gate = GateOutcome::kPass;
  } else {
    for (const SetMetric* metric : metrics) {
      if (!passes(metric) && !metric->devices)
        out.gate_runs_needed = std::max(out.gate_runs_needed, metric->runs_needed);
    }
  }
}

}  // namespace

double SetComparison::rare_pct() const {
  const auto row = std::ranges::find(rows, SetRowKind::kRareSteps, &SetRow::kind);
  if (row == rows.end() || period.baseline <= 0) return 0;
  const double pct = 100 * (row->candidate - row->baseline) / period.baseline;
  return std::abs(pct) < 1 ? 0 : pct;
}

SetComparison compare_sets(const PhaseRuns& phase, const SetOptions& options) {
  PhaseLevels levels = levels_of(phase);
  const SetDesign design{levels.runs[0].size(), levels.runs[1].size(), phase.paired};
  const std::string barred = bar_of(phase, levels, design), bar = barred.empty() ? too_few(design) : barred;
  SpeedFit fit;
  fit.none = bar.empty() ? phase.no_speed : bar;
  if (fit.none.empty()) fit = take_out_speed(levels, design);

  SetComparison out;
  out.no_speed = fit.none;
  out.barred = !barred.empty();
  out.load_varies = levels.load_varies;
  const double budget = options.budget_pct, slope_error = levels.period_slope_error;
  out.period = metric_of(levels.period, design, slope_error, bar, budget, phase.devices);
  SideValues equal = levels.period;
  for (std::size_t side = 0; side < 2; ++side) {
    std::ranges::transform(equal[side], levels.speed[side], equal[side].begin(), std::minus<>());
  }
  const std::string equal_bar = fit.suspect.empty()
                                    ? fit.none
                                    : fmt::format("kernels of other classes did not follow: either the speed or {} {}",
                                                  fit.suspect, fit.suspect_p ? "changed" : "differs from run to run");
  out.period_at_equal_speed =
      metric_of(equal, design, slope_error + fit.period_error, equal_bar, budget, phase.devices);
  judge_gate(options, out);

  std::vector<RowValues> rows;
  if (!equal[0].empty() && !equal[1].empty()) {
    out.baseline = mean_of(levels.mean_period[0]);
    out.candidate = mean_of(levels.mean_period[1]);
    out.change = rounded(out.candidate - out.baseline);
    rows = rows_of(levels, fit, phase.paired, out.change);
    if (bar.empty()) judge_rows(rows, levels, fit, design);
  }
  std::ranges::sort(rows, {}, [](const RowValues& one) {
    const SetRow& row = one.row;
    return std::tuple(!row.named, row.kind, -std::abs(row.candidate - row.baseline), row.name);
  });
  out.runs = runs_of(levels, rows);
  for (RowValues& one : rows) out.rows.push_back(std::move(one.row));
  return out;
}

void judge_by_history(const SetComparison& history, const SetOptions& options, SetComparison& out) {
  SetMetric& metric = out.period;
  const std::int64_t runs = history.period.baseline_runs;
  if (out.barred || runs < 3 || !history.period.run_sd_pct || metric.baseline_runs != 1 || metric.candidate_runs != 1)
    return;
  const double sd = *history.period.run_sd_pct;
  const SetDifference difference{metric.change_pct, sd * std::sqrt(2), static_cast<double>(runs - 1)};
  metric.range_pct = difference.range();
  const double from_pct = metric.baseline / 100;
  metric.range = Interval{metric.range_pct->low * from_pct, metric.range_pct->high * from_pct};
  metric.run_sd_pct = sd;
  metric.detectable_pct = difference.detectable();
  metric.runs_needed = history.period.runs_needed;
  judge(options.budget_pct, metric);
  out.no_speed = out.period_at_equal_speed.reason = "earlier runs tell how much the period varies, not the speed";
  out.gate_runs_needed.reset();
  judge_gate(options, out);
}

}  // namespace tracedb
