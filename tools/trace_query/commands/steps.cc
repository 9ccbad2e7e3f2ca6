#include "trace_query/steps.h"

#include <fmt/format.h>

#include "passes/tables/step_tables.h"
#include "trace_query/command.h"
#include "trace_query/run.h"

namespace tracedb {
namespace {

constexpr auto kGroups = {OptionGroup::kSteps,  OptionGroup::kRules,   OptionGroup::kRows,
                          OptionGroup::kOutput, OptionGroup::kExplain, OptionGroup::kInput};

void add_steady(CommandLine& line) {
  line.add("steady", OptionKind::kFlag,
           "only the longest run of steps whose decode batch is within 5 % of the largest");
}

StepChoice choice_of(const CommandLine& line) { return line.has("steady") ? StepChoice::kSteady : StepChoice::kAll; }

void explain_empty(const CommandLine& line, const LoadedSteps& loaded, TraceReport& result) {
  result.warnings = loaded.set.notes;
  if (!result.report.rows.empty()) return;
  if (loaded.events.kernels.size() == 0 && loaded.set.steps.empty()) {
    result.warnings.emplace_back("the trace has no kernels");
  } else if (line.has("steady")) {
    result.warnings.emplace_back("no step gives its number of decode requests: steady state is unknown");
  }
}

int run_steps(std::span<const std::string> args) {
  CommandLine line(kStepsCommand, kGroups);
  add_steady(line);
  if (!line.parse(args)) return 0;
  const RulesInForce rules(line);
  const Provenance provenance{"reports/steps",
                              {steps_provenance(line), "temp.step_row: see src/passes/tables/step_tables.h"}};
  const auto make = [&](const Index& index) {
    const LoadedSteps loaded = load_steps(index, line, rules);
    const SteadyNote steady = make_step_table(index, loaded.set, loaded.events, choice_of(line));
    TraceReport result{run_report(index.database(), "steps", {}), {}};
    explain_empty(line, loaded, result);
    if (steady.last - steady.first > 1) {
      result.warnings.push_back(
          fmt::format("steady state: steps {} to {} of {}", steady.first, steady.last - 1, loaded.set.steps.size()));
    }
    return result;
  };
  return run_trace_reports(line, "steps", make, provenance);
}

int run_phases(std::span<const std::string> args) {
  CommandLine line(kPhasesCommand, kGroups);
  add_steady(line);
  if (!line.parse(args)) return 0;
  const RulesInForce rules(line);
  const Provenance provenance{"reports/phases",
                              {steps_provenance(line), "temp.phase_row: see src/passes/tables/step_tables.h"}};
  const auto make = [&](const Index& index) {
    const LoadedSteps loaded = load_steps(index, line, rules);
    const std::int64_t busy = make_phase_table(index, loaded.set, loaded.events, choice_of(line));
    TraceReport result{run_report(index.database(), "phases", {{"busy", busy}}), {}};
    explain_empty(line, loaded, result);
    return result;
  };
  return run_trace_reports(line, "phases", make, provenance);
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
