#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "base/error.h"
#include "base/unknown.h"
#include "passes/classify/rule_set.h"
#include "present/baseline_file.h"
#include "present/cells.h"
#include "present/gate.h"
#include "present/join.h"
#include "present/page_text.h"
#include "present/sections.h"
#include "present/side_names.h"
#include "support/ingested.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

StepSamples made_samples() {
  KindSamples kind{"decode", 2, 8, 16, {1, 30, 4, 200}, {}};
  for (const char* metric : {"span", "busy", "kernel_time"}) kind.samples[metric] = {90, 100};
  kind.samples["period"] = {110};
  kind.samples["op norm"] = {7};
  return {"a.json \"quoted\"", "1 x device", Recording{true, false}, {kind}};
}

std::string read_failure(const TempDirectory& directory, const std::string& text) {
  Database database(":memory:", Database::Mode::kMemory);
  try {
    read_baseline_file(database, directory.write("bad.json", text));
  } catch (const Error& error) {
    return error.what();
  }
  return "read";
}

TEST_CASE("a baseline file has everything back") {
  const TempDirectory directory;
  Database database(":memory:", Database::Mode::kMemory);
  const StepSamples made = made_samples();
  const StepSamples read = read_baseline_file(database, directory.write("baseline.json", to_json(made)));
  CHECK(read.trace == made.trace);
  CHECK(read.devices == made.devices);
  CHECK(read.recording == made.recording);
  REQUIRE(read.kinds.size() == 1);
  CHECK(read.kinds[0].steps == 2);
  CHECK(read.kinds[0].tokens == 16);
  CHECK(read.kinds[0].waits.waiting == 30);
  CHECK(read.kinds[0].samples == made.kinds[0].samples);
}

TEST_CASE("a file that is none, or does not fit together, is refused with what to do") {
  const TempDirectory directory;
  CHECK(read_failure(directory, "{}").ends_with("make one with trace-query compare TRACE --save-baseline FILE"));
  CHECK(read_failure(directory, "no").find("not JSON") != std::string::npos);
  StepSamples samples = made_samples();
  samples.kinds[0].steps = 3;
  CHECK(read_failure(directory, to_json(samples)).find("not one value for each step") != std::string::npos);
  samples = made_samples();
  samples.kinds[0].samples["op norm"] = {-7};
  CHECK(read_failure(directory, to_json(samples)).find("a time below 0") != std::string::npos);
}

Change change_of(double baseline, double candidate, Verdict verdict) {
  Change change;
  change.baseline.mean = baseline;
  change.candidate.mean = candidate;
  change.baseline_steps = change.candidate_steps = 8;
  change.verdict = verdict;
  return change;
}

std::string keys(const Report& report) {
  std::string text;
  for (const Column& column : report.columns) text += (text.empty() ? "" : " ") + column.key;
  return text;
}

Cell text(const char* of) { return std::string(of); }

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

TEST_CASE("verdicts carry a mark for people, by what got worse") {
  CHECK(marked("worse", 1) == "▲ worse");
  CHECK(marked("better", -1) == "▼ better");
  CHECK(marked("new", 1) == "▲ new");
  CHECK(marked("gone", -1) == "▼ gone");
  CHECK(marked("same", 1) == "same");
  CHECK(verdict_text(change_of(1, 2, Verdict::kWorse), true) == "▲ worse");
  CHECK(verdict_text(change_of(1, 2, Verdict::kWorse), false) == "worse");
  Change few = change_of(1, 2, Verdict::kInconclusive);
  few.reason = "3/4 steps";
  CHECK(verdict_text(few, true) == "inconclusive: 3/4 steps");
  Change bound = change_of(2, 1, Verdict::kBetter);
  bound.caveat = "both bound by the recording host";
  CHECK(verdict_text(bound, true) == "▼ better: both bound by the recording host");
  CHECK(verdict_text(bound, false) == "better");
}

TEST_CASE("a row has a cell for each declared column, in its order") {
  const Change change = change_of(100, 150, Verdict::kWorse);
  const Row row = row_of(measured_change_fields(), {"decode", "span", change, false});
  CHECK(row == Row{text("decode"), text("span"), std::int64_t{8}, std::int64_t{8}, 100.0, 150.0, 50.0, 1.5, 0.0, 0.0,
                   text("worse")});
  CHECK(row.size() == columns_of(measured_change_fields()).size());
}

TEST_CASE("columns without anything are left out, footers included") {
  Report report{{{"phase", "Phase", Unit::kText}, {"layer", "Layer", Unit::kText}, {"item", "Item", Unit::kText}},
                {{text("decode"), Cell{}, text("")}}};
  report.footer = {{text("decode"), Cell{}, text("[span]")}};
  drop_empty_columns(report, {"layer", "item"});
  CHECK(keys(report) == "phase item");
  CHECK(report.rows[0].size() == 2);
  CHECK(report.footer[0][1] == text("[span]"));
}

