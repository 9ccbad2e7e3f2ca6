#include "query_command.h"
#include "query_run.h"
#include "report/cell_text.h"

namespace tracedb {
namespace {

constexpr std::size_t kValue = 2;
constexpr std::size_t kUnit = 3;

// People get "12.345 ms" in one column; machines get the number and, beside it, its unit.
void merge_units(Report& report, TimeUnit time_unit) {
  report.columns.resize(kUnit);
  report.columns[kValue].unit = Unit::kText;
  for (Row& row : report.rows) {
    const auto* unit = std::get_if<std::string>(&row[kUnit]);
    const Unit known = unit == nullptr ? Unit::kAny : unit_from(*unit).value_or(Unit::kAny);
    row[kValue] = fact_text(row[kValue], known, time_unit);
    row.resize(kUnit);
  }
}

int run(std::span<const std::string> args) {
  CommandLine line(kInfoCommand, {OptionGroup::kOutput, OptionGroup::kInput});
  if (!line.parse(args)) return 0;
  const bool people = line.renderer().audience == Audience::kPeople;
  return run_trace_reports(line, "info", [&](const Index& index) {
    TraceReport result{run_report(index.database(), "info", {}), {}};
    if (people) merge_units(result.report, line.time_unit());
    if (!index.database().query_int64("SELECT id FROM kernel LIMIT 1")) {
      result.warnings.emplace_back("the trace has no kernels: no device time, no coverage");
    }
    return result;
  });
}

}  // namespace

const Command kInfoCommand = {"info", "what this trace is: devices, ranks, events, steps, coverage, issues",
                              "info [options] TRACE|INDEX...", "  trace-query info trace.json.gz", run};

}  // namespace tracedb
