#include "query_command.h"
#include "query_run.h"
#include "query_selection.h"

namespace tracedb {
namespace {

std::vector<std::string> why_empty(const Index& index, const Report& report, const Parameters& selection) {
  if (!report.rows.empty()) return {};
  if (index.database().query_int64("SELECT id FROM kernel LIMIT 1") && !selection.empty()) {
    return {"no kernel matches the selection"};
  }
  return {"the trace has no kernels"};
}

TraceReport kernels(const Index& index, const Parameters& selection) {
  TraceReport result;
  result.report = run_report(index.database(), selection.empty() ? "kernels" : "kernels_selected", selection);
  result.warnings = why_empty(index, result.report, selection);
  return result;
}

int run(std::span<const std::string> args) {
  CommandLine line(kKernelsCommand,
                   {OptionGroup::kSelection, OptionGroup::kRows, OptionGroup::kOutput, OptionGroup::kInput});
  if (!line.parse(args)) return 0;
  const Parameters selection = selection_parameters(line);
  return run_trace_reports(line, "kernels", [&](const Index& index) { return kernels(index, selection); });
}

}  // namespace

const Command kKernelsCommand = {"kernels", "kernel time by name", "kernels [options] TRACE|INDEX...",
                                 "  trace-query kernels trace.json.gz --limit 10\n"
                                 "  trace-query kernels trace.json.gz --phase decode --name 'ncclDevKernel*' --csv",
                                 run};

}  // namespace tracedb
