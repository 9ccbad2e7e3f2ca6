// Commands that are little more than their tables: what they answer is in passes/tables and schema/reports.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text/amounts.h"
#include "base/text/closest_name.h"
#include "export/folded_stacks.h"
#include "passes/columns/event_columns.h"
#include "passes/tables/pass_tables.h"
#include "report/escape.h"
#include "trace/format_holds.h"
#include "trace/python_frame.h"
#include "trace_query/command.h"
#include "trace_query/run.h"

namespace tracedb {
namespace {

using enum OptionGroup;
using Notes = std::vector<std::string>;

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
                                 std::string("SELECT sum(gaps), sum(idle - unselected) FROM temp.timeline")}) {
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

void finish_timeline(const CommandLine& line, Workload& workload, TraceReport& result) {
  result.warnings = workload.selection_notes();
  const Index& index = workload.index();
  if (!line.has("per-stream")) drop_column(result.report, "stream");
  if (line.for_people()) shorten_hosts(result.report);
  if (result.report.rows.empty()) {
    const bool selected = has_device_work(index) && !workload.selection().empty();
    result.warnings.emplace_back(selected ? "nothing that ran on a device matches the selection" : kNoDeviceWork);
  }
  if (index.database().query_int64("SELECT 1 FROM temp.timeline WHERE unselected > 0")) {
    result.warnings.emplace_back(
        "idle: none of the selected work ran; unselected: the part of it during which other work ran or was waited "
        "for");
  }
  add_extremes(result.report);
}

void add_gap_options(CommandLine& line) {
  line.add({kTimeline});
  line.add("min-dur", "only gaps of at least this time: 100us; the shorter ones are one row");
}

// The longest are not the first in another order.
void prepare_gaps(const CommandLine& line, PassReport& report) {
  const bool needs_all = line.has("sort") || line.has("cum") || line.has("offset") || line.has("total") ||
                         line.renderer().name == "compact";
  report.options.most_gaps = needs_all ? 0 : row_limit(line);
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
      result.warnings.push_back(fmt::format("[others] is {}; --limit 0 shows all{}", counted(count, "more gap"),
                                            line.has("min-dur") ? " that are as long as --min-dur" : ""));
    }
  }
  if (!line.has("per-stream")) drop_column(result.report, "stream");
  if (line.for_people()) shorten_hosts(result.report);
  if (all.count > 0) return;
  result.warnings.emplace_back(
      has_device_work(workload.index()) ? "no device was idle before work that matches the selection" : kNoDeviceWork);
}

// A place in the list of views; nullopt: collapsed.
std::optional<CallTreeView> requested_view(const CommandLine& line) {
  static const std::vector<std::string> kViews = {"tree", "callers", "flat", "collapsed"};
  const std::string wanted = line.text("view").value_or(line.has("by") ? "flat" : "tree");
  const auto found = std::find(kViews.begin(), kViews.end(), wanted);
  if (found == kViews.end()) {
    throw usage_error("--view {}: use tree, callers, flat and collapsed{}", wanted, did_you_mean(wanted, kViews));
  }
  if (wanted == "collapsed") return std::nullopt;
  return static_cast<CallTreeView>(found - kViews.begin());
}

// Stacks, but no frame that the options look at.
std::string no_frame_text(const FrameChoice& frames) {
  if (frames.which != Frames::kOwn)
    return "no kernel is launched within an nn.Module: leave --modules or --by module out";
  if (frames.own.empty()) return "no kernel is launched by code of your own: name its files with --own 'GLOB'";
  return fmt::format(
      "no frame is in a file that --own '{}' matches: without --own, --by function shows which there are",
      fmt::join(frames.own, ","));
}

