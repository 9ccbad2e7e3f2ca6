#include "passes/tables/comm_groups.h"
#include "trace_query/command.h"
#include "trace_query/rules.h"
#include "trace_query/run.h"
#include "trace_query/selection.h"
#include "trace_query/steps.h"

namespace tracedb {
namespace {

TraceReport comms(const Index& index, const Selection& selection, const SelectedPlaces& places) {
  make_comm_group_table(index, selection, places.get());
  TraceReport result{run_report(index.database(), "comms", {}), {}};
  if (!result.report.rows.empty()) {
    result.warnings.emplace_back("times include waiting for the other ranks, so bandwidths are lower bounds");
  } else if (!selection.empty() &&
             index.database().query_int64("SELECT 1 FROM kernel WHERE kind IN ('comm', 'comm_compute') LIMIT 1")) {
    result.warnings.emplace_back("no communication kernel matches the selection");
  } else {
    result.warnings.emplace_back("the trace has no communication kernels");
  }
  return result;
}

int run(std::span<const std::string> args) {
  CommandLine line(kCommsCommand,
                   {OptionGroup::kSelection, OptionGroup::kSteps, OptionGroup::kRules, OptionGroup::kRows,
                    OptionGroup::kOutput, OptionGroup::kExplain, OptionGroup::kInput});
  if (!line.parse(args)) return 0;
  const Selection selection = selection_of(line);
  const RulesInForce rules(line);
  Provenance provenance{
      "reports/comms",
      {"temp.comm_group: from columns ts, dur, kind, name_id, stream_id (step_id) of tables kernel and memory_op "
       "and from table collective (src/passes/tables/comm_groups.h, src/passes/time/exposed_time.h)"}};
  if (selection.op) provenance.tables.push_back(rules.provenance());
  if (selection.names_steps()) provenance.tables.push_back(steps_provenance(line));
  const auto make = [&](const Index& index) {
    const SelectedPlaces places(index, line, rules, selection);
    return with_notes(comms(index, selection, places), places.notes());
  };
  return run_trace_reports(line, "comms", make, provenance);
}

}  // namespace

const Command kCommsCommand = {"comms", "communication by collective: time, exposed time, size, bandwidth",
                               "comms [options] TRACE|INDEX...",
                               "  trace-query comms trace.json.gz\n"
                               "  trace-query comms trace.json.gz --phase decode --csv",
                               run};

}  // namespace tracedb