TEST_CASE("verdicts and intervals are left out of a table where no row has a verdict") {
  const std::vector<Column> columns = {{"op", "Operation", Unit::kText},
                                       {"low", "95 % from", Unit::kTime},
                                       {"high", "to", Unit::kTime},
                                       {"verdict", "Verdict", Unit::kText}};
  Report few{columns, {{text("norm"), 1.0, 2.0, text("inconclusive")}, {text("sort"), 1.0, 2.0, text("▲ new")}}};
  drop_inconclusive_columns(few);
  CHECK(keys(few) == "op verdict");
  CHECK(few.rows[0][1] == Cell{});
  CHECK(few.rows[1][1] == text("▲ new"));
  Report enough{columns, {{text("norm"), 1.0, 2.0, text("inconclusive")}, {text("sort"), 1.0, 2.0, text("same")}}};
  drop_inconclusive_columns(enough);
  CHECK(keys(enough) == "op low high verdict");
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
  CHECK(names("H100", "H100", "a.json", "b.json") == "the baseline, the candidate");
  CHECK(names("", "", "same.json", "same.json") == "the baseline, the candidate");
  CHECK(names("", "", "server.json", "server_2.json") == "server, server_2");
}

// Six decode steps of 100 us: a product, and either an addition and a norm or one kernel for both.
std::string serving_trace(bool fused) {
  std::string events;
  for (int step = 0; step < 6; ++step) {
    const int begin = 1000 + 100 * step;
    const auto at = [&](int offset) { return std::to_string(begin + offset); };
    events += event("user_annotation", "execute_context_0(0)_generation_4(4)", kMainThread, at(0), "90");
    const std::string launch = std::to_string(10 * step);
    const auto kernel = [&](const char* name, int offset, const char* dur, int number) {
      const std::string correlation = "\"correlation\":" + std::to_string(10 * step + number);
      events += event("cuda_runtime", "cudaLaunchKernel", kMainThread, at(offset), "1", correlation);
      events += event("kernel", name, kGpuStream, at(offset + 2), dur, correlation);
    };
    kernel("nvjet_tst_64x8_64x16_1x4_h_bz_TNT", 5, "20", 1);
    if (fused) {
      kernel("void flashinfer::norm::FusedAddRMSNormKernel<8u>(float*)", 40, "12", 2);
    } else {
      kernel("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >(int)", 40, "8", 2);
      kernel("void flashinfer::norm::RMSNormKernel<8u>(float*)", 60, "10", 3);
    }
  }
  return trace_of(events);
}

class Pair {
 public:
  Pair() {
    const RuleSet rules = load_rules("default");
    std::vector<TraceSource> sources;
    sources.push_back({first_, "a.json"});
    sources.push_back({second_, "b.json"});
    loaded_ = load_traces(sources, {}, rules);
    comparison_ = compare_traces(loaded_.traces[0], loaded_.traces[1], loaded_.kernel_names, {});
  }
  [[nodiscard]] SectionInput input(LedgerBy by = LedgerBy::kOp, bool human_readable = false) const {
    return {comparison_, loaded_.traces[0], loaded_.traces[1], loaded_.kernel_names, loaded_.configs,
            by,          human_readable};
  }
  [[nodiscard]] const ComparedTraces& loaded() const { return loaded_; }

 private:
  Ingested baseline_{serving_trace(false)}, candidate_{serving_trace(true)};
  Index first_ = Index::open(baseline_.directory() / "index"), second_ = Index::open(candidate_.directory() / "index");
  ComparedTraces loaded_;
  Comparison comparison_;
};

Report make(std::string_view name, const SectionInput& input) {
  const auto all = compare_sections();
  return std::find_if(all.begin(), all.end(), [&](const Section& section) { return section.name == name; })
      ->make(input);
}

Cell at(const Report& report, const Row& row, std::string_view key) {
  return row[find_column(report.columns, key).value()];
}

const Row& row_with(const Report& report, std::string_view key, const char* wanted) {
  for (const std::vector<Row>* rows : {&report.rows, &report.footer}) {
    for (const Row& row : *rows) {
      if (at(report, row, key) == Cell(std::string(wanted))) return row;
    }
  }
  FAIL("no row ", wanted);
  return report.rows.front();
}