std::vector<std::string> warnings_of(Workload& workload, bool any_kernel, bool any_stack) {
  std::vector<std::string> warnings = workload.selection_notes();
  if (workload.capture() != nullptr) {
    const std::vector<std::string>& notes = workload.origins().notes;
    warnings.insert(warnings.end(), notes.begin(), notes.end());
  }
  if (!any_kernel) {
    warnings.emplace_back(workload.selection().empty() ? "the trace has no kernels"
                                                       : "no kernel matches the selection");
  } else if (!any_stack && workload.index().database().query_int64("SELECT id FROM stack LIMIT 1")) {
    warnings.emplace_back(
        "none of these kernels has a Python stack: their launches are outside the trace, or outside Python");
  } else if (!any_stack) {
    const std::string format = workload.index().meta("format").value_or("");
    warnings.push_back(format_holds(format).stacks
                           ? fmt::format("the trace has no Python stacks: {}", recording_advice(format).stacks)
                           : "this format holds no Python stacks");
  }
  return warnings;
}

int run_collapsed(const CommandLine& line, const FrameChoice& frames) {
  const RequestedWorkload requested(line);
  const auto print = [&](const OpenedTrace& trace, Output& output) -> std::optional<TraceReport> {
    for (const std::string& note : trace.notes) output.note(note);
    Workload workload = requested.of(trace.index);
    const StackTimes times = stack_times(workload, frames);
    write_folded(output.stream(), folded_stacks(times, frames.which));
    const auto counts = [](const PathTime& path) { return path.count > 0; };
    const bool any_stack = counts(times.passed_over) || std::any_of(times.times.begin() + 1, times.times.end(), counts);
    for (const std::string& note : warnings_of(workload, any_stack || counts(times.times[0]), any_stack))
      output.note(note);
    return std::nullopt;
  };
  return run_trace_reports(line, {}, print);
}

int run_stacks(const Command& command, std::span<const std::string> args) {
  CommandLine line(command, {kSelection, kCapture, kRules, kRows, kOutput, kExplain, kInput});
  line.add("view",
           "tree: from the outermost frame in (default); callers: from the launching frame out; flat: by frame; "
           "collapsed: one line a path, in ns, for flame graph tools");
  line.add({kByFrames, kCallTree});
  if (!line.parse(args)) return 0;
  PassOptions options = requested_pass_options(line);
  const std::optional<CallTreeView> view = requested_view(line);
  if (!view && !line.has("explain")) return run_collapsed(line, options.frames);
  options.view = view.value_or(CallTreeView::kTree);
  options.most_frames = row_limit(line);
  const bool human = line.for_people();
  const Parameters parameters = {{"indent", std::int64_t{human ? 2 : 0}}};
  return run_pass_reports(
      line, {"stacks", options, parameters,
             [human, frames = options.frames](const CommandLine& own, Workload& workload, TraceReport& result) {
               Database& database = workload.index().database();
               const bool any_stack =
                   database.query_int64("SELECT 1 FROM temp.call_tree WHERE frame <> '[no stack]' LIMIT 1").has_value();
               result.warnings = warnings_of(workload, !result.report.rows.empty(), any_stack);
               const auto any_frame = database.query_int64(
                   "SELECT 1 FROM temp.call_tree WHERE frame NOT IN ('[no stack]', '[no module]', '[no own frame]') "
                   "LIMIT 1");
               if (any_stack && !any_frame) {
                 result.warnings.push_back(no_frame_text(frames));
                 if (human) result.report.rows.clear();  // one row that says the same
               }
               if (own.hides("frames")) drop_column(result.report, "frames");  // people see the number behind the frame
             }});
}

// Of a report split by pass.
void add_pass_note(const Index& index, Notes& notes) {
  const EventColumns kernels(index, "kernel", {"pass"});
  const auto pass = kernels.ids("pass");
  const bool known = std::any_of(pass.begin(), pass.end(), [](std::uint32_t value) { return value != 0; });
  if (known || pass.empty()) return;
  notes.emplace_back(index.database().query_int64("SELECT id FROM cpu_op LIMIT 1")
                         ? "no operator of autograd or an optimizer is around a launch: no kernel has a pass"
                         : "passes are not known: operators, which tell them, are not recorded");
}

