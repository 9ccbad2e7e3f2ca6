// The critical path of steps or of the trace, and what follows from it: passes/critical and schema/reports.
#include "passes/critical/critical_path.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/amounts.h"
#include "trace_query/command.h"
#include "trace_query/run.h"

namespace tracedb {
namespace {

constexpr std::string_view kPathParts[] = {"kind", "class", "name", "operator", "module", "step", "device"};

struct PathCertainty {
  std::vector<std::string> notes;
  bool is_inferred = false;
  bool may_be_shorter = false;  // what it waits for is not known in much of it: no length is the least
};

// How much of the paths rests on what is not recorded.
PathCertainty path_certainty(Workload& workload) {
  Database& database = workload.index().database();
  Statement sums(
      database,
      "SELECT total(time), total(iif(kind = 'inferred_wait', time, 0)), total(iif(kind = 'unknown_wait', time, 0)), "
      "total(iif(kind = 'sync_return', parts, 0)), total(iif(kind = 'sync_return', inferred, 0)), "
      "(SELECT count(*) FROM sync) FROM temp.critical_path_sums");
  if (!sums.step() || sums.real(0) <= 0) return {};
  const double inferred = 100 * sums.real(1) / sums.real(0), unknown = 100 * sums.real(2) / sums.real(0);
  const EventFilter filter = workload.filter();
  const double unlaunched =
      percent_without_launch(workload.events().kernels, [&](std::size_t row) { return filter.keeps_kernel(row); });
  const auto kinds = workload.events().calls.ids("kind");
  constexpr auto kSync = static_cast<std::uint32_t>(CallKind::kSync);
  const bool unrecorded = sums.int64(5) == 0 && std::ranges::find(kinds, kSync) != kinds.end();
  constexpr const char* kNotRecorded =
      "SELECT count(*) FROM runtime_call c JOIN string t ON t.id = c.name_id WHERE c.kind = 'sync' AND t.value GLOB "
      "'*StreamWaitEvent*' AND (c.correlation IN (SELECT correlation FROM sync)) IS NOT TRUE";
  const std::int64_t waits = sums.int64(5) > 0 ? database.query_int64(kNotRecorded).value_or(0) : 0;
  std::vector<std::string> facts;
  if (sums.real(4) > 0)
    facts.push_back(
        fmt::format("{:.0f} of {:.0f} returns of waiting calls are not recorded", sums.real(4), sums.real(3)));
  constexpr double kShown = 0.05;  // what a digit behind the point shows
  if (inferred >= kShown)
    facts.push_back(part_text(inferred / 100, 1) + " of the path waits for what only ended shortly before");
  if (unknown >= kShown) facts.push_back(part_text(unknown / 100, 1) + " of the path waits for nothing that is known");
  if (unlaunched >= kShown)
    facts.push_back(part_text(unlaunched / 100, 1) + " of the kernel time has no launch in the trace");
  if (waits > 0)
    facts.push_back(counted(waits, "wait of a stream (StreamWaitEvent) is not recorded",
                            "waits of streams (StreamWaitEvent) are not recorded"));
  if (unrecorded) {
    facts.emplace_back(
        "the trace does not record what calls and streams wait for (cuda_sync): waits are inferred from names and "
        "times");
  }
  if (facts.empty()) return {};
  const bool partly =
      inferred + unknown > kMuchInferred || unlaunched > kMuchInferred || sums.real(4) > 0 || unrecorded || waits > 0;
  return {{fmt::format("{}{}", partly ? "partly inferred: " : "", fmt::join(facts, "; "))},
          partly,
          unknown > kMuchInferred};
}

void finish_path(const CommandLine& line, Workload& workload, TraceReport& result) {
  if (workload.selection().names_steps()) append(result.warnings, workload.steps().notes);
  append(result.warnings, workload.missing_notes());
  Database& database = workload.index().database();
  if (result.report.rows.empty()) {
    std::string_view why =
        line.has("slack") ? "the trace has no kernels, copies or fills" : "the trace has no events with a duration";
    if (!workload.selection().empty()) {
      const bool has_path = line.has("slack") && database.query_int64("SELECT 1 FROM temp.critical_path_sums LIMIT 1");
      why =
          has_path ? "no kernel, copy or fill begins and ends in what is selected" : "nothing of the trace is selected";
    }
    result.warnings.emplace_back(why);
    return;
  }
  const PathCertainty certainty = path_certainty(workload);
  append(result.warnings, certainty.notes);
  if (line.has("what-if")) {
    Statement without(database, "SELECT what FROM path_what_if WHERE activities = 0 AND length > 0");
    while (without.step()) {
      result.warnings.push_back(
          fmt::format("--what-if {}: no kernel, copy or fill that is selected is of that class, name or operator",
                      without.text(0)));
    }
  }
  const auto column = find_column(result.report.columns, "certainty");
  if (!line.has("what-if") || !column) return;
  for (Row& row : result.report.rows) {
    std::string& sure = std::get<std::string>(row[*column]);
    const bool is_least = sure == "at least" && !certainty.may_be_shorter;
    if (certainty.is_inferred) sure = is_least ? "at least, inferred" : "inferred";
    if (is_least) {
      result.warnings.push_back(
          fmt::format("{}: the new length is a lower bound: a delay that it needs was never observed",
                      std::get<std::string>(row.front())));
    }
  }
}

int run_critical_path(const Command& command, std::span<const std::string> args) {
  using enum OptionGroup;
  CommandLine line(command, {kPlaces, kSteps, kRules, kRows, kOutput, kExplain, kInput});
  line.add("by", "kind, class, name, operator, module, step, device: sums of the path (kind)");
  line.add("parts", OptionKind::kFlag, "the parts of the path in order of time");
  line.add("slack", OptionKind::kFlag, "how much longer each kernel and copy may take alone");
  line.add("what-if", OptionKind::kList,
           "WHAT:FACTOR: how long it would be if an operation class, kernel (GLOB), operator (GLOB), comm, launch "
           "(delays) or host took that part of its time; may be given several times");
  line.add("wait", "a start that much behind all that is recorded must have waited for more (10us)");
  if (!line.parse(args)) return 0;
  const std::optional<std::string> by = line.text("by");
  if (by && std::ranges::find(kPathParts, *by) == std::end(kPathParts)) {
    throw usage_error("--by {}: there are {}", *by, fmt::join(kPathParts, ", "));
  }
  if (line.has("device") || line.has("stream")) {
    throw usage_error("a path leads through all devices and streams: select it by --step, --phase, --from, --to");
  }
  if (int{line.has("parts")} + int{line.has("slack")} + int{line.has("what-if")} + int{by.has_value()} > 1) {
    throw usage_error("--parts, --slack, --what-if and --by: give one");
  }
  const char* script = line.has("parts")     ? "critical_path_parts"
                       : line.has("slack")   ? "path_slack"
                       : line.has("what-if") ? "path_what_if"
                                             : "critical_path";
  return run_pass_reports(line,
                          {"critical-path",
                           script,
                           requested_pass_options(line),
                           {{"by", by.value_or("kind")}},
                           [&](Workload& workload, TraceReport& result) { finish_path(line, workload, result); }});
}

}  // namespace

Command critical_path_command() {
  return {
      "critical-path",
      "what a step, or the trace, waited for from its end back to its start; slack; what other durations would bring",
      "critical-path [options] TRACE|INDEX...",
      "  trace-query critical-path trace.json.gz\n"
      "  trace-query critical-path trace.json.gz --step 3 --by name --limit 20\n"
      "  trace-query critical-path trace.json.gz --step 3 --parts\n"
      "  trace-query critical-path trace.json.gz --what-if dense_gemm:0.8 --what-if comm:0",
      run_critical_path,
      {{"", "critical_path"},
       {"--parts", "critical_path_parts", "its parts in order of time"},
       {"--slack", "path_slack", "how much longer each kernel and copy may take alone"},
       {"--what-if comm:0", "path_what_if", "other durations"}}};
}

}  // namespace tracedb
