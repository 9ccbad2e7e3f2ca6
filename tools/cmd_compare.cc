#include <fmt/format.h>

#include "base/error.h"
#include "compare_wafer.h"
#include "query_command.h"

namespace tracedb {
namespace {

int run(std::span<const std::string> args) {
  CommandLine line(kCompareCommand, {OptionGroup::kOutput, OptionGroup::kInput});
  line.add("method", OptionKind::kValue, "wafer: what the tool wafer 0.1.28 says, as a cross-check");
  line.add("section", OptionKind::kList,
           "only this section: summary, operations, layers, alignment, fusion, same-kernels, warnings");
  line.add("phase", OptionKind::kValue, "operations and layers of all kernels, prefill or decode (default: all)");
  line.add("limit", OptionKind::kValue,
           "first N rows of each table, the rest in one [others] row; 0: all (default: 30 for a table on standard "
           "output, else 0)");
  if (!line.parse(args)) return 0;
  const std::string method = line.text("method").value_or("sequence");
  if (method != "wafer") {
    throw Error(ErrorCode::kUsage, fmt::format("--method {}: there is only wafer; say --method wafer", method));
  }
  return run_wafer_comparison(line);
}

}  // namespace

const Command kCompareCommand = {"compare", "two traces, kernel by kernel",
                                 "compare --method wafer [options] BASELINE CANDIDATE",
                                 "  trace-query compare --method wafer mi300x.json h100.json", run};

}  // namespace tracedb
