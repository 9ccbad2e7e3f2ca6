#include "query_command.h"
#include "query_run.h"

namespace tracedb {
namespace {

TraceReport memcpys(const Index& index) {
  TraceReport result{run_report(index.database(), "memcpys", {}), {}};
  if (result.report.rows.empty()) result.warnings.emplace_back("the trace has no copies or fills");
  return result;
}

int run(std::span<const std::string> args) {
  CommandLine line(kMemcpysCommand, {OptionGroup::kRows, OptionGroup::kOutput, OptionGroup::kInput});
  if (!line.parse(args)) return 0;
  return run_trace_reports(line, "memcpys", memcpys);
}

}  // namespace

const Command kMemcpysCommand = {"memcpys", "copies and fills by direction: count, bytes, time, bandwidth",
                                 "memcpys [options] TRACE|INDEX...", "  trace-query memcpys trace.json.gz", run};

}  // namespace tracedb
