#include "passes/tables/memory_groups.h"
#include "trace_query/command.h"
#include "trace_query/rules.h"
#include "trace_query/run.h"
#include "trace_query/selection.h"
#include "trace_query/steps.h"

namespace tracedb {
namespace {

TraceReport memcpys(const Index& index, const Selection& selection, const DevicePlaces* places) {
  make_memory_group_table(index, selection, places == nullptr ? nullptr : &places->steps);
  TraceReport result{run_report(index.database(), "memcpys", {}), {}};
  if (!result.report.rows.empty()) return result;
  if (!selection.empty() && index.database().query_int64("SELECT id FROM memory_op LIMIT 1")) {
    result.warnings.emplace_back("no copy or fill matches the selection");
  } else {
    result.warnings.emplace_back("the trace has no copies or fills");
  }
  return result;
}

int run(std::span<const std::string> args) {
  CommandLine line(kMemcpysCommand, {OptionGroup::kPlaces, OptionGroup::kSteps, OptionGroup::kRules, OptionGroup::kRows,
                                     OptionGroup::kOutput, OptionGroup::kExplain, OptionGroup::kInput});
  if (!line.parse(args)) return 0;
  const Selection selection = selection_of(line);
  const RulesInForce rules(line);
  Provenance provenance{
      "reports/memcpys",
      {"temp.memory_group: from columns ts, dur, kind, direction, bytes, stream_id and step_id of table "
       "memory_op (src/passes/tables/memory_groups.h)"}};
  if (selection.names_steps()) provenance.tables.push_back(steps_provenance(line));
  const auto make = [&](const Index& index) {
    const SelectedPlaces places(index, line, rules, selection);
    return with_notes(memcpys(index, selection, places.get()), places.notes());
  };
  return run_trace_reports(line, "memcpys", make, provenance);
}

}  // namespace

const Command kMemcpysCommand = {"memcpys", "copies and fills by direction: count, bytes, time, bandwidth",
                                 "memcpys [options] TRACE|INDEX...",
                                 "  trace-query memcpys trace.json.gz\n"
                                 "  trace-query memcpys trace.json.gz --phase decode --csv",
                                 run};

}  // namespace tracedb
