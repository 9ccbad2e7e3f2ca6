#include <fmt/format.h>

#include <algorithm>

#include "base/text/counted.h"
#include "trace_query/command.h"
#include "trace_query/run.h"

namespace tracedb {
namespace {

constexpr const char* kNoDeviceWork = "the trace has no kernels, copies or fills";

bool has_device_work(const Index& index) {
  return has_kernels(index) || index.database().query_int64("SELECT id FROM memory_op LIMIT 1");
}

void remove_column(Report& report, std::string_view key) {
  const auto found = std::find_if(report.columns.begin(), report.columns.end(),
                                  [key](const Column& column) { return column.key == key; });
  const auto place = found - report.columns.begin();
  for (Row& row : report.rows) row.erase(row.begin() + place);
  for (Row& row : report.footer) row.erase(row.begin() + place);
  report.columns.erase(found);
}

int run_timeline(std::span<const std::string> args) {
  CommandLine line(kTimelineCommand,
                   {OptionGroup::kSelection, OptionGroup::kSteps, OptionGroup::kRules, OptionGroup::kRows,
                    OptionGroup::kOutput, OptionGroup::kExplain, OptionGroup::kInput});
  add_timeline_options(line);
  add_micro_idle(line);
  if (!line.parse(args)) return 0;
  return run_pass_reports(
      line, {"timeline", "timeline", requested_pass_options(line), {}, [&](Workload& workload, TraceReport& result) {
               result.warnings = workload.selection_notes();
               const Index& index = workload.index();
               if (!line.has("per-stream")) remove_column(result.report, "stream");
               if (result.report.rows.empty()) {
                 const bool selected = has_device_work(index) && !workload.selection().empty();
                 result.warnings.emplace_back(selected ? "nothing that ran on a device matches the selection"
                                                       : kNoDeviceWork);
               }
               if (index.database().query_int64("SELECT 1 FROM temp.timeline WHERE unselected > 0")) {
                 result.warnings.emplace_back(
                     "idle: none of the selected work ran; unselected: the part of idle during which other work ran");
               }
               add_extremes(result.report);
             }});
}

// The gaps beyond the limit, as limit_rows() would show them.
Row other_gaps(const Report& report, std::int64_t gaps, std::int64_t all_idle) {
  std::int64_t shown = 0;
  for (const Row& row : report.rows) shown += std::get<std::int64_t>(row[1]);
  const std::int64_t rest = all_idle - shown;
  Row row(report.columns.size());
  row[0] = all_idle > 0 ? 100.0 * static_cast<double>(rest) / static_cast<double>(all_idle) : 0;
  row[1] = rest;
  row[2] = gaps;
  row.back() = "[others]";
  return row;
}

void finish_gaps(const CommandLine& line, Workload& workload, TraceReport& result) {
  Database& database = workload.index().database();
  result.warnings = workload.selection_notes();
  const std::int64_t all = database.query_int64("SELECT all_gaps FROM temp.idle_gaps LIMIT 1").value_or(0);
  if (const std::int64_t others = all - std::ssize(result.report.rows); others > 0) {
    const std::int64_t idle = database.query_int64("SELECT all_idle FROM temp.idle_gaps LIMIT 1").value_or(0);
    result.report.footer.push_back(other_gaps(result.report, others, idle));
    if (!line.has("limit")) {
      result.warnings.push_back(fmt::format("[others] is {}; --limit 0 shows all", counted(others, "more gap")));
    }
  }
  if (!line.has("per-stream")) remove_column(result.report, "stream");
  if (all > 0) return;
  result.warnings.emplace_back(has_device_work(workload.index())
                                   ? "no device was idle between two events that match the selection"
                                   : kNoDeviceWork);
}

int run_gaps(std::span<const std::string> args) {
  CommandLine line(kGapsCommand, {OptionGroup::kSelection, OptionGroup::kSteps, OptionGroup::kRules, OptionGroup::kRows,
                                  OptionGroup::kOutput, OptionGroup::kExplain, OptionGroup::kInput});
  add_timeline_options(line);
  if (!line.parse(args)) return 0;
  PassOptions options = requested_pass_options(line);
  options.most_gaps = line.has("sort") ? 0 : row_limit(line);  // the longest are not the first in another order
  return run_pass_reports(line, {"gaps", "gaps", options, {}, [&](Workload& workload, TraceReport& result) {
                                   finish_gaps(line, workload, result);
                                 }});
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
