#include "present/gate.h"

#include <fmt/format.h>

#include <array>
#include <span>
#include <utility>

#include "present/cells.h"

namespace tracedb {
namespace {

constexpr std::array<std::string_view, 4> kOutcomes = {"pass", "fail", "inconclusive", "not judged"};

// The changes of one kind of steps: by metric, null where it was not compared; and of transitions to other kinds.
struct KindChanges {
  std::string kind;
  std::array<const Change*, kStepMetrics> metrics{};
  std::vector<std::pair<std::string, const Change*>> transitions{};  // "period to decode"
};

bool is_known(const Change* change) {
  return change != nullptr && change->baseline.mean > 0 && change->candidate_steps > 0;
}

// Judges the measures of one kind of steps.
class Judge {
 public:
  Judge(const Gate& gate, const KindChanges& changes, const Note& note, std::vector<GateFinding>& findings)
      : gate_(gate), changes_(changes), note_(note), findings_(findings) {}

  void run() {
    if (!gate_.metric || *gate_.metric == StepMetric::kPeriod) transitions();
    if (gate_.metric) {
      by_metric(*gate_.metric);
    } else {
      by_worse();
    }
  }

 private:
  void judge(std::string_view measure, const Change& change) {
    const double percent = 100 * change.difference() / change.baseline.mean;
    GateFinding& out = add(measure, percent, GateOutcome::kPass, change.caveat);
    out.barred = change.barred;
    const std::string what = fmt::format("{}, {}: {:+.2f} %", changes_.kind, measure, percent);
    const auto part = [&](double of) { return 100 * of / change.baseline.mean; };
    const auto [low, high] = change.measured();
    // At either end of what the load may have made.
    const auto outcome_at = [&, low = low, high = high](double by_load) {
      return !change.judged()                                               ? GateOutcome::kInconclusive
             : percent + part(by_load) > gate_.percent && low + by_load > 0 ? GateOutcome::kFail
             : part(high + by_load) <= gate_.percent                        ? GateOutcome::kPass
                                                                            : GateOutcome::kInconclusive;
    };
    const GateOutcome least = outcome_at(change.by_load.low), most = outcome_at(change.by_load.high);
    out.outcome = least == most ? most : GateOutcome::kInconclusive;
    if (out.outcome == GateOutcome::kFail) return note_(fmt::format("gate: {} exceeds {} %", what, gate_.percent));
    if (out.outcome == GateOutcome::kPass) return;
    out.reason = !change.judged() ? change.reason
                 : least == most
                     ? fmt::format("the 95 % interval of the change reaches {:+.2f} %", part(change.interval.high))
                     : fmt::format("{}: at equal load {:+.2f} to {:+.2f} %", change.load.words(),
                                   percent + part(change.by_load.low), percent + part(change.by_load.high));
    if (percent <= gate_.percent) return;
    note_(fmt::format("gate: {} would exceed {} %, but is inconclusive: {}", what, gate_.percent, out.reason));
  }

  GateFinding& add(std::string_view measure, std::optional<double> percent, GateOutcome outcome, std::string reason) {
    findings_.push_back({changes_.kind, std::string(measure), percent, outcome, std::move(reason)});
    return findings_.back();
  }

  void tell(std::string_view measure, const std::string& what) const {
    if (!what.empty()) note_(fmt::format("gate: {}, {}: {}", changes_.kind, measure, what));
  }

  void leave_open(std::string_view measure, GateOutcome outcome, const std::string& reason) {
    add(measure, std::nullopt, outcome, reason);
    tell(measure, reason);
  }
  void unknown(StepMetric metric) {
    leave_open(to_string(metric), GateOutcome::kInconclusive, "not known for both traces");
  }
  void not_judged(std::string_view measure, const std::string& reason) {
    leave_open(measure, GateOutcome::kNotJudged, reason);
  }

  [[nodiscard]] const Change* change_of(StepMetric metric) const {
    return changes_.metrics[static_cast<std::size_t>(metric)];
  }

  void transitions() {
    for (const auto& [measure, change] : changes_.transitions) {
      if (!is_known(change) || !change->recorded_alike) continue;
      judge(measure, *change);
      tell(measure, change->caveat);
    }
  }

  // By one metric that was named.
  void by_metric(StepMetric metric) {
    const Change* change = change_of(metric);
    if (!is_known(change)) return unknown(metric);
    tell(to_string(metric), change->caveat);
    judge(to_string(metric), *change);
  }

  // By the worse of period and span.
  void by_worse() {
    const Change* period = change_of(StepMetric::kPeriod);
    const Change* span = change_of(StepMetric::kSpan);
    const std::string_view measure = to_string(StepMetric::kPeriod);
    if (is_known(period) && !period->recorded_alike) {
      not_judged(measure, period->reason + ": judged by span");
    } else if (is_known(period)) {
      judge(measure, *period);
      tell(measure, period->caveat);
    }
    const bool one_side = period != nullptr && (period->baseline_steps > 0) != (period->candidate_steps > 0);
    if (one_side) not_judged(measure, "known for one trace only: judged by span");
    if (!is_known(span)) return unknown(StepMetric::kSpan);
    if (is_known(period) && period->recorded_alike && span->reason == kOverlap) {
      return not_judged(to_string(StepMetric::kSpan), std::string(kOverlap) + ": judged by period");
    }
    judge(to_string(StepMetric::kSpan), *span);
  }

