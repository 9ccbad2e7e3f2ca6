#include <algorithm>

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
  return run_pass_reports(
      line,
      {"comms", "comms", {}, {}, [](Workload& workload, TraceReport& result) {
         result.warnings = workload.selection_notes();
         const auto& rows = result.report.rows;
         const std::size_t rate = find_column(result.report.columns, "alg_gb_per_s").value();
         const bool rated = std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
           return !std::holds_alternative<std::monostate>(row[rate]);
         });
         result.warnings.push_back(rows.empty() ? why_empty(workload)
                                   : rated ? "times include waiting for the other ranks, so bandwidths are lower bounds"
                                           : "times include waiting for the other ranks");
       }});
}

}  // namespace

const Command kCommsCommand = {"comms", "communication by collective: time, exposed time, size, bandwidth",
                               "comms [options] TRACE|INDEX...",
                               "  trace-query comms trace.json.gz\n"
                               "  trace-query comms trace.json.gz --phase decode --csv",
                               run_comms};

}  // namespace tracedb