bool is_by(const CommandLine& line, std::string_view part) { return line.text("by") == part; }

bool any(const Workload& workload, std::string_view sql) {
  return !workload.selection().empty() && workload.index().database().query_int64(sql).has_value();
}

// Where the report has no rows: whether the selection is to blame.
void explain_empty(Workload& workload, TraceReport& result, std::string_view any_sql, std::string_view selected,
                   std::string_view none) {
  result.warnings = workload.selection_notes();
  if (result.report.rows.empty()) result.warnings.emplace_back(any(workload, any_sql) ? selected : none);
}

constexpr std::string_view kAnyKernel = "SELECT id FROM kernel LIMIT 1";

void prepare_kernels(const CommandLine& line, PassReport&) {
  if (line.has("capture") && !line.has("layer") && !is_by(line, "role")) {
    throw usage_error("{}: --capture needs --layer: it changes nothing else here", line.command().name);
  }
}

void finish_kernels(const CommandLine& line, Workload& workload, TraceReport& result) {
  if (is_by(line, "role")) {
    result.warnings = workload.layer_notes();
    append(result.warnings, workload.missing_notes());
  } else {
    result.warnings = workload.selection_notes();
  }
  if (result.report.rows.empty()) result.warnings.push_back(why_no_kernels(workload));
  if (is_by(line, "pass")) add_pass_note(workload.index(), result.warnings);
}

void finish_launches(const CommandLine& line, Workload& workload, TraceReport& result) {
  if (line.has("bandwidth")) {
    explain_empty(workload, result, "SELECT id FROM memory_op WHERE kind = 'memcpy' AND bytes > 0 AND dur > 0 LIMIT 1",
                  "no copy matches the selection", "the trace has no copies of known size and duration");
    return;
  }
  const bool any_short = line.has("short") && has_kernels(workload.index());
  constexpr const char* kShort = "no kernel that short waited longer for its launch than it ran";
  const bool is_half =
      has_device_work(workload.index()) ||
      workload.index().database().query_int64("SELECT id FROM runtime_call WHERE kind = 'launch' LIMIT 1");
  explain_empty(workload, result, kAnyKernel,
                any_short ? "no kernel that is selected and that short waited longer for its launch than it ran"
                          : "no kernel with its launch matches the selection",
                any_short ? kShort
                : is_half ? "the trace does not record both launches and what they start on the device"
                          : "the trace has neither kernels nor calls that launch some");
}

void add_queue_limit(CommandLine& line) {
  line.add("queue-limit", "At Limit is the time with that many or more (1024)");
}

void finish_memcpys(const CommandLine&, Workload& workload, TraceReport& result) {
  explain_empty(workload, result, "SELECT id FROM memory_op LIMIT 1", "no copy or fill matches the selection",
                "the trace has no copies or fills");
}

void finish_comms(const CommandLine&, Workload& workload, TraceReport& result) {
  explain_empty(workload, result, "SELECT 1 FROM kernel WHERE kind IN ('comm', 'comm_compute') LIMIT 1",
                "no communication kernel matches the selection",
                "the trace has no kernel that is recognised as communication");
  const auto& rows = result.report.rows;
  if (rows.empty()) return;
  const std::size_t rate = find_column(result.report.columns, "alg_gb_per_s").value();
  const bool rated = std::any_of(rows.begin(), rows.end(),
                                 [&](const Row& row) { return !std::holds_alternative<std::monostate>(row[rate]); });
  result.warnings.emplace_back(rated ? "times include waiting for the other ranks, so bandwidths are lower bounds"
                                     : "times include waiting for the other ranks");
}

void add_sequence_choices(CommandLine& line) {
  line.add("by", "name: by short name (default); op: by operation class");
}

void prepare_sequences(const CommandLine& line, PassReport& report) {
  report.options.sequences_by_op = line.choice<bool>("by", {{"name", false}, {"op", true}}, "there are name and op");
  if (line.for_people() && !line.has("wide")) {
    constexpr std::size_t kReadable = 40;  // letters of one kernel's name, in a table for a terminal
    report.options.sequence_name = [](const std::string& name) { return shorten_middle(name, kReadable); };
  }
}

