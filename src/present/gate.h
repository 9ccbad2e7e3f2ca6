// --gate: whether a kind of steps is slower than it may be.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/comparison.h"
#include "compare/step_samples.h"
#include "report/sql_report.h"

namespace tracedb {

struct Gate {
  double percent = 0;                // most that a candidate may be slower
  std::optional<StepMetric> metric;  // nullopt: the worse of period and span
  bool inconclusive_fails = false;
  bool nothing_passes = false;  // --gate-inconclusive pass, written out: also where nothing was compared
};

std::string_view to_string(GateOutcome outcome);  // pass, fail, inconclusive, not judged

// Whether it fails a candidate. `is_idle`: nothing can be judged, however many steps or runs there are: a gate that is
// not there lets all pass.
bool fails(const Gate& gate, GateOutcome outcome, bool is_idle);
// "gate 2 %: FAILED: decode, period: +3.10 %".
std::string gate_text(const Gate& gate, GateOutcome outcome, bool is_idle, const std::string& because);

// Fail where one fails, else inconclusive where one is or none is judged.
template <class Judged, class OutcomeOf>
GateOutcome outcome_of_all(const Judged& judged, OutcomeOf outcome_of) {
  const auto any = [&](GateOutcome outcome) { return std::ranges::find(judged, outcome, outcome_of) != judged.end(); };
  if (any(GateOutcome::kFail)) return GateOutcome::kFail;
  return any(GateOutcome::kPass) && !any(GateOutcome::kInconclusive) ? GateOutcome::kPass : GateOutcome::kInconclusive;
}

// Of one measure of a kind of steps.
struct GateFinding {
  std::string phase, measure;
  std::optional<double> percent;  // by which the candidate is slower; nullopt: not known
  GateOutcome outcome = GateOutcome::kPass;
  std::string reason;   // why it is inconclusive or not judged; a caveat
  bool barred = false;  // no number of steps would have made a verdict: nothing was judged
};

// Of one candidate.
struct GateResult {
  Gate gate;
  std::vector<GateFinding> findings;
  [[nodiscard]] GateOutcome outcome() const { return outcome_of_all(findings, &GateFinding::outcome); }
  [[nodiscard]] bool compared() const;  // any measure of any kind, of which there may be a verdict
  [[nodiscard]] bool failed() const { return fails(gate, outcome(), !compared()); }
  // Of the findings that decided: "decode, period: +33.33 %"; of several the worst.
  [[nodiscard]] std::string because() const;
};

// gate_text(), and of how many runs it is.
std::string to_string(const GateResult& result);

using Note = std::function<void(const std::string&)>;

// Judges each kind of steps that is compared. `note` gets what exceeds, and why a kind is not judged. Periods count to
// the next step of whichever kind.
GateResult judge_by_gate(const Gate& gate, const Comparison& comparison, const Note& note);

// The same of each kind that a baseline file and a trace have.
GateResult judge_by_gate(const Gate& gate, const SampleComparison& comparison, const Note& note);

// The result as rows: one for each finding, and one of the whole. `trace`: the candidate.
Report gate_report(const GateResult& result, const std::string& trace);

}  // namespace tracedb