TEST_CASE("traces are loaded whole: device steps, periods, and one numbering of names") {
  const Pair pair;
  const ComparedTrace& trace = pair.loaded().traces[0];
  CHECK(trace.description.label == "a.json");
  REQUIRE(trace.work.steps.size() == 6);
  CHECK(trace.work.steps[0].kernel_time == 38'000);
  CHECK(trace.work.steps[0].idle == trace.work.steps[0].span - 38'000);
  CHECK(trace.periods.within_kind[0] == 100'000);
  CHECK(trace.periods.within_kind[5] == kUnknownValue);
  CHECK(trace.name(1) == pair.loaded().traces[1].name(1));  // the product, which both have
}

TEST_CASE("every section declares what its columns mean, and its rows have a cell for each") {
  const Pair pair;
  for (const Section& section : compare_sections()) {
    CAPTURE(section.name);
    std::set<std::string> keys;
    for (const Column& column : section.columns()) {
      CHECK_FALSE(column.meaning.empty());
      CHECK(keys.insert(column.key).second);
    }
    for (const bool human_readable : {false, true}) {
      const Report report = section.make(pair.input(LedgerBy::kLayerOp, human_readable));
      for (const Column& column : report.columns) CHECK(keys.contains(column.key));
      for (const Row& row : report.rows) CHECK(row.size() == report.columns.size());
      for (const Row& row : report.footer) CHECK(row.size() == report.columns.size());
    }
  }
}

TEST_CASE("ledger: a fusion is a row, and the rows add up to the totals") {
  const Pair pair;
  const Report ledger = make("ledger", pair.input());
  CHECK(at(ledger, row_with(ledger, "item", "[fusion: elementwise+norm]"), "change") == Cell(std::int64_t{-6000}));
  CHECK_FALSE(find_column(ledger.columns, "layer"));
  std::int64_t sum = 0;
  for (const Row& row : ledger.rows) sum += std::get<std::int64_t>(at(ledger, row, "change"));
  CHECK(Cell(sum) == at(ledger, row_with(ledger, "item", "[period]"), "change"));
  const Report by_kernel = make("ledger", pair.input(LedgerBy::kKernel, true));
  CHECK(at(by_kernel, row_with(by_kernel, "item", "dense_gemm"), "kernel") ==
        Cell(std::string("nvjet_tst_64x8_64x16_1x4_h_bz_TNT")));
}

TEST_CASE("fusion and alignment: the fused kernel, its parts, and what became of each") {
  const Pair pair;
  const Report fusion = make("fusion", pair.input(LedgerBy::kOp, true));
  REQUIRE(fusion.rows.size() == 1);
  CHECK(at(fusion, fusion.rows[0], "fused_by") == Cell(std::string("candidate")));
  CHECK(at(fusion, fusion.rows[0], "saving") == Cell(6000.0));
  CHECK(at(fusion, fusion.rows[0], "part_kernels") ==
        Cell(std::string("at::native::vectorized_elementwise_kernel + flashinfer::norm::RMSNormKernel")));
  const Report alignment = make("alignment", pair.input());
  CHECK(at(alignment, alignment.rows[0], "status") == Cell(std::string("same kernel")));
  CHECK(at(alignment, row_with(alignment, "op", "elementwise"), "status") == Cell(std::string("fused")));
}

TEST_CASE("operations and kernels: what is new and gone, marked for people only") {
  const Pair pair;
  const Report operations = make("operations", pair.input());
  CHECK(at(operations, row_with(operations, "op", "elementwise"), "verdict") == Cell(std::string("gone")));
  CHECK(at(operations, row_with(operations, "op", "dense_gemm"), "change") == Cell(0.0));
  const Report marked = make("operations", pair.input(LedgerBy::kOp, true));
  CHECK(at(marked, row_with(marked, "op", "elementwise"), "verdict") == Cell(std::string("▼ gone")));
  const Report kernels = make("kernels", pair.input());
  CHECK(at(kernels, row_with(kernels, "op", "dense_gemm"), "status") == Cell(std::string("same kernel")));
  CHECK(at(kernels, row_with(kernels, "op", "elementwise"), "status") == Cell(std::string("fused")));
}

TEST_CASE("summary: the change stands before the verdict for people, as a percentage for machines") {
  const Pair pair;
  const Report machine = make("summary", pair.input());
  CHECK(at(machine, row_with(machine, "item", "decode: period"), "change_pct") == Cell(0.0));
  CHECK(at(machine, row_with(machine, "item", "decode: steps"), "baseline") == Cell(std::string("5")));
  CHECK(machine.whole);
  const Report human = make("summary", pair.input(LedgerBy::kOp, true));
  CHECK(human.columns[3].key == "change_pct");
  CHECK(at(human, row_with(human, "item", "decode: period"), "change_pct") == Cell(std::string("+0.0 %")));
}

}  // namespace
}  // namespace tracedb