void finish_sequences(const CommandLine&, Workload& workload, TraceReport& result) {
  explain_empty(workload, result, "SELECT 1", "no sequence of kernels that match the selection repeats",
                "no sequence of kernels repeats");
}

void finish_warnings(const CommandLine&, Workload& workload, TraceReport& result) {
  result.warnings = workload.steps().notes;
  if (result.report.rows.empty()) result.warnings.emplace_back("nothing to warn of");
}

void finish_layers(const CommandLine& line, Workload& workload, TraceReport& result) {
  Notes& notes = result.warnings = workload.layer_notes();
  append(notes, workload.missing_notes());
  const LayerSet& layers = workload.layers();
  if (!layers.stacks.empty()) {
    std::string text;
    for (const LayerStack& stack : layers.stacks) {
      text += (text.empty() ? "" : ", ") + stack_text(stack, layers.stacks.size() > 1);
    }
    notes.push_back(fmt::format("{} layers; {} of the kernel time is in one", text, part_text(layers.coverage, 1)));
  } else if (const auto advice = recording_advice(workload.index().meta("format").value_or("")).layers;
             !advice.empty()) {
    notes.push_back(fmt::format("for layers of the next recording {}", advice));
  }
  if (!has_kernels(workload.index())) {
    notes.emplace_back("the trace has no kernels");
  } else if (result.report.rows.empty() && !workload.selection().empty()) {
    notes.emplace_back("no kernel matches the selection");
  }
  if (is_by(line, "pass")) add_pass_note(workload.index(), notes);
  // With a single stack, its name is not repeated in each row.
  if (line.hides("stack") && layers.stacks.size() < 2) drop_column(result.report, "stack");
}

void finish_steps(const CommandLine& line, Workload& workload, TraceReport& result) {
  result.warnings = workload.steps().notes;
  if (result.report.rows.empty()) {
    if (workload.steps().steps.empty() && !has_kernels(workload.index())) {
      result.warnings.emplace_back("the trace has no kernels");
    } else if (line.has("steady")) {
      result.warnings.emplace_back("no step gives its number of decode requests: steady state is unknown");
    }
  }
  if (line.hides("period_on")) drop_device_clock(result.report);
}

// Says what steps of a kind take that are not in its period, where that is another time.
void finish_phases(const CommandLine& line, Workload& workload, TraceReport& result) {
  finish_steps(line, workload, result);
  Statement other(workload.index().database(), R"(
      SELECT phase, count(iif(next_phase <> phase, period, NULL)), count(*), median(iif(next_phase <> phase, period, NULL)) AS other,
             median(iif(next_phase = phase, period, NULL)) AS own
      FROM temp.step_figures GROUP BY phase HAVING max(other, own) > 1.3 * min(other, own))");
  while (other.step()) {
    result.warnings.push_back(fmt::format(
        "{}: {} of {} steps take {} until another kind begins and are in neither period nor tokens/s: the others {}",
        other.text(0), other.int64(1), other.int64(2), brief_time(other.real(3)), brief_time(other.real(4))));
  }
}

void finish_all_steps(const CommandLine& line, Workload& workload, TraceReport& result) {
  finish_steps(line, workload, result);
  Statement steady(workload.index().database(), "SELECT min(step), max(step) FROM temp.step_figures WHERE steady = 1");
  if (!steady.step() || steady.is_null(0) || steady.int64(0) == steady.int64(1)) return;
  result.warnings.push_back(fmt::format("steady state: steps {} to {} of {}", steady.int64(0), steady.int64(1),
                                        workload.steps().steps.size()));
}

CommandTable by_pass(std::string_view report) {
  return {"--by pass", report, "a row for each pass of training: forward, backward, optimizer"};
}

