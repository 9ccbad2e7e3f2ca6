#include "trace_query/command.h"
#include "trace_query/run.h"

namespace tracedb {
namespace {

std::string why_empty(Workload& workload) {
  const bool selected = !workload.selection().empty();
  const bool any = selected && workload.index().database().query_int64(
                                   "SELECT 1 FROM kernel WHERE kind IN ('comm', 'comm_compute') LIMIT 1");
  return any ? "no communication kernel matches the selection" : "the trace has no communication kernels";
}

int run_comms(std::span<const std::string> args) {
  CommandLine line(kCommsCommand,
                   {OptionGroup::kSelection, OptionGroup::kSteps, OptionGroup::kRules, OptionGroup::kRows,
                    OptionGroup::kOutput, OptionGroup::kExplain, OptionGroup::kInput});
  if (!line.parse(args)) return 0;
  return run_pass_reports(line,
                          {"comms", "comms", {}, {}, [](Workload& workload, TraceReport& result) {
                             result.warnings = workload.selection_notes();
                             result.warnings.emplace_back(
                                 result.report.rows.empty()
                                     ? why_empty(workload)
                                     : "times include waiting for the other ranks, so bandwidths are lower bounds");
                           }});
}

}  // namespace

const Command kCommsCommand = {"comms", "communication by collective: time, exposed time, size, bandwidth",
                               "comms [options] TRACE|INDEX...",
                               "  trace-query comms trace.json.gz\n"
                               "  trace-query comms trace.json.gz --phase decode --csv",
                               run_comms};

}  // namespace tracedb
