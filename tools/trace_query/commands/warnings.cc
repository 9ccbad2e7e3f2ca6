#include "passes/tables/coverage.h"
#include "trace_query/command.h"
#include "trace_query/run.h"
#include "trace_query/steps.h"

namespace tracedb {
namespace {

int run(std::span<const std::string> args) {
  CommandLine line(kWarningsCommand, {OptionGroup::kSteps, OptionGroup::kRules, OptionGroup::kRows,
                                      OptionGroup::kOutput, OptionGroup::kExplain, OptionGroup::kInput});
  if (!line.parse(args)) return 0;
  const RulesInForce rules(line);
  const Provenance provenance{
      "reports/warnings",
      {rules.provenance(), steps_provenance(line),
       "temp.measure: shares of the kernel time that lack something (src/passes/tables/coverage.h)"}};
  const auto make = [&](const Index& index) {
    const LoadedSteps loaded = load_steps(index, line, rules, true);
    const LayerSet layers = find_layers(index, loaded.events, loaded.set, loaded.traits);
    make_measure_table(index, loaded.events, loaded.set, layers.of_kernel);
    TraceReport result{run_report(index.database(), "warnings", {}), loaded.set.notes};
    if (result.report.rows.empty()) result.warnings.emplace_back("nothing to warn of");
    return result;
  };
  return run_trace_reports(line, "warnings", make, provenance);
}

}  // namespace

const Command kWarningsCommand = {"warnings",
                                  "what makes answers about this trace less certain, how much it affects, what to do",
                                  "warnings [options] TRACE|INDEX...", "  trace-query warnings trace.json.gz", run};

}  // namespace tracedb
