#include "present/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace tracedb {
namespace {

// The changes of one kind of steps: by metric, null where it was not compared; and of transitions to other kinds.
struct KindChanges {
  std::string kind;
  std::function<const Change*(StepMetric)> by_metric;
  std::vector<std::pair<std::string, const Change*>> transitions;  // "period to decode"
};

bool is_known(const Change* change) {
  return change != nullptr && change->baseline.median > 0 && change->candidate_steps > 0;
}

bool exceeds(const Gate& gate, const std::string& phase, std::string_view measure, const Change& change,
             const Note& note) {
  const double percent = 100 * change.difference() / change.baseline.median;
  if (percent <= gate.percent) return false;
  const std::string what = fmt::format("{}, {}: {:+.2f} %", phase, measure, percent);
  if (change.verdict == Verdict::kInconclusive) {
    note(fmt::format("gate: {} would exceed {} %, but is inconclusive: {}", what, gate.percent, change.reason));
    return false;
  }
  if (change.interval.low <= 0) return false;
  note(fmt::format("gate: {} exceeds {} %", what, gate.percent));
  return true;
}

void tell_caveat(const std::string& phase, std::string_view measure, const Change& period, const Note& note) {
  if (!period.caveat.empty()) note(fmt::format("gate: {}, {}: {}", phase, measure, period.caveat));
}

bool transitions_exceed(const Gate& gate, const KindChanges& changes, const Note& note) {
  bool failed = false;
  for (const auto& [measure, change] : changes.transitions) {
    if (!is_known(change) || !change->recorded_alike) continue;
    failed = exceeds(gate, changes.kind, measure, *change, note) || failed;
    tell_caveat(changes.kind, measure, *change, note);
  }
  return failed;
}

// By one metric that was named.
bool metric_exceeds(const Gate& gate, const KindChanges& changes, StepMetric metric, const Note& note) {
  const Change* change = changes.by_metric(metric);
  if (is_known(change)) {
    tell_caveat(changes.kind, to_string(metric), *change, note);
    return exceeds(gate, changes.kind, to_string(metric), *change, note);
  }
  note(fmt::format("gate: {}, {}: not known for both traces", changes.kind, to_string(metric)));
  return false;
}

// By the worse of period and span.
bool worse_exceeds(const Gate& gate, const KindChanges& changes, const Note& note) {
  const std::string& kind = changes.kind;
  const Change* period = changes.by_metric(StepMetric::kPeriod);
  const Change* span = changes.by_metric(StepMetric::kSpan);
  bool by_period = false;
  if (is_known(period) && !period->recorded_alike) {
    note(fmt::format("gate: {}, period: {}: judged by span", kind, period->reason));
  } else if (is_known(period)) {
    by_period = exceeds(gate, kind, to_string(StepMetric::kPeriod), *period, note);
    tell_caveat(kind, to_string(StepMetric::kPeriod), *period, note);
  }
  const bool one_side = period != nullptr && (period->baseline_steps > 0) != (period->candidate_steps > 0);
  if (one_side) note(fmt::format("gate: {}, period: known for one trace only: judged by span", kind));
  if (is_known(span)) return exceeds(gate, kind, to_string(StepMetric::kSpan), *span, note) || by_period;
  note(fmt::format("gate: {}, span: not known for both traces", kind));
  return by_period;
}

bool beyond_gate(const Gate& gate, const KindChanges& changes, const Note& note) {
  const bool of_periods = !gate.metric || *gate.metric == StepMetric::kPeriod;
  const bool beyond = of_periods && transitions_exceed(gate, changes, note);
  const bool own = gate.metric ? metric_exceeds(gate, changes, *gate.metric, note) : worse_exceeds(gate, changes, note);
  return own || beyond;
}

}  // namespace

bool group_beyond_gate(const Gate& gate, const GroupComparison& group, const Note& note) {
  KindChanges changes{group.group.label, [&](StepMetric metric) { return &group.metric(metric); }, {}};
  for (const TransitionChange& transition : group.transitions) {
    changes.transitions.emplace_back(period_measure(transition.to), &transition.change);
  }
  return beyond_gate(gate, changes, note);
}

bool samples_beyond_gate(const Gate& gate, const SampleComparison& comparison, const Note& note) {
  std::vector<KindChanges> kinds;  // in their order
  for (const SampleChange& item : comparison.changes) {
    if (kinds.empty() || kinds.back().kind != item.kind) {
      const auto by_metric = [&comparison, kind = item.kind](StepMetric metric) -> const Change* {
        const auto found = std::find_if(
            comparison.changes.begin(), comparison.changes.end(),
            [&](const SampleChange& other) { return other.kind == kind && other.measure == to_string(metric); });
        return found == comparison.changes.end() ? nullptr : &found->change;
      };
      kinds.push_back({item.kind, by_metric, {}});
    }
    if (is_transition(item.measure)) kinds.back().transitions.emplace_back(item.measure, &item.change);
  }
  bool failed = false;
  for (const KindChanges& changes : kinds) failed = beyond_gate(gate, changes, note) || failed;
  return failed;
}

}  // namespace tracedb
