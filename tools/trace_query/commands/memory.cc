// Memory that frameworks allocate and free. What it answers is in passes/tables/memory_tables.cc and schema/reports.
#include <fmt/format.h>

#include <algorithm>

#include "base/text/amounts.h"
#include "trace/format_holds.h"
#include "trace_query/command.h"
#include "trace_query/run.h"

namespace tracedb {
namespace {

constexpr std::string_view kParts[] = {"operator", "module", "line", "step"};

// Why the report of a trace with allocations has no row; "": another note says it.
std::string_view why_none(const CommandLine& line, Database& database, bool has_marks) {
  if (line.has("at")) return "nothing was allocated then";
  if (!line.has("leaks")) return "nothing of that kind was allocated";
  if (!has_marks || !database.query_int64("SELECT 1 FROM temp.memory_events WHERE has_address LIMIT 1")) return "";
  const bool judged = database
                          .query_int64(
                              "SELECT 1 FROM temp.step_figures s JOIN temp.step_figures e ON e.step = s.step + 2 "
                              "WHERE e.timed_on = 'cpu' AND e.dur IS NOT NULL LIMIT 1")
                          .has_value();
  return judged ? "no step left an allocation to the end of the second step behind it"
                : "leaks show two steps later: no step has two behind it";
}

// What the trace lacks to tell what allocated it.
void note_missing(const CommandLine& line, Workload& workload, bool has_marks, std::vector<std::string>& notes) {
  Database& database = workload.index().database();
  const std::string by = line.text("by").value_or("");
  if ((by == "line" || by == "module") && !database.query_int64("SELECT 1 FROM stack LIMIT 1")) {
    notes.push_back(fmt::format("the trace has no Python stacks: {}",
                                recording_advice(workload.index().meta("format").value_or("")).stacks));
  }
  if (!has_marks && (by == "step" || line.has("leaks"))) {
    notes.emplace_back(
        workload.steps().steps.empty()
            ? "the trace has no steps that could have allocated"
            : "the steps are of the device, without marks on the host: which of them allocated is not known");
  }
  Statement devices(database,
                    "SELECT group_concat(device, ', ') FROM (SELECT DISTINCT device FROM temp.memory_events "
                    "WHERE NOT has_address ORDER BY device)");
  if (devices.step() && !devices.is_null(0)) {
    notes.push_back(fmt::format(
        "addresses of {} are not recorded: which allocations are alive there, or leak, is not known", devices.text(0)));
  }
}

void finish_memory(const CommandLine& line, Workload& workload, TraceReport& result) {
  Database& database = workload.index().database();
  const bool has_marks = std::ranges::any_of(
      workload.steps().steps, [](const StepFacts& step) { return !step.on_device && step.ts != kUnknownValue; });
  if (!database.query_int64("SELECT 1 FROM temp.memory_events LIMIT 1")) {
    const auto lost = database.query_int64(
        "SELECT 1 FROM instant i JOIN string s ON s.id = i.name_id WHERE s.value = '[memory]' LIMIT 1");
    result.warnings.push_back(
        lost ? "this index does not have the arguments of allocations yet: trace-ingest --force TRACE"
             : fmt::format("the index has no allocations: {}",
                           recording_advice(workload.index().meta("format").value_or("")).memory));
    return;
  }
  if (result.report.rows.empty()) {
    if (const std::string_view why = why_none(line, database, has_marks); !why.empty())
      result.warnings.emplace_back(why);
  }
  if (const auto share = find_column(result.report.columns, "device_pct")) {
    constexpr double kNearlyFull = 90;
    for (const Row& row : result.report.rows) {
      const auto* percent = std::get_if<double>(&row[*share]);
      if (percent == nullptr || *percent <= kNearlyFull) continue;
      result.warnings.push_back(fmt::format("{} is nearly full: {} of its memory at the fullest moment",
                                            std::get<std::string>(row.front()), part_text(*percent / 100, 1)));
    }
  }
  note_missing(line, workload, has_marks, result.warnings);
  const std::optional<std::string> at = line.text("at");
  const auto last = database.query_int64("SELECT max(ts) FROM temp.memory_events");
  if (at && *at != "peak" && last && parse_time(*at) > *last) {
    result.warnings.push_back(
        fmt::format("nothing is recorded of memory after {}", duration_text(static_cast<double>(*last))));
  }
  if (database.query_int64("SELECT 1 FROM temp.memory_events WHERE is_relative LIMIT 1")) {
    result.warnings.emplace_back("some or all events have no totals: there, peaks are of what the trace shows");
  }
}

int run_memory(const Command& command, std::span<const std::string> args) {
  using enum OptionGroup;
  CommandLine line(command, {kSteps, kRules, kRows, kOutput, kExplain, kInput});
  line.add("by", "operator, module, line (of Python), step: by what allocated it");
  line.add("at", "what was allocated at a time (12345, 1.5ms, 2s) or at the peak of each device: peak; with --by");
  line.add("curve", OptionKind::kFlag, "a row for each allocation and free: totals over time");
  line.add("leaks", OptionKind::kFlag,
           "what a step allocated that is not freed at the end of the second step after it");
  if (!line.parse(args)) return 0;
  const std::optional<std::string> by = line.text("by"), at = line.text("at");
  if (by && std::ranges::find(kParts, *by) == std::end(kParts)) {
    throw usage_error("--by {}: there are operator, module, line and step", *by);
  }
  if (int{line.has("curve")} + int{line.has("leaks")} + int{at || by} > 1) {
    throw usage_error("--curve, --leaks, --by and --at: give one; only --at goes with --by");
  }
  Parameters parameters = {{"by", by.value_or("operator")}, {"at", Cell()}};
  if (at && *at != "peak") parameters["at"] = parse_time(*at);
  const char* script = line.has("curve")   ? "memory_curve"
                       : line.has("leaks") ? "memory_leaks"
                       : at                ? "memory_at"
                       : by                ? "memory_by"
                                           : "memory";
  return run_pass_reports(line, {script, requested_pass_options(line), parameters, finish_memory});
}

}  // namespace

Command memory_command() {
  return {"memory",
          "memory of devices and the host: peaks, what was allocated then, by operator, leaks",
          "memory [options] TRACE|INDEX...",
          "  trace-query memory trace.json.gz\n"
          "  trace-query memory trace.json.gz --by operator\n"
          "  trace-query memory trace.json.gz --at peak --by module\n"
          "  trace-query memory trace.json.gz --curve --csv -o curve.csv",
          run_memory,
          {{"", "memory"},
           {"--by operator", "memory_by", "by what allocated it"},
           {"--at peak", "memory_at", "what was allocated at a time"},
           {"--leaks", "memory_leaks", "what steps leave behind"},
           {"--curve", "memory_curve", "each allocation and free"}}};
}

}  // namespace tracedb
