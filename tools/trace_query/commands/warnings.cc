#include "trace_query/command.h"
#include "trace_query/run.h"

namespace tracedb {
namespace {

int run_warnings(std::span<const std::string> args) {
  CommandLine line(kWarningsCommand, {OptionGroup::kSteps, OptionGroup::kRules, OptionGroup::kRows,
                                      OptionGroup::kOutput, OptionGroup::kExplain, OptionGroup::kInput});
  if (!line.parse(args)) return 0;
  return run_pass_reports(line, {"warnings", "warnings", {}, {}, [](Workload& workload, TraceReport& result) {
                                   result.warnings = workload.steps().notes;
                                   if (result.report.rows.empty()) result.warnings.emplace_back("nothing to warn of");
                                 }});
}

}  // namespace

const Command kWarningsCommand = {
    "warnings", "what makes answers about this trace less certain, how much it affects, what to do",
    "warnings [options] TRACE|INDEX...", "  trace-query warnings trace.json.gz", run_warnings};

}  // namespace tracedb
