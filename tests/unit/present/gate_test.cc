#include "present/gate.h"

#include <doctest/doctest.h>

#include <string>

namespace tracedb {
namespace {

Change gate_change(double baseline, double candidate, Verdict verdict) {
  Change change;
  change.baseline.mean = baseline;
  change.candidate.mean = candidate;
  change.interval = {candidate - baseline - 1, candidate - baseline + 1};
  change.baseline_steps = change.candidate_steps = 8;
  change.verdict = verdict;
  if (verdict == Verdict::kInconclusive) change.reason = "2/2 steps";
  return change;
}

struct Judged {
  bool failed = false;
  std::string notes;
  GateResult result;
};

Judged judge_samples(const Gate& gate, const std::vector<SampleChange>& changes) {
  SampleComparison comparison;
  comparison.changes = changes;
  std::string notes;
  GateResult result = judge_by_gate(gate, comparison, [&](const std::string& note) { notes += note + "\n"; });
  return {result.failed(), std::move(notes), std::move(result)};
}

}  // namespace

TEST_CASE("gate: the worse of period and span, significantly and by more than allowed") {
  const Change slower = gate_change(100, 110, Verdict::kWorse);
  const Change same = gate_change(100, 101, Verdict::kSame);
  const Judged by_span = judge_samples({5, std::nullopt}, {{"decode", "span", slower}, {"decode", "period", same}});
  CHECK(by_span.failed);
  CHECK(by_span.notes == "gate: decode, span: +10.00 % exceeds 5 %\n");
  CHECK(judge_samples({5, std::nullopt}, {{"decode", "span", same}, {"decode", "period", slower}}).failed);
  CHECK_FALSE(judge_samples({15, std::nullopt}, {{"decode", "span", slower}}).failed);
  CHECK_FALSE(judge_samples({5, StepMetric::kPeriod}, {{"decode", "span", slower}, {"decode", "period", same}}).failed);
}

TEST_CASE("gate: what is inconclusive passes, with a note; an interval that includes 0 passes") {
  const Judged few =
      judge_samples({5, std::nullopt}, {{"decode", "span", gate_change(100, 200, Verdict::kInconclusive)}});
  CHECK_FALSE(few.failed);
  CHECK(few.notes == "gate: decode, span: +100.00 % would exceed 5 %, but is inconclusive: 2/2 steps\n");
  CHECK(to_string(few.result) == "gate 5 %: inconclusive: decode, span: +100.00 %: 2/2 steps");
  Change noise = gate_change(100, 110, Verdict::kSame);
  noise.interval = {-5, 25};
  CHECK_FALSE(judge_samples({5, std::nullopt}, {{"decode", "span", noise}}).failed);
}

TEST_CASE("gate: where no number of steps would make a verdict, nothing was judged, and that fails") {
  Change unit = gate_change(100, 116, Verdict::kInconclusive);
  unit.barred = true;
  unit.reason = kRepeatingUnit;
  const Judged none = judge_samples({5, std::nullopt}, {{"unit", "period", unit}, {"unit", "span", unit}});
  CHECK(none.failed);
  CHECK(to_string(none.result) ==
        "gate 5 %: FAILED, since it could judge nothing: unit, period: +16.00 %: what repeats is no step");
  CHECK_FALSE(judge_samples({5, std::nullopt, false, true}, {{"unit", "span", unit}}).failed);
  const Change same = gate_change(100, 101, Verdict::kSame);
  CHECK_FALSE(judge_samples({5, std::nullopt}, {{"unit", "span", unit}, {"decode", "span", same}}).failed);
}

TEST_CASE("gate: periods recorded differently are judged by span, transitions count as periods") {
  Change period = gate_change(100, 200, Verdict::kInconclusive);
  period.recorded_alike = false;
  period.reason = "recorded differently";
  const Change same = gate_change(100, 100, Verdict::kSame);
  const Judged by_span = judge_samples({5, std::nullopt}, {{"decode", "span", same}, {"decode", "period", period}});
  CHECK_FALSE(by_span.failed);
  CHECK(by_span.notes == "gate: decode, period: recorded differently: judged by span\n");
  const Change slower = gate_change(100, 110, Verdict::kWorse);
  CHECK(judge_samples({5, std::nullopt}, {{"decode", "span", same}, {"decode", "period to prefill", slower}}).failed);
  CHECK_FALSE(judge_samples({5, StepMetric::kBusy}, {{"decode", "busy", same}, {"decode", "period to prefill", slower}})
                  .failed);
}

TEST_CASE("gate: what is inconclusive fails where that is wanted, even below the limit") {
  const Change few = gate_change(100, 101, Verdict::kInconclusive);
  CHECK_FALSE(judge_samples({5, std::nullopt, false}, {{"decode", "span", few}}).failed);
  CHECK(judge_samples({5, std::nullopt, true}, {{"decode", "span", few}}).failed);
  CHECK(judge_samples({5, std::nullopt, true}, {}).failed);  // nothing was compared
  const Change same = gate_change(100, 101, Verdict::kSame);
  CHECK_FALSE(judge_samples({5, std::nullopt, true}, {{"decode", "span", same}}).failed);
}

TEST_CASE("gate: the outcome as a sentence and as rows") {
  const Change worse = gate_change(100, 110, Verdict::kWorse), same = gate_change(100, 101, Verdict::kSame);
  const GateResult result =
      judge_samples({5, std::nullopt}, {{"decode", "span", same}, {"decode", "period", worse}}).result;
  CHECK(to_string(result) == "gate 5 %: FAILED: decode, period: +10.00 %");
  const Report report = gate_report(result, "b.json");
  REQUIRE(report.rows.size() == 3);
  const std::size_t outcome = find_column(report.columns, "outcome").value();
  CHECK(report.rows[0][outcome] == Cell(std::string("fail")));
  CHECK(report.rows[1][outcome] == Cell(std::string("pass")));
  CHECK(report.rows[2][outcome] == Cell(std::string("fail")));
}

TEST_CASE("gate: where nothing was compared it fails, unless that was allowed") {
  const std::vector<SampleChange> span = {{"decode", "span", gate_change(1, 2, Verdict::kWorse)}};
  const Judged nothing = judge_samples({5, StepMetric::kPeriod}, span);
  CHECK(nothing.failed);
  CHECK(nothing.notes == "gate: decode, period: not known for both traces\n");
  CHECK(to_string(nothing.result) ==
        "gate 5 %: FAILED, since it could judge nothing: decode, period: not known for both traces");
  CHECK_FALSE(judge_samples({5, StepMetric::kPeriod, false, true}, span).failed);
  CHECK(judge_samples({5, std::nullopt}, {}).failed);
  CHECK_FALSE(judge_samples({5, std::nullopt, false, true}, {}).failed);
  CHECK(judge_samples({5, std::nullopt, true, true}, {}).failed);
}

}  // namespace tracedb