void finish_declared(const CommandLine& line, Workload& workload, TraceReport& result) {
  const ReportCommand command = report_command(report_script(line.command().name)).value();
  if (command.takes_selection) result.warnings = workload.selection_notes();
  if (result.report.rows.empty()) result.warnings.emplace_back(command.empty_note);
}

}  // namespace

std::vector<Command> report_commands() {
  const std::vector<OptionGroup> of_layers = {kSelection, kLayers, kSteps,   kCapture, kRules,
                                              kRows,      kOutput, kExplain, kInput};
  const std::vector<OptionGroup> of_steps = {kSteps, kRules, kRows, kOutput, kExplain, kInput};
  const std::vector<OptionGroup> of_phases = {kSteps, kRules, kRows, kOutput, kExplain, kInput, kSteady};
  const std::vector<OptionGroup> usual = {kSelection, kSteps, kRules, kRows, kOutput, kExplain, kInput};
  std::vector<Command> out = {
      table_command(
          "ops", "kernel time by operation: attention, GEMM, norm, communication, ...",
          "  trace-query ops trace.json.gz --phase decode\n"
          "  trace-query ops trace.json.gz --by role\n"
          "  trace-query ops training.json.gz --by pass\n"
          "  trace-query kernels trace.json.gz --op attention_decode\n"
          "  trace-query rules show trace.json.gz       which name has which class, and why",
          {{"", "ops"},
           by_pass("ops_by_pass"),
           {"--by role", "ops_by_role",
            "a row for each role in the model (qkv_proj, o_proj, gate_up, down, router, experts ...)"},
           {"--by hlo", "ops_by_hlo", "of XLA: a row for each HLO operation, with its program and its shape"}},
          of_layers, finish_kernels, nullptr, prepare_kernels),
      table_command("kernels", "kernel time by name",
                    "  trace-query kernels trace.json.gz --limit 10\n"
                    "  trace-query kernels trace.json.gz --phase decode --name 'ncclDevKernel*' --csv",
                    {{"", "kernels"},
                     by_pass("kernels_by_pass"),
                     {"--by launch", "kernel_launches",
                      "a row for each name and launch configuration: grid, block, registers, occupancy, matrix units"}},
                    of_layers, finish_kernels, nullptr, prepare_kernels),
      table_command("phases", "steps by kind: prefill, decode, mixed, train, ...", "  trace-query phases trace.json.gz",
                    {{"", "phases"}}, of_phases, finish_phases),
      table_command("steps", "the steps of the workload: kind, requests, tokens, time on host and device",
                    "  trace-query steps trace.json.gz\n"
                    "  trace-query steps trace.json.gz --steady --csv\n"
                    "  trace-query steps trace.json.gz --step-regex '^iter_(?<kind>[a-z]+)_(?<context>[0-9]+)'",
                    {{"", "steps"}}, of_phases, finish_all_steps),
      table_command(
          "layers", "kernel time by layer of the model, head and tail of each step",
          "  trace-query layers trace.json.gz --phase decode\n"
          "  trace-query layers trace.json.gz --layer 0..3 --per-op\n"
          "  trace-query layers trace.json.gz --phase decode --per-role\n"
          "  trace-query kernels trace.json.gz --layer 7\n"
          "  trace-query layers with_graphs.json.gz --capture without_graphs.json.gz",
          {{"", "layers"},
           {"--per-op", "layer_ops", "a row for each operation of each layer"},
           {"--per-role", "layer_roles", "a row for each role of each layer: qkv_proj, o_proj, gate_up, down ..."},
           by_pass("layers_by_pass")},
          of_layers, finish_layers),
      table_command(
          "timeline", "busy and idle time of each device: computation, communication, copies, causes of idling",
          "  trace-query timeline trace.json.gz\n"
          "  trace-query timeline trace.json.gz --from 1.2s --to 1.3s --per-stream",
          {{"", "timeline"}}, {kSelection, kSteps, kRules, kRows, kOutput, kExplain, kInput, kTimeline, kMicroIdle},
          finish_timeline),
      table_command("gaps", "times at which a device ran nothing: cause, neighbours, and where the host was",
                    "  trace-query gaps trace.json.gz --min-dur 100us\n"
                    "  trace-query gaps trace.json.gz --each --limit 10\n"
                    "  trace-query gaps trace.json.gz --phase decode --format csv",
                    {{"", "gap_groups"}, {"--each", "gaps", "every gap by itself, longest first"}}, usual, finish_gaps,
                    add_gap_options, prepare_gaps),
      table_command("launches",
                    "calls that launch kernels, copies and fills, by name: time in the call, delay, queueing",
                    "  trace-query launches trace.json.gz\n"
                    "  trace-query launches trace.json.gz --short 10us\n"
                    "  trace-query launches trace.json.gz --phase decode --csv",
                    {{"", "launches"},
                     {"--short 10us", "launches_short",
                      "kernels shorter than this that waited longer for their launch than they ran, by name"}},
                    usual, finish_launches),
      table_command("queue", "launched work that waits in the queue of each stream, and the rate of copies, over time",
                    "  trace-query queue trace.json.gz\n"
                    "  trace-query queue trace.json.gz --series --stream 7 --csv",
                    {{"", "queue"},
                     {"--series", "queue_series", "a row for each launch and each start"},
                     {"--bandwidth", "copy_bandwidth", "a row for each start and end of a copy, by direction"}},
                    usual, finish_launches, add_queue_limit),
      table_command("comms", "communication by collective: time, exposed time, size, bandwidth",
                    "  trace-query comms trace.json.gz\n"
                    "  trace-query comms trace.json.gz --phase decode --csv",
                    {{"", "comms"}}, usual, finish_comms),
      table_command("memcpys", "copies and fills by direction: count, bytes, time, bandwidth",
                    "  trace-query memcpys trace.json.gz\n"
                    "  trace-query memcpys trace.json.gz --phase decode --csv",
                    {{"", "memcpys"}}, {kPlaces, kSteps, kRules, kRows, kOutput, kExplain, kInput}, finish_memcpys),
      {"stacks",
       "kernel time by python call path, nn.Module or function of your own code",
       "stacks [options] TRACE|INDEX...",
       "  trace-query stacks trace.json.gz --modules\n"
       "  trace-query stacks trace.json.gz --by module\n"
       "  trace-query stacks trace.json.gz --by function --own 'vllm/*'\n"
       "  trace-query stacks trace.json.gz --view callers --op dense_gemm\n"
       "  trace-query stacks trace.json.gz --view collapsed > trace.folded\n"
       "  trace-query stacks with_graphs.json.gz --modules --capture without_graphs.json.gz",
       run_stacks,
       {{"", "stacks"}}},
      table_command("sequences", "sequences of kernels that repeat",
                    "  trace-query sequences trace.json.gz --length 4\n"
                    "  trace-query sequences trace.json.gz --by op --phase decode",
                    {{"", "sequences"}}, {kSelection, kRules, kRows, kOutput, kExplain, kInput, kSequences},
                    finish_sequences, add_sequence_choices, prepare_sequences),
      table_command("warnings", "what makes answers about this trace less certain, how much it affects, what to do",
                    "  trace-query warnings trace.json.gz", {{"", "warnings"}}, of_steps, finish_warnings)};
  std::vector<Command> of_operators = operator_commands();
  const auto behind_kernels = out.begin() + 2;
  out.insert(behind_kernels, of_operators.begin(), of_operators.end());
  for (const std::string_view name : report_names()) {
    const std::optional<ReportCommand> declared = report_command(report_script(name));
    if (!declared) continue;
    out.push_back(table_command(
        name, declared->summary, fmt::format("  trace-query {} trace.json.gz", name), {{"", name}},
        declared->takes_selection ? usual : std::vector<OptionGroup>{kRows, kOutput, kInput}, finish_declared));
  }
  return out;
}

}  // namespace tracedb
