#include "passes/tables/launch_groups.h"
#include "trace_query/command.h"
#include "trace_query/rules.h"
#include "trace_query/run.h"
#include "trace_query/selection.h"
#include "trace_query/steps.h"

namespace tracedb {
namespace {

std::vector<std::string> why_empty(const Index& index, const Selection& selection) {
  if (index.database().query_int64("SELECT id FROM kernel LIMIT 1") && !selection.empty()) {
    return {"no kernel matches the selection"};
  }
  return {"the trace has neither kernels nor calls that launch some"};
}

TraceReport launches(const Index& index, const Selection& selection, const SelectedPlaces& places) {
  make_launch_group_table(index, selection, places.get());
  TraceReport result{run_report(index.database(), "launches", {}), {}};
  if (result.report.rows.empty()) result.warnings = why_empty(index, selection);
  return result;
}

int run(std::span<const std::string> args) {
  CommandLine line(kLaunchesCommand,
                   {OptionGroup::kSelection, OptionGroup::kSteps, OptionGroup::kRules, OptionGroup::kRows,
                    OptionGroup::kOutput, OptionGroup::kExplain, OptionGroup::kInput});
  if (!line.parse(args)) return 0;
  const Selection selection = selection_of(line);
  const RulesInForce rules(line);
  Provenance provenance{
      "reports/launches",
      {"temp.launch_group: from columns ts, dur, stream_id, launch_id (name_id, step_id) of tables kernel and "
       "memory_op and ts, dur, name_id, kind of runtime_call (src/passes/time/launch_stats.h)"}};
  if (selection.op) provenance.tables.push_back(rules.provenance());
  if (selection.names_steps()) provenance.tables.push_back(steps_provenance(line));
  const auto make = [&](const Index& index) {
    const SelectedPlaces places(index, line, rules, selection);
    return with_notes(launches(index, selection, places), places.notes());
  };
  return run_trace_reports(line, "launches", make, provenance);
}

}  // namespace

const Command kLaunchesCommand = {"launches", "calls that launch kernels, by name: time in the call, delay, queueing",
                                  "launches [options] TRACE|INDEX...",
                                  "  trace-query launches trace.json.gz\n"
                                  "  trace-query launches trace.json.gz --phase decode --csv",
                                  run};

}  // namespace tracedb
