#include "base/duration_text.h"
#include "query_command.h"
#include "query_run.h"
#include "report/cell_text.h"

namespace tracedb {
namespace {

constexpr std::size_t kValue = 2;
constexpr std::size_t kUnit = 3;

Cell readable(const Cell& value, const std::string& unit, TimeUnit time_unit) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  if (unit == "ns since epoch" && integer != nullptr) return moment_text(*integer);
  return fact_text(value, unit_from(unit).value_or(Unit::kAny), time_unit);
}

// People get "12.345 ms" in one column; machines get the number and, beside it, its unit.
void merge_units(Report& report, TimeUnit time_unit) {
  report.columns.resize(kUnit);
  report.columns[kValue].unit = Unit::kText;
  for (Row& row : report.rows) {
    const auto* unit = std::get_if<std::string>(&row[kUnit]);
    row[kValue] = readable(row[kValue], unit == nullptr ? "" : *unit, time_unit);
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
