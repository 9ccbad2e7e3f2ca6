#include <doctest/doctest.h>

#include <string>

#include "present/cells.h"
#include "present/gate.h"
#include "present/page_text.h"
#include "present/words.h"

namespace tracedb {
namespace {

TEST_CASE("few steps: the more frequent direction, of how many, and the median") {
  CHECK(tally_sentence(tally("layers", {1.03, 1.05, 1.041})).text == "3 of 3 layers slower, median +4.1 %");
  CHECK(tally_sentence(tally("layers", {0.9, 0.8, 1.5})).text == "2 of 3 layers faster, median -10.0 %");
  CHECK(tally_sentence(tally("operations", {0.9, 1.3})).text == "1 of 2 operations slower, 1 faster, median +10.0 %");
  CHECK(tally_sentence(tally("operations", {0.5, 1.1})).text == "1 of 2 operations slower, 1 faster, median -20.0 %");
  CHECK(tally_sentence(tally("layers", {1, 1, 1.2})).text == "2 of 3 layers the same, median +0.0 %");
  CHECK(tally_sentence(tally("layers", {1.003, 1.009, 1 / 1.009, 1.02})).text ==
        "3 of 4 layers the same, median +0.6 %");
  CHECK(tally_sentence(tally("layers", {1 / 1.02, 0.996, 1 / 1.02})).text == "2 of 3 layers faster, median -2.0 %");
  CHECK(tally_sentence(tally("layers", {1, 1})).text == "2 of 2 layers the same, median +0.0 %");
}

TEST_CASE("few steps: parts that both sides have, by their time per step") {
  GroupComparison group;
  group.baseline_units = 1;
  group.candidate_units = 2;
  const auto layer = [&](std::int32_t number, std::int64_t a, std::int64_t b) {
    LayerChange change;
    change.layer = number;
    change.baseline.time = a;
    change.candidate.time = b;
    group.layers.push_back(change);
  };
  layer(0, 100, 208);
  layer(1, 100, 208);
  layer(2, 100, 0);       // the candidate has it not
  layer(-1, 100, 10000);  // head
  OpChange op;
  op.baseline.time = 50;
  op.candidate.time = 90;
  group.ops.push_back(op);
  const std::vector<Tally> found = tallies(group);
  REQUIRE(found.size() == 2);
  CHECK(tally_sentence(found[0]).text == "2 of 2 layers slower, median +4.0 %");
  CHECK(tally_sentence(found[1]).text == "1 of 1 operations faster, median -10.0 %");
}

TEST_CASE("counts per unit are integers where they are whole, else have three decimals for people") {
  CHECK(count_cell(12, 4, true) == Cell(std::int64_t{3}));
  CHECK(count_cell(1, 3, true) == Cell(0.333));
  CHECK(count_cell(1, 3, false) == Cell(1.0 / 3));
}

TEST_CASE("shares and ratios are unknown where there is nothing to divide by") {
  CHECK(share_cell(1, 4) == Cell(25.0));
  CHECK(share_cell(1, 0) == Cell{});
  CHECK(ratio_cell(2, 3) == Cell(1.5));
  CHECK(ratio_cell(0, 3) == Cell{});
  CHECK(ratio_cell(2, 0) == Cell{});
}

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

TEST_CASE("gate: what is inconclusive passes, with a note; so is what may be slower than allowed") {
  const Judged few =
      judge_samples({5, std::nullopt}, {{"decode", "span", gate_change(100, 200, Verdict::kInconclusive)}});
  CHECK_FALSE(few.failed);
  CHECK(few.notes == "gate: decode, span: +100.00 % would exceed 5 %, but is inconclusive: 2/2 steps\n");
  CHECK(to_string(few.result) == "gate 5 %: inconclusive: decode, span: +100.00 %: 2/2 steps");
  Change noise = gate_change(100, 110, Verdict::kSame);
  noise.interval = {-5, 25};
  const Judged open = judge_samples({5, std::nullopt}, {{"decode", "span", noise}});
  CHECK_FALSE(open.failed);
  CHECK(to_string(open.result) ==
        "gate 5 %: inconclusive: decode, span: +10.00 %: the 95 % interval of the change reaches +25.00 %");
  CHECK(open.notes.ends_with(
      "would exceed 5 %, but is inconclusive: the 95 % interval of the change reaches +25.00 %\n"));
  noise.candidate.mean = 101;
  const std::vector<SampleChange> small = {{"decode", "span", noise}};
  CHECK(judge_samples({5, std::nullopt}, small).result.outcome() == GateOutcome::kInconclusive);
  CHECK(judge_samples({5, std::nullopt, true}, small).failed);
  CHECK(judge_samples({25, std::nullopt, true}, small).result.outcome() == GateOutcome::kPass);
}

TEST_CASE("gate: that rare long steps are left out is said where one side has more of them") {
  Comparison comparison;
  GroupComparison& group = comparison.groups.emplace_back();
  group.group.label = "decode";
  group.metrics[static_cast<std::size_t>(StepMetric::kSpan)] = gate_change(100, 101, Verdict::kSame);
  const auto said = [&] { return to_string(judge_by_gate({5, std::nullopt}, comparison, [](const std::string&) {})); };
  CHECK(said().find("rare") == std::string::npos);
  group.group.candidate.rare = {3};
  CHECK(
      said().starts_with("gate 5 %: passed: decode, span: +1.00 %: without rare long steps, of which the candidate "));
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

TEST_CASE("gate: transitions count as periods; what is not recorded alike, of one side or overlapping is not judged") {
  const Change same = gate_change(100, 100, Verdict::kSame), slower = gate_change(100, 110, Verdict::kWorse);
  const auto judged = [](const Change& span, const char* measure, const Change& other) {
    return judge_samples({5, std::nullopt}, {{"decode", "span", span}, {"decode", measure, other}});
  };
  CHECK(judged(same, "period to prefill", slower).failed);
  Change differently = slower, one_sided = slower, overlapping = slower;
  differently.recorded_alike = false;
  CHECK_FALSE(judged(same, "period to prefill", differently).failed);
  one_sided.candidate_steps = 0;
  CHECK(judged(same, "period", one_sided).notes == "gate: decode, period: known for one trace only: judged by span\n");
  overlapping.reason = kOverlap;
  CHECK_FALSE(judged(overlapping, "period", same).failed);
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
  CHECK(to_string(result) ==
        "gate 5 %: FAILED: decode, period: +10.00 % (one run a side: run-to-run variance is unknown)");
  const Report report = gate_report(result, "b.json");
  REQUIRE(report.rows.size() == 3);
  const std::size_t outcome = find_column(report.columns, "outcome").value();
  CHECK(report.rows[0][outcome] == Cell(std::string("fail")));
  CHECK(report.rows[1][outcome] == Cell(std::string("pass")));
  CHECK(report.rows[2][outcome] == Cell(std::string("fail")));
}

Cell text_cell(const char* of) { return std::string(of); }

std::string heads(const Report& report) {
  std::string out;
  for (const Column& column : report.columns) out += (out.empty() ? "" : "|") + column.head;
  return out;
}

Report section(std::vector<Row> rows) {
  return {{{"op", "Operation", Unit::kText}, {"baseline", "Baseline", Unit::kTime}, {"change", "Change", Unit::kTime}},
          std::move(rows)};
}

TEST_CASE("several candidates: one row for each thing, a group of columns for each candidate") {
  const Report joined =
      join_candidates(std::vector<Report>{section({{text_cell("norm"), 10.0, 1.0}, {text_cell("gemm"), 20.0, 2.0}}),
                                          section({{text_cell("gemm"), 20.0, 3.0}})});
  CHECK(heads(joined) == "Operation|Baseline|Change 1|Change 2");
  CHECK(joined.columns[3].key == "change_2");
  REQUIRE(joined.rows.size() == 2);
  CHECK(joined.rows[0] == Row{text_cell("norm"), 10.0, 1.0, Cell{}});
  CHECK(joined.rows[1] == Row{text_cell("gemm"), 20.0, 2.0, 3.0});
}

TEST_CASE("several candidates: a thing of one alone has a row, totals stay in the footer") {
  Report first = section({{text_cell("norm"), 10.0, 1.0}});
  first.footer = {{text_cell("[span]"), 10.0, 1.0}};
  Report second = section({{text_cell("sort"), 0.0, 4.0}});
  second.footer = {{text_cell("[span]"), 10.0, 4.0}};
  const Report joined = join_candidates(std::vector<Report>{first, second});
  REQUIRE(joined.rows.size() == 2);
  CHECK(joined.rows[1] == Row{text_cell("sort"), 0.0, Cell{}, 4.0});
  REQUIRE(joined.footer.size() == 1);
  CHECK(joined.footer[0] == Row{text_cell("[span]"), 10.0, 1.0, 4.0});
}

TEST_CASE("several candidates: a column that one report left out is unknown in its rows") {
  Report short_one{{{"op", "Operation", Unit::kText}, {"change", "Change", Unit::kTime}}, {{text_cell("norm"), 1.0}}};
  const Report joined = join_candidates(std::vector<Report>{short_one, section({{text_cell("norm"), 10.0, 2.0}})});
  CHECK(heads(joined) == "Operation|Baseline|Change 1|Change 2");
  CHECK(joined.rows == std::vector<Row>{{text_cell("norm"), 10.0, 1.0, 2.0}});
}

const Page kPage = {{BlockKind::kHeadline, "", "decode: H100 needs 18.9 ms a step where MI300X needs 45.1 ms."},
                    {BlockKind::kHeading, "", "Why"},
                    {BlockKind::kItem, "1.", "+1 us moe_gemm slower in 4 of 4 layers, by longer kernels"},
                    {BlockKind::kCommand, "", "trace-query compare $A $B --section kernels"}};

TEST_CASE("a page as text") {
  CHECK(page_text(kPage, 42) ==
        "decode: H100 needs 18.9 ms a step where\nMI300X needs 45.1 ms.\n"
        "\nWhy\n"
        "  1. +1 us moe_gemm slower in 4 of 4\n     layers, by longer kernels\n"
        "  trace-query compare $A $B --section \\\n    kernels\n");
}

TEST_CASE("a page as Markdown") {
  CHECK(page_markdown(kPage) ==
        "## decode: H100 needs 18.9 ms a step where MI300X needs 45.1 ms.\n"
        "\n### Why\n\n"
        "1. +1 us moe\\_gemm slower in 4 of 4 layers, by longer kernels\n"
        "   ```\n   trace-query compare $A $B --section kernels\n   ```\n");
}

TEST_CASE("a long path is broken so that a shell joins it") {
  const std::string path = "A=/a/very/long/path/to/some/trace/of/a/server.json.gz";
  std::string text = page_text({{BlockKind::kCommand, "", path}}, 40);
  CHECK(text.find('\\') <= 40);
  for (std::size_t at = text.find("\\\n"); at != std::string::npos; at = text.find("\\\n")) text.erase(at, 2);
  CHECK(text == "  " + path + "\n");
}

TEST_CASE("words of a shell") {
  CHECK(shell_word("/a/b-1.json.gz") == "/a/b-1.json.gz");
  CHECK(shell_word("my trace.json") == "'my trace.json'");
  CHECK(shell_word("it's") == "'it'\\''s'");
  CHECK(shell_word("") == "''");
}

TEST_CASE("names of the sides") {
  const auto names = [](const char* a, const char* b, const char* first, const char* second) {
    const SideNames found = side_names(a, b, first, second);
    return found.baseline + ", " + found.candidate;
  };
  CHECK(names("AMD Instinct MI300X VF", "NVIDIA H100 80GB HBM3", "a.json", "b.json") == "MI300X, H100");
  CHECK(names("8 x NVIDIA B200", "8 x NVIDIA B300 SXM6 AC", "a", "b") == "B200, B300");
  CHECK(names("Tesla V100-SXM2-32GB", "NVIDIA A100-SXM4-40GB", "a", "b") == "V100, A100");
  // One device: what differs in the names of the files.
  CHECK(names("H100", "H100", "worker0.pt.trace.json", "worker1.pt.trace.json.gz") == "worker0, worker1");
  CHECK(names("H100", "H100", "run_monday_rank0.json", "run_tuesday_rank0.json") == "monday, tuesday");
  CHECK(names("H100", "H100", "no_rank.json", "no_distributed_info.json") == "no_rank, no_distributed_info");
  CHECK(names("H100", "H100", "a.json", "b.json") == "the baseline, the candidate");
  CHECK(names("", "", "same.json", "same.json") == "the baseline, the candidate");
  CHECK(names("", "", "server.json", "server_2.json") == "server, server_2");
}

}  // namespace
}  // namespace tracedb