  const Gate& gate_;
  const KindChanges& changes_;
  const Note& note_;
  std::vector<GateFinding>& findings_;
};

// No verdict is on the time of the host, but what makes it so much longer passes no gate.
void look_at_host(const Gate& gate, const GroupComparison& group, const Note& note,
                  std::vector<GateFinding>& findings) {
  if (gate.metric || !group.is_host_told()) return;
  const double percent = 100 * (group.candidate_host->time / group.baseline_host->time - 1);
  if (percent <= gate.percent) return;
  const std::string reason = "of the host's time there is no verdict";
  note(fmt::format("gate: {}, host: {:+.2f} % would exceed {} %, but is inconclusive: {}", group.group.label, percent,
                   gate.percent, reason));
  findings.push_back({group.group.label, "host", percent, GateOutcome::kInconclusive, reason, true});
}

}  // namespace

std::string_view to_string(GateOutcome outcome) { return kOutcomes[static_cast<std::size_t>(outcome)]; }

bool fails(const Gate& gate, GateOutcome outcome, bool is_idle) {
  const bool open_fails = gate.inconclusive_fails || (is_idle && !gate.nothing_passes);
  return outcome == GateOutcome::kFail || (outcome == GateOutcome::kInconclusive && open_fails);
}

std::string gate_text(const Gate& gate, GateOutcome outcome, bool is_idle, const std::string& because) {
  const std::string_view word = outcome == GateOutcome::kPass    ? "passed"
                                : outcome == GateOutcome::kFail  ? "FAILED"
                                : !fails(gate, outcome, is_idle) ? "inconclusive"
                                : is_idle                        ? "FAILED, since it could judge nothing"
                                                                 : "FAILED, since it is inconclusive";
  return fmt::format("gate {:g} %: {}: {}", gate.percent, word, because);
}

bool GateResult::compared() const {
  return std::ranges::any_of(findings, [](const GateFinding& f) { return f.percent.has_value() && !f.barred; });
}

std::string GateResult::because() const {
  const GateFinding* worst = nullptr;
  for (const GateFinding& finding : findings) {
    if (finding.outcome != outcome()) continue;
    if (worst == nullptr || finding.percent.value_or(0) > worst->percent.value_or(0)) worst = &finding;
  }
  if (worst == nullptr) return "nothing was compared";
  std::string text = fmt::format("{}, {}", worst->phase, worst->measure);
  if (worst->percent) text += fmt::format(": {:+.2f} %", *worst->percent);
  if (!worst->reason.empty()) text += fmt::format(": {}", worst->reason);
  return text;
}

std::string to_string(const GateResult& result) {
  const GateOutcome outcome = result.outcome();
  const bool judged = outcome == GateOutcome::kPass || outcome == GateOutcome::kFail;
  return gate_text(result.gate, outcome, !result.compared(), result.because()) +
         (judged ? fmt::format(" ({})", kOneRun) : "");
}

GateResult judge_by_gate(const Gate& gate, const Comparison& comparison, const Note& note) {
  GateResult out{gate, {}};
  for (const GroupComparison& group : comparison.groups) {
    KindChanges changes{group.group.label};
    std::ranges::transform(group.metrics, changes.metrics.begin(), [](const Change& change) { return &change; });
    for (const TransitionChange& transition : group.transitions) {
      changes.transitions.emplace_back(period_measure(transition.to), &transition.change);
    }
    const std::size_t before = out.findings.size();
    Judge(gate, changes, note, out.findings).run();
    const auto a = group.group.baseline.rare.size(), b = group.group.candidate.rare.size();
    for (GateFinding& finding : std::span(out.findings).subspan(before)) {
      if (a != b && finding.reason.empty())
        finding.reason =
            fmt::format("without rare long steps, of which the {} has more", a > b ? "baseline" : "candidate");
    }
    look_at_host(gate, group, note, out.findings);
  }
  return out;
}

GateResult judge_by_gate(const Gate& gate, const SampleComparison& comparison, const Note& note) {
  std::vector<KindChanges> kinds;  // in their order
  for (const SampleChange& item : comparison.changes) {
    if (kinds.empty() || kinds.back().kind != item.kind) kinds.push_back({item.kind});
    if (const auto metric = step_metric_from(item.measure)) {
      kinds.back().metrics[static_cast<std::size_t>(*metric)] = &item.change;
    }
    if (is_transition(item.measure)) kinds.back().transitions.emplace_back(item.measure, &item.change);
  }
  GateResult out{gate, {}};
  for (const KindChanges& changes : kinds) Judge(gate, changes, note, out.findings).run();
  return out;
}

Report gate_report(const GateResult& result, const std::string& trace) {
  Report out{declared_columns("compare_gate"), {}, {}, true};
  const auto add = [&](const GateFinding& finding) {
    add_row(out, {{"trace", trace},
                  {"phase", finding.phase},
                  {"metric", text_cell(finding.measure)},
                  {"limit_pct", result.gate.percent},
                  {"change_pct", known_cell(finding.percent)},
                  {"outcome", std::string(to_string(finding.outcome))},
                  {"reason", text_cell(finding.reason)}});
  };
  std::ranges::for_each(result.findings, add);
  add({"[all]", "", std::nullopt, result.failed() ? GateOutcome::kFail : result.outcome(), result.because()});
  return out;
}

}  // namespace tracedb
