#include "present/sections.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "base/unknown.h"
#include "passes/classify/rule_set.h"
#include "support/ingested.h"

namespace tracedb {
namespace {

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

}  // namespace

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

}  // namespace tracedb
