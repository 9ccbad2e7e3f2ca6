#include <fmt/format.h>

#include <algorithm>

#include "trace_query/command.h"
#include "trace_query/run.h"

namespace tracedb {
namespace {

constexpr auto kGroups = {OptionGroup::kSteps,  OptionGroup::kRules,   OptionGroup::kRows,
                          OptionGroup::kOutput, OptionGroup::kExplain, OptionGroup::kInput};

void explain_empty(const CommandLine& line, Workload& workload, TraceReport& result) {
  result.warnings = workload.steps().notes;
  if (!result.report.rows.empty()) return;
  if (workload.steps().steps.empty() && !has_kernels(workload.index())) {
    result.warnings.emplace_back("the trace has no kernels");
  } else if (line.has("steady")) {
    result.warnings.emplace_back("no step gives its number of decode requests: steady state is unknown");
  }
}

// People see the clock of a period where it is not the usual one.
void drop_usual_clock(const CommandLine& line, Report& report) {
  if (line.renderer().audience != Audience::kHuman || line.has("columns")) return;
  const auto is_host = [place = find_column(report.columns, "period_on")](const Row& row) {
    return place && row[*place] == Cell("host");
  };
  if (std::none_of(report.rows.begin(), report.rows.end(), is_host)) remove_column(report, "period_on");
}

void add_steady_note(Workload& workload, std::vector<std::string>& notes) {
  Statement steady(workload.index().database(), "SELECT min(step), max(step) FROM temp.step_figures WHERE steady = 1");
  if (!steady.step() || steady.is_null(0) || steady.int64(0) == steady.int64(1)) return;
  notes.push_back(fmt::format("steady state: steps {} to {} of {}", steady.int64(0), steady.int64(1),
                              workload.steps().steps.size()));
}

int run_steps(std::span<const std::string> args) {
  CommandLine line(kStepsCommand, kGroups);
  add_steady(line);
  if (!line.parse(args)) return 0;
  const Parameters parameters = {{"steady", std::int64_t{line.has("steady")}}};
  return run_pass_reports(line, {"steps", "steps", {}, parameters, [&](Workload& workload, TraceReport& result) {
                                   explain_empty(line, workload, result);
                                   drop_usual_clock(line, result.report);
                                   add_steady_note(workload, result.warnings);
                                 }});
}

int run_phases(std::span<const std::string> args) {
  CommandLine line(kPhasesCommand, kGroups);
  add_steady(line);
  if (!line.parse(args)) return 0;
  return run_pass_reports(
      line, {"phases", "phases", requested_pass_options(line), {}, [&](Workload& workload, TraceReport& result) {
               explain_empty(line, workload, result);
               drop_usual_clock(line, result.report);
             }});
}

}  // namespace

const Command kStepsCommand = {
    "steps", "the steps of the workload: kind, requests, tokens, time on host and device",
    "steps [options] TRACE|INDEX...",
    "  trace-query steps trace.json.gz\n"
    "  trace-query steps trace.json.gz --steady --csv\n"
    "  trace-query steps trace.json.gz --step-regex '^iter_(?<kind>[a-z]+)_(?<context>[0-9]+)'",
    run_steps};

const Command kPhasesCommand = {"phases", "steps by kind: prefill, decode, mixed, train, ...",
                                "phases [options] TRACE|INDEX...", "  trace-query phases trace.json.gz", run_phases};

}  // namespace tracedb
