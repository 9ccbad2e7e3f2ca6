#include "compare_gate.h"

#include <fmt/format.h>

namespace tracedb {
namespace {

bool is_known(const Change* change) {
  return change != nullptr && change->baseline.median > 0 && change->candidate_steps > 0;
}

bool exceeds(const Gate& gate, const std::string& phase, StepMetric metric, const Change& change,
             const std::function<void(const std::string&)>& note) {
  const double percent = 100 * change.difference() / change.baseline.median;
  if (percent <= gate.percent) return false;
  const std::string what = fmt::format("{}, {}: {:+.2f} %", phase, to_string(metric), percent);
  if (change.verdict == Verdict::kInconclusive) {
    note(fmt::format("gate: {} would exceed {} %, but is inconclusive: {}", what, gate.percent, change.reason));
    return false;
  }
  if (change.interval.low <= 0) return false;
  note(fmt::format("gate: {} exceeds {} %", what, gate.percent));
  return true;
}

void tell_caveat(const std::string& phase, const Change& period, const std::function<void(const std::string&)>& note) {
  if (!period.caveat.empty()) note(fmt::format("gate: {}, period: {}", phase, period.caveat));
}

}  // namespace

bool beyond_gate(const Gate& gate, const std::string& phase, const MetricChanges& changes,
                 const std::function<void(const std::string&)>& note) {
  if (gate.metric) {
    const Change* change = changes(*gate.metric);
    if (is_known(change)) {
      tell_caveat(phase, *change, note);
      return exceeds(gate, phase, *gate.metric, *change, note);
    }
    note(fmt::format("gate: {}, {}: not known of both sides", phase, to_string(*gate.metric)));
    return false;
  }
  const Change* period = changes(StepMetric::kPeriod);
  const Change* span = changes(StepMetric::kSpan);
  bool by_period = false;
  if (is_known(period) && !period->recorded_alike) {
    note(fmt::format("gate: {}, period: {}: judged by span", phase, period->reason));
  } else if (is_known(period)) {
    by_period = exceeds(gate, phase, StepMetric::kPeriod, *period, note);
    tell_caveat(phase, *period, note);
  }
  const bool one_side = period != nullptr && (period->baseline_steps > 0) != (period->candidate_steps > 0);
  if (one_side) note(fmt::format("gate: {}, period: known of one side only: judged by span", phase));
  if (is_known(span)) return exceeds(gate, phase, StepMetric::kSpan, *span, note) || by_period;
  note(fmt::format("gate: {}, span: not known of both sides", phase));
  return by_period;
}

}  // namespace tracedb
