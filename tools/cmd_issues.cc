#include "query_command.h"
#include "query_run.h"

namespace tracedb {
namespace {

TraceReport issues(const Index& index) {
  TraceReport result{run_report(index.database(), "issues", {}), {}};
  if (result.report.rows.empty()) result.warnings.emplace_back("nothing was wrong with the trace");
  return result;
}

int run(std::span<const std::string> args) {
  CommandLine line(kIssuesCommand, {OptionGroup::kRows, OptionGroup::kOutput, OptionGroup::kInput});
  if (!line.parse(args)) return 0;
  return run_trace_reports(line, "issues", issues);
}

}  // namespace

const Command kIssuesCommand = {"issues", "what was wrong with the trace, counted", "issues [options] TRACE|INDEX...",
                                "  trace-query issues trace.json.gz", run};

}  // namespace tracedb
