#include "query_run.h"

namespace tracedb {

int run_trace_reports(const CommandLine& line, const std::string& name,
                      const std::function<TraceReport(const Index&)>& make) {
  Output output(line);
  for (const std::string& input : line.inputs()) {
    const OpenedTrace trace = open_trace(input, line);
    TraceReport result = make(trace.index);
    result.warnings.insert(result.warnings.begin(), trace.notes.begin(), trace.notes.end());
    output.add(name, {input, std::move(result.report), std::move(result.warnings)});
  }
  output.finish();
  return 0;
}

}  // namespace tracedb
