#include <fmt/format.h>

#include <algorithm>

#include "base/text/amounts.h"
#include "trace/python_frame.h"
#include "trace_query/command.h"
#include "trace_query/run.h"

namespace tracedb {
namespace {

constexpr const char* kNoDeviceWork = "the trace has no kernels, copies or fills";

bool has_device_work(const Index& index) {
  return has_kernels(index) || index.database().query_int64("SELECT id FROM memory_op LIMIT 1");
}

struct AllGaps {
  std::int64_t count = 0, idle = 0;
};

// Of the selection, shown or not. `table`: that of the report.
AllGaps all_gaps(Database& database, const std::string& table) {
  for (const std::string& sql : {"SELECT all_gaps, all_idle FROM temp." + table + " LIMIT 1",
                                 std::string("SELECT sum(gaps), sum(idle) FROM temp.timeline")}) {
    Statement all(database, sql);
    if (all.step() && !all.is_null(0)) return {all.int64(0), all.int64(1)};
  }
  return {};
}

std::size_t column_of(const Report& report, std::string_view key) { return find_column(report.columns, key).value(); }

// The gaps that no row is about, as limit_rows() would show them.
Row other_gaps(const Report& report, const AllGaps& all, std::string label) {
  const std::size_t count = column_of(report, "instances");
  const std::size_t time = column_of(report, "dur");
  AllGaps rest = all;
  for (const Row& row : report.rows) {
    rest.count -= std::get<std::int64_t>(row[count]);
    rest.idle -= std::get<std::int64_t>(row[time]);
  }
  Row row(report.columns.size());
  row[column_of(report, "idle_pct")] =
      all.idle > 0 ? 100.0 * static_cast<double>(rest.idle) / static_cast<double>(all.idle) : 0;
  row[time] = rest.idle;
  row[count] = rest.count;
  row[column_of(report, "next")] = std::move(label);
  return row;
}

// People get "llama.py:374 forward".
void shorten_hosts(Report& report) {
  const std::size_t place = column_of(report, "host");
  for (Row& row : report.rows) {
    if (auto* host = std::get_if<std::string>(&row[place])) *host = short_frame(*host);
  }
}

bool is_for_people(const CommandLine& line) { return line.renderer().audience == Audience::kHuman; }

void add_lane_options(CommandLine& line) {
  add_timeline_options(line);
  add_micro_idle(line);
}

void finish_timeline(const CommandLine& line, Workload& workload, TraceReport& result) {
  result.warnings = workload.selection_notes();
  const Index& index = workload.index();
  if (!line.has("per-stream")) remove_column(result.report, "stream");
  if (is_for_people(line)) shorten_hosts(result.report);
  if (result.report.rows.empty()) {
    const bool selected = has_device_work(index) && !workload.selection().empty();
    result.warnings.emplace_back(selected ? "nothing that ran on a device matches the selection" : kNoDeviceWork);
  }
  if (index.database().query_int64("SELECT 1 FROM temp.timeline WHERE unselected > 0")) {
    result.warnings.emplace_back(
        "idle: none of the selected work ran; unselected: the part of idle during which other work ran");
  }
  add_extremes(result.report);
}

void add_gap_options(CommandLine& line) {
  add_timeline_options(line);
  line.add("min-dur", OptionKind::kValue, "only gaps of at least this time: 100us; the shorter ones are one row");
}

// The longest are not the first in another order.
void prepare_gaps(const CommandLine& line, PassOptions& options) {
  options.most_gaps = line.has("sort") ? 0 : row_limit(line);
}

void finish_gaps(const CommandLine& line, Workload& workload, TraceReport& result) {
  result.warnings = workload.selection_notes();
  const bool one_by_one = line.has("each");
  const AllGaps all = all_gaps(workload.index().database(), one_by_one ? "idle_gaps" : "gap_groups");
  Row others = other_gaps(result.report, all, line.has("min-dur") && !one_by_one ? "[shorter gaps]" : "[others]");
  const std::int64_t count = std::get<std::int64_t>(others[column_of(result.report, "instances")]);
  if (count > 0) {
    result.report.footer.push_back(std::move(others));
    if (one_by_one && !line.has("limit")) {
      result.warnings.push_back(fmt::format("[others] is {}; --limit 0 shows all", counted(count, "more gap")));
    }
  }
  if (!line.has("per-stream")) remove_column(result.report, "stream");
  if (is_for_people(line)) shorten_hosts(result.report);
  if (all.count > 0) return;
  result.warnings.emplace_back(has_device_work(workload.index())
                                   ? "no device was idle between two events that match the selection"
                                   : kNoDeviceWork);
}

}  // namespace

std::vector<Command> timeline_commands() {
  using enum OptionGroup;
  const std::vector<OptionGroup> groups = {kSelection, kSteps, kRules, kRows, kOutput, kExplain, kInput};
  return {table_command("timeline",
                        "busy and idle time of each device: computation, communication, copies, causes of idling",
                        "timeline [options] TRACE|INDEX...",
                        "  trace-query timeline trace.json.gz\n"
                        "  trace-query timeline trace.json.gz --from 1.2s --to 1.3s --per-stream",
                        {{"", "timeline"}}, groups, finish_timeline, add_lane_options),
          table_command("gaps", "times at which a device ran nothing: cause, neighbours, and where the host was",
                        "gaps [options] TRACE|INDEX...",
                        "  trace-query gaps trace.json.gz --min-dur 100us\n"
                        "  trace-query gaps trace.json.gz --each --limit 10\n"
                        "  trace-query gaps trace.json.gz --phase decode --format csv",
                        {{"", "gap_groups"}, {"--each", "gaps", "every gap by itself, longest first"}}, groups,
                        finish_gaps, add_gap_options, prepare_gaps)};
}

}  // namespace tracedb
