#include "trace_query/command.h"
#include "trace_query/run.h"

namespace tracedb {
namespace {

int run_memcpys(std::span<const std::string> args) {
  CommandLine line(kMemcpysCommand, {OptionGroup::kPlaces, OptionGroup::kSteps, OptionGroup::kRules, OptionGroup::kRows,
                                     OptionGroup::kOutput, OptionGroup::kExplain, OptionGroup::kInput});
  if (!line.parse(args)) return 0;
  return run_pass_reports(line, {"memcpys", "memcpys", {}, {}, [](Workload& workload, TraceReport& result) {
                                   result.warnings = workload.selection_notes();
                                   if (!result.report.rows.empty()) return;
                                   const bool any =
                                       !workload.selection().empty() &&
                                       workload.index().database().query_int64("SELECT id FROM memory_op LIMIT 1");
                                   result.warnings.emplace_back(any ? "no copy or fill matches the selection"
                                                                    : "the trace has no copies or fills");
                                 }});
}

}  // namespace

const Command kMemcpysCommand = {"memcpys", "copies and fills by direction: count, bytes, time, bandwidth",
                                 "memcpys [options] TRACE|INDEX...",
                                 "  trace-query memcpys trace.json.gz\n"
                                 "  trace-query memcpys trace.json.gz --phase decode --csv",
                                 run_memcpys};

}  // namespace tracedb
