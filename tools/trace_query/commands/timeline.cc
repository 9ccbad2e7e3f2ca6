#include <fmt/format.h>

#include <algorithm>

#include "passes/tables/timeline_tables.h"
#include "trace_query/command.h"
#include "trace_query/rules.h"
#include "trace_query/run.h"
#include "trace_query/selection.h"
#include "trace_query/steps.h"

namespace tracedb {
namespace {

// The options of both commands.
struct Asked {
  Selection selection;
  LaneBy by = LaneBy::kDevice;
  TimelineOptions options;
};

void add_options(CommandLine& line) {
  line.add("per-stream", OptionKind::kFlag, "a row for each stream instead of each device");
  line.add("kernel-wait", OptionKind::kValue,
           "gaps below this time before work that was already launched are kernel_wait (default: 2us)");
}

Asked asked(const CommandLine& line) {
  Asked out{selection_of(line), line.has("per-stream") ? LaneBy::kStream : LaneBy::kDevice, {}};
  if (const auto time = line.text("kernel-wait")) out.options.kernel_wait = parse_time(*time);
  if (line.knows("micro-idle")) {
    if (const auto time = line.text("micro-idle")) out.options.micro_idle = parse_time(*time);
  }
  return out;
}

constexpr const char* kNoDeviceWork = "the trace has no kernels, copies or fills";

bool has_device_work(const Index& index) {
  return index.database().query_int64("SELECT id FROM kernel LIMIT 1") ||
         index.database().query_int64("SELECT id FROM memory_op LIMIT 1");
}

std::vector<std::string> why_empty(const Index& index, const Selection& selection) {
  if (has_device_work(index) && !selection.empty()) return {"nothing that ran on a device matches the selection"};
  return {kNoDeviceWork};
}

Provenance provenance_of(const std::string& script, const std::string& table, const Asked& asked,
                         const RulesInForce& rules, const CommandLine& line) {
  Provenance provenance{
      script,
      {table + ": events of the selection, from columns ts, dur, kind, stream_id, launch_id (name_id, step_id) "
               "of tables kernel and memory_op and ts, kind of runtime_call (src/passes/time/timeline.h)",
       fmt::format("kernel_wait: gaps below {} ns; micro idle: gaps below {} ns", asked.options.kernel_wait,
                   asked.options.micro_idle)}};
  if (asked.selection.op) provenance.tables.push_back(rules.provenance());
  if (asked.selection.names_steps()) provenance.tables.push_back(steps_provenance(line));
  return provenance;
}

void remove_column(Report& report, std::string_view key) {
  const auto found = std::find_if(report.columns.begin(), report.columns.end(),
                                  [key](const Column& column) { return column.key == key; });
  const auto place = found - report.columns.begin();
  for (Row& row : report.rows) row.erase(row.begin() + place);
  for (Row& row : report.footer) row.erase(row.begin() + place);
  report.columns.erase(found);
}

TraceReport timeline(const Index& index, const Asked& asked, const SelectedPlaces& places) {
  make_timeline_table(index, asked.selection, asked.by, asked.options, places.get());
  TraceReport result{run_report(index.database(), "timeline", {{"micro_idle_limit", asked.options.micro_idle}}), {}};
  if (asked.by == LaneBy::kDevice) remove_column(result.report, "stream");
  if (result.report.rows.empty()) result.warnings = why_empty(index, asked.selection);
  if (index.database().query_int64("SELECT 1 FROM temp.timeline WHERE unselected > 0")) {
    result.warnings.emplace_back(
        "idle: none of the selected work ran; unselected: the part of idle during which other work ran");
  }
  add_extremes(result.report);
  return result;
}

int run_timeline(std::span<const std::string> args) {
  CommandLine line(kTimelineCommand,
                   {OptionGroup::kSelection, OptionGroup::kSteps, OptionGroup::kRules, OptionGroup::kRows,
                    OptionGroup::kOutput, OptionGroup::kExplain, OptionGroup::kInput});
  add_options(line);
  line.add("micro-idle", OptionKind::kValue, "gaps below this time are micro idle (default: 10us)");
  if (!line.parse(args)) return 0;
  const Asked what = asked(line);
  const RulesInForce rules(line);
  const auto make = [&](const Index& index) {
    const SelectedPlaces places(index, line, rules, what.selection);
    return with_notes(timeline(index, what, places), places.notes());
  };
  return run_trace_reports(line, "timeline", make,
                           provenance_of("reports/timeline", "temp.timeline", what, rules, line));
}

// The gaps beyond the limit, as limit_rows() would show them.
Row other_gaps(const Report& report, const GapSums& all) {
  std::int64_t shown = 0;
  for (const Row& row : report.rows) shown += std::get<std::int64_t>(row[1]);
  const std::int64_t rest = all.total - shown;
  const double share = all.total > 0 ? 100.0 * static_cast<double>(rest) / static_cast<double>(all.total) : 0;
  Row row(report.columns.size());
  row[0] = share;
  row[1] = rest;
  row[2] = all.count - static_cast<std::int64_t>(report.rows.size());
  row.back() = "[others]";
  return row;
}

TraceReport gaps(const Index& index, const Asked& asked, const SelectedPlaces& places, const CommandLine& line) {
  const std::size_t limit = line.has("sort") ? 0 : row_limit(line);  // the longest are not the first in another order
  const GapSums all = make_gap_table(index, asked.selection, asked.by, asked.options, limit, places.get());
  TraceReport result{run_report(index.database(), "gaps", {{"total", all.total}}), {}};
  if (all.count > static_cast<std::int64_t>(result.report.rows.size())) {
    result.report.footer.push_back(other_gaps(result.report, all));
    if (!line.has("limit")) {
      result.warnings.push_back(fmt::format("[others] is {} more gaps; --limit 0 shows all",
                                            all.count - static_cast<std::int64_t>(result.report.rows.size())));
    }
  }
  if (asked.by == LaneBy::kDevice) remove_column(result.report, "stream");
  if (all.count > 0) return result;
  result.warnings = {has_device_work(index) ? "no device was idle between two events that match the selection"
                                            : kNoDeviceWork};
  return result;
}

int run_gaps(std::span<const std::string> args) {
  CommandLine line(kGapsCommand, {OptionGroup::kSelection, OptionGroup::kSteps, OptionGroup::kRules, OptionGroup::kRows,
                                  OptionGroup::kOutput, OptionGroup::kExplain, OptionGroup::kInput});
  add_options(line);
  if (!line.parse(args)) return 0;
  const Asked what = asked(line);
  const RulesInForce rules(line);
  const auto make = [&](const Index& index) {
    const SelectedPlaces places(index, line, rules, what.selection, SelectedPlaces::Steps::kIfKnown);
    return with_notes(gaps(index, what, places, line), places.notes());
  };
  return run_trace_reports(line, "gaps", make, provenance_of("reports/gaps", "temp.gap", what, rules, line));
}

}  // namespace

const Command kTimelineCommand = {
    "timeline", "busy and idle time of each device: computation, communication, copies, causes of idling",
    "timeline [options] TRACE|INDEX...",
    "  trace-query timeline trace.json.gz\n"
    "  trace-query timeline trace.json.gz --from 1.2s --to 1.3s --per-stream",
    run_timeline};

const Command kGapsCommand = {"gaps", "times at which a device ran nothing, longest first, with cause and neighbours",
                              "gaps [options] TRACE|INDEX...",
                              "  trace-query gaps trace.json.gz --limit 10\n"
                              "  trace-query gaps trace.json.gz --phase decode --format csv",
                              run_gaps};

}  // namespace tracedb
