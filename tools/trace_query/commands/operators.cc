// What operators and modules take, where the time of steps goes, and who allocates memory: what they answer is in
// passes/tables, passes/critical and schema/reports.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/files/small_file.h"
#include "base/text/amounts.h"
#include "compare/table_changes.h"
#include "passes/critical/critical_path.h"
#include "passes/tables/pass_tables.h"
#include "passes/work/device_peaks.h"
#include "report/escape.h"
#include "trace/format_holds.h"
#include "trace_query/command.h"
#include "trace_query/run.h"

namespace tracedb {
namespace {

using enum OptionGroup;
using Notes = std::vector<std::string>;

void finish_breakdown(const CommandLine& line, Workload& workload, TraceReport& result) {
  append(result.warnings, workload.steps().notes);
  append(result.warnings, workload.missing_notes());
  if (result.report.rows.empty())
    result.warnings.emplace_back(workload.steps().steps.empty() ? "the trace has no steps that could be selected"
                                                                : "no step matches the selection");
  if (const std::size_t cut = line.has("complete-only") ? incomplete_steps(workload) : 0; cut > 0)
    result.warnings.push_back(counted(cut, "step") + " at the end left out: not complete");
  if (line.text("by") == "device") add_extremes(result.report);
  if (!line.has("no-findings")) {
    for (const TraceFinding& finding : findings_of(workload.index().database())) {
      if (finding.stands_out) result.warnings.push_back(finding.text);
    }
  }
}

void add_breakdown(CommandLine& line) {
  line.add("complete-only", OptionKind::kFlag, "without steps at the end that launch under 80 % of the one before");
  line.add("no-findings", OptionKind::kFlag, "only the table: without what stands out in it");
}

void add_backward(CommandLine& line) {
  line.add("backward", OptionKind::kFlag,
           "backward work belongs to the module of its forward operator, by autograd's sequence numbers");
}

// In the other tables of operators there is no module that it could change.
void prepare_operators(const CommandLine& line, PassReport&) {
  if (line.has("backward") && line.text("by") != "module") {
    throw usage_error("--backward needs --by module: it changes nothing else here");
  }
}

// Behind what is not recorded; empty where nothing is advised.
std::string advised(Workload& workload, std::string_view RecordingAdvice::*what) {
  const std::string_view advice = recording_advice(workload.index().meta("format").value_or("")).*what;
  return advice.empty() ? "" : fmt::format(": {}", advice);
}

void finish_counters(const CommandLine& line, Workload& workload, TraceReport& result) {
  if (line.has("by")) drop_column(result.report, "kernel");
  Statement kept(workload.index().database(),
                 "SELECT (SELECT count(*) FROM slice s JOIN string c ON c.id = s.category_id WHERE c.value = "
                 "'cuda_profiler_range'), (SELECT count(*) FROM runtime_call WHERE kind = 'launch')");
  kept.step();
  const std::int64_t ranges = kept.int64(0), launches = kept.int64(1);
  constexpr std::string_view kUnread[] = {"\"GPU_METRICS", "\"rocpd_pmc_event", "\"counter_collection"};
  const std::string unread = workload.index().meta("trace.tables_not_read").value_or("");
  const auto* const table =
      std::ranges::find_if(kUnread, [&](std::string_view name) { return unread.find(name) != std::string::npos; });
  if (ranges == 0 && table != std::end(kUnread)) {
    result.warnings.push_back(fmt::format("the hardware counters of the trace ({}) are not read", table->substr(1)));
  } else if (ranges == 0) {
    result.warnings.push_back("no range of hardware counters is in the trace" +
                              advised(workload, &RecordingAdvice::counters));
  } else if (result.report.rows.empty()) {
    const auto from = workload.index().meta("upgraded_from");
    result.warnings.push_back(
        from ? fmt::format("an index of version {} did not keep what its {} counted: ingest the trace again", *from,
                           counted(ranges, "range"))
             : "the ranges of the trace hold no counters");
  } else if (ranges != launches) {
    result.warnings.push_back(fmt::format("operators are not known: {} and {} do not belong together one by one",
                                          counted(ranges, "range"), counted(launches, "launch", "launches")));
  }
}

void finish_operators(const CommandLine& line, Workload& workload, TraceReport& result) {
  result.warnings = workload.selection_notes();
  const bool any = workload.index().database().query_int64("SELECT EXISTS (SELECT 1 FROM cpu_op)") == 1;
  if (!any)
    result.warnings.push_back("the trace records no operators" + advised(workload, &RecordingAdvice::operators));
  if (any && result.report.rows.empty()) result.warnings.emplace_back("no operator matches the selection");
  if (!line.has("generated")) return;
  if (!workload.selection().empty())
    result.warnings.emplace_back("--generated is of the whole trace, whatever is selected");
  if (!result.report.rows.empty()) return;
  const auto from = workload.index().meta("upgraded_from");
  result.warnings.push_back(
      from ? fmt::format("an index of version {} did not keep which kernels are generated: ingest the trace again",
                         *from)
           : "no operator says that it is a generated kernel");
}

// What the recording would need to show it.
void finish_recompute(const CommandLine&, Workload& workload, TraceReport& result) {
  if (!result.report.rows.empty()) return;
  Database& database = workload.index().database();
  const bool trains = database.query_int64("SELECT 1 FROM kernel WHERE pass = 'backward' LIMIT 1").has_value();
  const bool stacks = database.query_int64("SELECT 1 FROM stack LIMIT 1").has_value();
  const std::string_view advice = recording_advice(workload.index().meta("format").value_or("")).stacks;
  result.warnings.push_back(
      "no recomputation was found: " +
      (!trains && !database.query_int64("SELECT id FROM cpu_op LIMIT 1")
           ? std::string("passes are not known: operators, which tell them, are not recorded")
       : !trains ? std::string("no kernel was launched by a backward pass")
       : stacks  ? std::string("no kernel was launched below recompute_fn of torch/utils/checkpoint.py, or by "
                                "CheckpointFunctionBackward")
                 : fmt::format("without Python stacks only that by CheckpointFunctionBackward shows: {}", advice)));
}

void add_by_operator(CommandLine& line) { line.add("by", "operator: all kernels of an operator in one row"); }

void prepare_counters(const CommandLine& line, PassReport& report) {
  const std::optional<std::string> by = line.text("by");
  if (by && *by != "operator") throw usage_error("--by {}: there is operator", *by);
  report.parameters["by"] = known_cell(by);
}

void finish_modules(const CommandLine& line, Workload& workload, TraceReport& result) {
  Notes& notes = result.warnings = workload.selection_notes();
  Report& report = result.report;
  Database& database = workload.index().database();
  const std::size_t name = find_column(report.columns, "module").value();
  const auto is_module = [&](const Row& row) { return !std::get<std::string>(row[name]).starts_with('['); };
  if (std::ranges::none_of(report.rows, is_module)) {
    const std::string format = workload.index().meta("format").value_or("");
    notes.push_back(is_xla(format) ? "a profile of XLA shows no nn.Modules: layers are by its scopes"
                    : database.query_int64("SELECT id FROM stack LIMIT 1")
                        ? "the Python stacks show no call of an nn.Module"
                        : fmt::format("the trace has no Python stacks: {}", recording_advice(format).stacks));
    return;
  }
  if (!workload.selection().empty()) {
    notes.emplace_back("calls and host time are not known of a selection: a Python call has no step, device or kernel");
  }
  if (!line.has("tree") || !line.for_people()) return;
  const std::size_t depth = find_column(report.columns, "depth").value();
  for (Row& row : report.rows) {
    constexpr std::int64_t kDeepestShown = 32;
    const std::int64_t indent = 2 * std::min(std::get<std::int64_t>(row[depth]), kDeepestShown);
    row[name] = std::string(static_cast<std::size_t>(indent), ' ') + std::get<std::string>(row[name]);
  }
  drop_column(report, "depth");
}

void add_devices(CommandLine& line) {
  line.add("devices",
           "FILE: peaks of devices, before those of the program, in lines as schema/devices/peaks.rules has them");
}

std::vector<DevicePeaks> own_peaks(const CommandLine& line) {
  const auto path = line.text("devices");
  return path ? parse_device_peaks(read_small_file(*path), *path) : std::vector<DevicePeaks>{};
}

void prepare_work(const CommandLine& line, PassReport& report) {
  report.options.own_peaks = std::make_shared<const std::vector<DevicePeaks>>(own_peaks(line));
}

std::string peaks_note(const Index& index, const DevicePeaks* peaks) {
  if (peaks != nullptr) {
    return fmt::format("peaks of {}: dense, {}{}", peaks->name, peaks->document,
                       peaks->kind == "unchecked" ? "; not compared with that document" : ", " + peaks->kind);
  }
  Statement names(index.database(),
                  "SELECT group_concat(name, ', '), count(*) FROM (SELECT DISTINCT coalesce(name, 'a device without a "
                  "name') AS name FROM device WHERE used = 1 ORDER BY name)");
  const bool any = names.step() && !names.is_null(0);
  if (any && names.int64(1) > 1)
    return fmt::format(
        "no shares of a peak: these devices have none in common: {} (--device N selects one, --devices FILE "
        "adds peaks)",
        names.text(0));
  return fmt::format("no shares of a peak: none is known of {} (--devices FILE adds it)",
                     any ? names.text(0) : "this device");
}

std::string why_no_products(const Index& index) {
  Statement products(index.database(),
                     "SELECT missing, sum(launching) FROM temp.operator_work WHERE family = 'gemm' AND launching > 0 "
                     "GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 1");
  if (!products.step()) {
    return "no operator that multiplies matrices launched selected device work; graph replays have no operators";
  }
  const std::string missing(products.is_null(0) ? "" : products.text(0));
  const std::string_view advice = recording_advice(index.meta("format").value_or("")).shapes;
  return fmt::format("no product of matrices has its sizes: {}{}", missing,
                     missing != "shapes not recorded" || advice.empty() ? "" : fmt::format("; {}", advice));
}

struct MeasuredTime {
  std::int64_t length, devices;  // ns, of each device summed
  std::string what;
};

// What MFU is by: what the selected windows of `breakdown` cover, or, without steps, what is given.
MeasuredTime time_of_steps(Workload& workload, std::int64_t span, std::int64_t devices) {
  if (workload.steps().steps.empty()) return {span, devices, "from the first to the last work selected of"};
  Statement steps(workload.index().database(),
                  "SELECT total(max(ts + length - max(ts, ifnull(before, ts)), 0)), count(DISTINCT device_id), "
                  "count(DISTINCT step) FROM (SELECT *, max(ts + length) OVER (PARTITION BY device_id ORDER BY ts "
                  "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before FROM temp.step_breakdown "
                  "WHERE device_id IN (SELECT device_id FROM (SELECT device_id, total(computing + exposed_comm + copy) "
                  "AS time FROM temp.step_breakdown GROUP BY 1) WHERE time >= ? * (SELECT max(time) FROM (SELECT "
                  "total(computing + exposed_comm + copy) AS time FROM temp.step_breakdown GROUP BY device_id))))",
                  kHardlyWorks);
  steps.step();
  return {steps.int64(0), steps.int64(1), fmt::format("of {} on", counted(steps.int64(2), "step"))};
}

void finish_work(const CommandLine& line, Workload& workload, TraceReport& result) {
  Notes& notes = result.warnings = workload.selection_notes();
  Database& database = workload.index().database();
  Statement all(
      database,
      "SELECT sum(busy), total(iif(coalesce(nullif(all_flops, 0), all_bytes) IS NULL, 0, busy)), "
      "total(iif(matrix = 1, step_flops / peak_tflops / 1000, 0)), max(all_span), "
      "sum(matrix = 1 AND rated > 0 AND all_flops / peak_tflops IS NULL), "
      "sum(matrix = 1 AND launching > 0 AND type = 'float' AND peak_tflops IS NOT NULL "
      "AND NOT tf32), max(all_matrix_unmodelled), max(all_devices), total(left_out), total(iif(matrix, left_out, 0)) "
      "FROM temp.operator_work");
  if (!all.step() || all.is_null(0) || all.int64(0) == 0) {
    notes.emplace_back("no device work is selected");
    return;
  }
  if (result.report.rows.empty()) notes.push_back(why_no_products(workload.index()));
  if (const auto mark = find_column(result.report.columns, "mark");
      std::ranges::any_of(result.report.rows, [&](const Row& row) { return row[*mark] != Cell(); })) {
    notes.emplace_back(
        "!: more than 105 % of the roof: a peak or a shape is not what it seems, or the data were in a cache");
  }
  notes.push_back(fmt::format("{} of the device time is of operators whose work is known",
                              part_text(all.real(1) / static_cast<double>(all.int64(0)), 1)));
  if (all.int64(4) > 0) {
    notes.push_back(fmt::format(
        "MFU is not known: {} of matrix products, attention, convolutions or MoE {} no FLOPs, "
        "or no peak",
        counted(all.int64(4), "operator and shape", "operators and shapes"), all.int64(4) == 1 ? "has" : "have"));
  } else if (const MeasuredTime time = time_of_steps(workload, all.int64(3), all.int64(7));
             all.real(2) > 0 && time.length > 0) {
    const std::int64_t unknown = all.int64(6);
    const bool is_least = unknown > 0 || all.real(9) > 0;
    notes.push_back(fmt::format(
        "MFU {}{:.1f} %: matrix products, attention, convolutions and MoE at the device's peak, by the {} "
        "{} {}{}{}",
        is_least ? "at least " : "", 100 * all.real(2) / static_cast<double>(time.length),
        brief_time(static_cast<double>(time.length)), time.what,
        time.devices == 1 ? "the device" : fmt::format("{} devices, summed", time.devices),
        workload.steps().steps.empty() ? "" : " (windows of breakdown)",
        unknown == 0
            ? ""
            : fmt::format("; {} of kernels that multiply matrices, or may, are of no operator whose work is known",
                          brief_time(static_cast<double>(unknown)))));
  }
  if (const auto left_out = static_cast<std::int64_t>(all.real(8)); left_out > 0)
    notes.push_back(
        fmt::format("{} left out of FLOPs, bytes and rates: not all device work of these is selected, or has "
                    "a duration",
                    counted(left_out, "call is", "calls are")));
  const std::vector<DevicePeaks> own = own_peaks(line);
  const DevicePeaks* peaks = peaks_of(workload.index(), own, workload.selection().devices);
  notes.push_back(peaks_note(workload.index(), peaks));
  if (all.int64(5) > 0 && peaks != nullptr && peaks->tf32) {
    notes.emplace_back("products of float are held against the fp32 peak: whether TF32 was allowed is not recorded");
  }
  Statement bad(database,
                "SELECT sum(calls), name, missing, shape FROM temp.operator_work WHERE bad_shape = 1 "
                "GROUP BY name, missing ORDER BY 1 DESC, 2, 3 LIMIT 3");
  while (bad.step()) {
    constexpr std::size_t kReadable = 60;
    notes.push_back(fmt::format("bad shape: {} of {}, {}: {}", counted(bad.int64(0), "call"), bad.text(1), bad.text(2),
                                shorten_middle(std::string(bad.text(3)), kReadable)));
  }
}

// ---- the critical path

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
      "(SELECT count(*) FROM sync), total(iif(kind NOT IN ('sync_return', 'inferred_wait'), inferred, 0)) "
      "FROM temp.critical_path_sums");
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
  if (sums.int64(6) > 0) {
    facts.push_back(counted(sums.int64(6), "hand-over by one of several threads is inferred",
                            "hand-overs by one of several threads are inferred"));
  }
  constexpr double kShown = 0.05;  // what a digit behind the point shows
  if (inferred >= kShown)
    facts.push_back(part_text(inferred / 100, 1) + " of the path waits for what only ended shortly before");
  if (unknown >= kShown) facts.push_back(part_text(unknown / 100, 1) + " of the path waits for nothing that is known");
  if (unlaunched >= kShown)
    facts.push_back(part_text(unlaunched / 100, 1) + " of the kernel time has no launch in the trace");
  const double shared = percent_shared(workload.steps(), workload.selection(), workload.events());
  if (shared >= kShown)
    facts.push_back(part_text(shared / 100, 1) + " of the path counts more than once, for the steps overlap");
  if (waits > 0)
    facts.push_back(counted(waits, "wait of a stream (StreamWaitEvent) is not recorded",
                            "waits of streams (StreamWaitEvent) are not recorded"));
  if (unrecorded) {
    facts.emplace_back(
        "the trace does not record what calls and streams wait for (cuda_sync): waits are inferred from names and "
        "times");
  }
  if (facts.empty()) return {};
  const bool partly = inferred + unknown > kMuchInferred || unlaunched > kMuchInferred ||
                      sums.real(4) + sums.real(6) > 0 || unrecorded || waits > 0 || shared > kMuchInferred;
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

void add_path_options(CommandLine& line) {
  line.add("by", "kind, class, name, operator, module, step, device: sums of the path (kind)");
  line.add("parts", OptionKind::kFlag, "the parts of the path in order of time");
  line.add("slack", OptionKind::kFlag, "how much longer each kernel and copy may take alone");
  line.add("what-if", OptionKind::kList,
           "WHAT:FACTOR: how long it would be if an operation class, kernel or copy (GLOB), operator (GLOB), comm, "
           "launch (delays) or host took that part of its time; may be given several times");
  line.add("wait", "a start that much behind all that is recorded must have waited for more (10us)");
}

void prepare_path(const CommandLine& line, PassReport& report) {
  const std::string by = line.text("by").value_or("kind");
  if (std::ranges::find(kPathParts, by) == std::end(kPathParts)) {
    throw usage_error("--by {}: there are {}", by, fmt::join(kPathParts, ", "));
  }
  if (line.has("device") || line.has("stream")) {
    throw usage_error("a path leads through all devices and streams: select it by --step, --phase, --from, --to");
  }
  if (int{line.has("parts")} + int{line.has("slack")} + int{line.has("what-if")} + int{line.has("by")} > 1) {
    throw usage_error("--parts, --slack, --what-if and --by: give one");
  }
  report.parameters["by"] = by;
}

// ---- memory that frameworks allocate and free

constexpr std::string_view kMemoryParts[] = {"operator", "module", "line", "stack", "step", "size"};

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
  if ((by == "line" || by == "stack" || by == "module") && !database.query_int64("SELECT 1 FROM stack LIMIT 1")) {
    notes.push_back(fmt::format("the trace has no Python stacks: {}",
                                recording_advice(workload.index().meta("format").value_or("")).stacks));
  }
  if (!has_marks && (by == "step" || line.has("leaks"))) {
    notes.emplace_back(
        workload.steps().steps.empty()
            ? "the trace has no steps that could have allocated"
            : "the steps are of the device, without marks on the host: which of them allocated is not known");
  }
  const auto devices = database.query_text(
      "SELECT group_concat(device, ', ') FROM (SELECT DISTINCT device FROM temp.memory_events "
      "WHERE NOT has_address ORDER BY device)");
  if (devices) {
    notes.push_back(fmt::format(
        "addresses of {} are not recorded: which allocations are alive there, or leak, is not known", *devices));
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

void add_memory_options(CommandLine& line) {
  line.add("by", "operator, module, line (of Python), stack, step, size: by what allocated it");
  line.add("at", "what was allocated at a time (12345, 1.5ms, 2s) or at the peak of each device: peak; with --by");
  line.add("curve", OptionKind::kFlag, "a row for each allocation and free: totals over time");
  line.add("leaks", OptionKind::kFlag,
           "what a step allocated that is not freed at the end of the second step after it");
}

void prepare_memory(const CommandLine& line, PassReport& report) {
  const std::optional<std::string> by = line.text("by"), at = line.text("at");
  if (by && std::ranges::find(kMemoryParts, *by) == std::end(kMemoryParts)) {
    throw usage_error("--by {}: there are operator, module, line, stack, step and size", *by);
  }
  if (int{line.has("curve")} + int{line.has("leaks")} + int{at || by} > 1) {
    throw usage_error("--curve, --leaks, --by and --at: give one; only --at goes with --by");
  }
  report.parameters["by"] = by.value_or("operator");
  report.parameters["at"] = at && *at != "peak" ? Cell(parse_time(*at)) : Cell();
  report.script = line.has("curve")   ? "memory_curve"
                  : line.has("leaks") ? "memory_leaks"
                  : at                ? "memory_at"
                  : by                ? "memory_by"
                                      : "memory";
}

}  // namespace

std::vector<Command> operator_commands() {
  const std::vector<OptionGroup> of_layers = {kSelection, kLayers, kSteps,   kCapture, kRules,
                                              kRows,      kOutput, kExplain, kInput};
  const std::vector<OptionGroup> usual = {kSelection, kSteps, kRules, kRows, kOutput, kExplain, kInput};
  return {
      table_command("operators", "time of framework operators on the host, and of what they launch on the device",
                    "  trace-query operators trace.json.gz --limit 20\n"
                    "  trace-query operators trace.json.gz --by shape --phase decode",
                    {{"", "operators"},
                     {"--by shape", "operator_shapes", "a row for each name, shapes and types of inputs"},
                     {"--by args", "operator_arguments", "and for each strides and values"},
                     {"--by module", "operator_modules", "a row for each name and class of nn.Module around it"},
                     {"--tree", "operator_tree", "each operator by itself, below those that call it"},
                     {"--generated", "operators_generated", "generated kernels (Triton): source, warps, stages"}},
                    of_layers, finish_operators, add_backward, prepare_operators),
      table_command("modules", "time of nn.Modules on the host, and of what they launch on the device, by class",
                    "  trace-query modules trace.json.gz\n"
                    "  trace-query modules trace.json.gz --tree --limit 50\n"
                    "  trace-query modules training.json.gz --backward",
                    {{"", "modules"}, {"--tree", "module_tree", "each module by itself, below those that call it"}},
                    usual, finish_modules, add_backward),
      table_command("gemms", "matrix products by sizes and types: FLOPs, bytes, rates, share of the device's peak",
                    "  trace-query gemms trace.json.gz --limit 20\n"
                    "  trace-query gemms trace.json.gz --phase decode --wide",
                    {{"", "gemms"}}, usual, finish_work, add_devices, prepare_work),
      table_command("roofline", "work of operators by shape against the peaks of the device, and what bounds them",
                    "  trace-query roofline trace.json.gz\n"
                    "  trace-query roofline trace.json.gz --step 3 --csv",
                    {{"", "roofline"}}, usual, finish_work, add_devices, prepare_work),
      table_command("recompute", "forward work that the backward pass repeats (activation checkpointing), by operator",
                    "  trace-query recompute training.json.gz", {{"", "recompute"}}, {kRows, kOutput, kInput},
                    finish_recompute),
      table_command("counters", "what hardware counters counted (CUPTI's ranges), by kernel and operator",
                    "  trace-query counters trace.json.gz\n"
                    "  trace-query counters trace.json.gz --by operator --csv",
                    {{"", "counters"}}, {kRows, kOutput, kInput}, finish_counters, add_by_operator, prepare_counters),
      table_command("breakdown", "where the time of a step goes: device, runtime calls, data loader, operators, other",
                    "  trace-query breakdown trace.json.gz\n"
                    "  trace-query breakdown trace.json.gz --by phase --columns phase,steps,length,busy_pct",
                    {{"", "breakdown"},
                     {"--by phase", "breakdown_by_phase", "a row for each kind of step"},
                     {"--by pass", "breakdown_by_pass", "a row for each pass of training, by what launched the work"},
                     {"--by device", "breakdown_by_device", "a row for each device; mean, min and max of several"}},
                    {kPlaces, kSteps, kRules, kRows, kOutput, kExplain, kInput}, finish_breakdown, add_breakdown)};
}

Command critical_path_command() {
  return table_command(
      "critical-path",
      "what a step, or the trace, waited for from its end back to its start; slack; what other durations would bring",
      "  trace-query critical-path trace.json.gz\n"
      "  trace-query critical-path trace.json.gz --step 3 --by name --limit 20\n"
      "  trace-query critical-path trace.json.gz --step 3 --parts\n"
      "  trace-query critical-path trace.json.gz --what-if dense_gemm:0.8 --what-if comm:0",
      {{"", "critical_path"},
       {"--parts", "critical_path_parts"},
       {"--slack", "path_slack"},
       {"--what-if comm:0", "path_what_if"}},
      {kPlaces, kSteps, kRules, kRows, kOutput, kExplain, kInput}, finish_path, add_path_options, prepare_path);
}

Command memory_command() {
  return table_command("memory", "memory of devices and the host: peaks, what was allocated then, by operator, leaks",
                       "  trace-query memory trace.json.gz\n"
                       "  trace-query memory trace.json.gz --by operator\n"
                       "  trace-query memory trace.json.gz --at peak --by module\n"
                       "  trace-query memory trace.json.gz --curve --csv -o curve.csv",
                       {{"", "memory"},
                        {"--by operator", "memory_by"},
                        {"--at peak", "memory_at"},
                        {"--leaks", "memory_leaks"},
                        {"--curve", "memory_curve"}},
                       {kSteps, kRules, kRows, kOutput, kExplain, kInput}, finish_memory, add_memory_options,
                       prepare_memory);
}

}  // namespace tracedb
