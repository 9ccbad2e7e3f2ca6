#include "trace_query/command.h"
#include "trace_query/run.h"

namespace tracedb {
namespace {

int run_launches(std::span<const std::string> args) {
  CommandLine line(kLaunchesCommand,
                   {OptionGroup::kSelection, OptionGroup::kSteps, OptionGroup::kRules, OptionGroup::kRows,
                    OptionGroup::kOutput, OptionGroup::kExplain, OptionGroup::kInput});
  if (!line.parse(args)) return 0;
  return run_pass_reports(
      line, {"launches", "launches", {}, {}, [](Workload& workload, TraceReport& result) {
               result.warnings = workload.selection_notes();
               if (!result.report.rows.empty()) return;
               const bool kernels = has_kernels(workload.index()) && !workload.selection().empty();
               result.warnings.emplace_back(kernels ? "no kernel matches the selection"
                                                    : "the trace has neither kernels nor calls that launch some");
             }});
}

}  // namespace

const Command kLaunchesCommand = {"launches", "calls that launch kernels, by name: time in the call, delay, queueing",
                                  "launches [options] TRACE|INDEX...",
                                  "  trace-query launches trace.json.gz\n"
                                  "  trace-query launches trace.json.gz --phase decode --csv",
                                  run_launches};

}  // namespace tracedb
