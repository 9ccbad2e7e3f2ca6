#include "compare/steps/step_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/unknown.h"
#include "passes/steps/device_periods.h"

namespace tracedb {
namespace {

constexpr std::array<std::string_view, kStepMetrics> kMetricNames = {"span", "busy", "period", "kernel_time"};
constexpr std::string_view kTransition = "period to ";

}  // namespace

std::optional<StepMetric> step_metric_from(std::string_view text) {
  const auto found = std::find(kMetricNames.begin(), kMetricNames.end(), text);
  if (found == kMetricNames.end()) return std::nullopt;
  return static_cast<StepMetric>(found - kMetricNames.begin());
}
std::string_view to_string(StepMetric metric) { return kMetricNames[static_cast<std::size_t>(metric)]; }

std::string period_measure(std::string_view to) { return std::string(kTransition) + std::string(to); }
bool is_transition(std::string_view measure) { return measure.starts_with(kTransition); }

std::vector<std::int64_t> step_sample(const StepWork& work, std::span<const std::uint32_t> group, StepMetric metric,
                                      std::span<const std::int64_t> periods) {
  std::vector<std::int64_t> values;
  std::vector<std::uint32_t> steps;
  for (const std::uint32_t i : group) {
    const DeviceStep& step = work.steps[i];
    steps.push_back(step.step);
    values.push_back(metric == StepMetric::kSpan     ? step.span
                     : metric == StepMetric::kBusy   ? step.busy
                     : metric == StepMetric::kPeriod ? periods[i]
                                                     : step.kernel_time);
  }
  std::vector<std::int64_t> out;
  for (const StepMean& one : means_of_steps(steps, values)) out.push_back(one.mean);
  return out;
}

Change make_change(StepValues baseline, StepValues candidate, double coverage, const std::string& barred,
                   const VerdictRule& rule) {
  Change out;
  out.baseline = draw_means(baseline.values, baseline.zeros);
  out.candidate = draw_means(candidate.values, candidate.zeros);
  out.baseline_steps = baseline.values.size() + baseline.zeros;
  out.candidate_steps = candidate.values.size() + candidate.zeros;
  out.interval = difference_interval(out.baseline, out.candidate);
  judge(out, coverage, barred, rule);
  return out;
}

void judge(Change& change, double coverage, const std::string& barred, const VerdictRule& rule) {
  const Evidence evidence{change.baseline.mean,
                          change.candidate.mean,
                          change.interval,
                          change.baseline_steps,
                          change.candidate_steps,
                          coverage,
                          barred};
  change.verdict = verdict_of(evidence, rule);
  change.reason = reason_of(evidence, rule);
  change.barred = !barred.empty();
}

void judge_period(Change& period, const std::string& difference, const HostWaits& baseline,
                  const HostWaits& candidate) {
  if (period.baseline_steps == 0 || period.candidate_steps == 0) return;
  period.recorded_alike = difference.empty();
  if (!period.recorded_alike) {
    period.verdict = Verdict::kInconclusive;
    period.reason = "recorded differently";
    period.barred = true;
  }
  if (baseline.bound() && candidate.bound()) {
    period.caveat = fmt::format("both bound by the recording host, {:.0f} and {:.0f} calls per gap",
                                baseline.calls_per_gap(), candidate.calls_per_gap());
  } else if (baseline.bound() || candidate.bound()) {
    const bool first = baseline.bound();
    period.caveat = fmt::format("{} bound by the recording host, {:.0f} calls per gap",
                                first ? "baseline" : "candidate", (first ? baseline : candidate).calls_per_gap());
  }
}

}  // namespace tracedb
