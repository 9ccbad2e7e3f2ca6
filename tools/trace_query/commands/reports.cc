// Commands that are little more than their tables: what they answer is in passes/tables and schema/reports.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "passes/columns/event_columns.h"
#include "report/escape.h"
#include "trace/issue.h"
#include "trace_query/command.h"
#include "trace_query/run.h"

namespace tracedb {
namespace {

using enum OptionGroup;
using Notes = std::vector<std::string>;

void append(Notes& notes, const Notes& more) { notes.insert(notes.end(), more.begin(), more.end()); }

// Of a report split by pass.
void add_pass_note(const Index& index, Notes& notes) {
  const EventColumns kernels(index, "kernel", {"pass"});
  const auto pass = kernels.ids("pass");
  const bool known = std::any_of(pass.begin(), pass.end(), [](std::uint32_t value) { return value != 0; });
  if (known || pass.empty()) return;
  notes.emplace_back("the trace shows no training, neither autograd nor an optimizer: no kernel has a pass");
}

bool is_by(const CommandLine& line, std::string_view part) { return line.knows("by") && line.text("by") == part; }

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

void prepare_kernels(const CommandLine& line, PassOptions&) {
  if (line.has("capture") && !line.has("layer") && !is_by(line, "role")) {
    throw Error(ErrorCode::kUsage,
                fmt::format("{}: --capture needs --layer: it changes nothing else here", line.command().name));
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

void finish_launches(const CommandLine&, Workload& workload, TraceReport& result) {
  explain_empty(workload, result, kAnyKernel, "no kernel matches the selection",
                "the trace has neither kernels nor calls that launch some");
}

void finish_memcpys(const CommandLine&, Workload& workload, TraceReport& result) {
  explain_empty(workload, result, "SELECT id FROM memory_op LIMIT 1", "no copy or fill matches the selection",
                "the trace has no copies or fills");
}

void finish_comms(const CommandLine&, Workload& workload, TraceReport& result) {
  explain_empty(workload, result, "SELECT 1 FROM kernel WHERE kind IN ('comm', 'comm_compute') LIMIT 1",
                "no communication kernel matches the selection", "the trace has no communication kernels");
  const auto& rows = result.report.rows;
  if (rows.empty()) return;
  const std::size_t rate = find_column(result.report.columns, "alg_gb_per_s").value();
  const bool rated = std::any_of(rows.begin(), rows.end(),
                                 [&](const Row& row) { return !std::holds_alternative<std::monostate>(row[rate]); });
  result.warnings.emplace_back(rated ? "times include waiting for the other ranks, so bandwidths are lower bounds"
                                     : "times include waiting for the other ranks");
}

void add_sequence_choices(CommandLine& line) {
  add_sequence_options(line);
  line.add("by", OptionKind::kValue, "name: by short name (default); op: by operation class");
}

void prepare_sequences(const CommandLine& line, PassOptions& options) {
  const std::string by = line.text("by").value_or("name");
  if (by != "name" && by != "op") throw Error(ErrorCode::kUsage, fmt::format("--by {}: there are name and op", by));
  options.sequences_by_op = by == "op";
  if (line.renderer().audience == Audience::kHuman && !line.has("wide")) {
    constexpr std::size_t kReadable = 40;  // letters of one kernel's name, in a table for a terminal
    options.sequence_name = [](const std::string& name) { return shorten_middle(name, kReadable); };
  }
}

void finish_sequences(const CommandLine&, Workload& workload, TraceReport& result) {
  explain_empty(workload, result, "SELECT 1", "no sequence of kernels that match the selection repeats",
                "no sequence of kernels repeats");
}

// An index stores the kind; what it means is added here.
void finish_issues(const CommandLine&, Workload&, TraceReport& result) {
  constexpr std::size_t kCount = 1, kKind = 2, kMeaning = 3;
  for (Row& row : result.report.rows) {
    const auto* kind = std::get_if<std::string>(&row[kKind]);
    const IssueDescription* known = kind == nullptr ? nullptr : find_issue_kind(*kind);
    const auto* count = std::get_if<std::int64_t>(&row[kCount]);
    if (known != nullptr && count != nullptr)
      row[kMeaning] = issue_sentence(known->kind, static_cast<std::uint64_t>(*count)).text;
  }
  if (result.report.rows.empty()) result.warnings.emplace_back("nothing was wrong with the trace");
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
    notes.push_back(fmt::format("{} layers; {:.1f} % of the kernel time is in one", text, 100 * layers.coverage));
  }
  if (!has_kernels(workload.index())) {
    notes.emplace_back("the trace has no kernels");
  } else if (result.report.rows.empty() && !workload.selection().empty()) {
    notes.emplace_back("no kernel matches the selection");
  }
  if (is_by(line, "pass")) add_pass_note(workload.index(), notes);
  // With a single stack, its name is not repeated in each row.
  if (line.renderer().audience == Audience::kHuman && layers.stacks.size() < 2) remove_column(result.report, "stack");
}

void finish_phases(const CommandLine& line, Workload& workload, TraceReport& result) {
  result.warnings = workload.steps().notes;
  if (result.report.rows.empty()) {
    if (workload.steps().steps.empty() && !has_kernels(workload.index())) {
      result.warnings.emplace_back("the trace has no kernels");
    } else if (line.has("steady")) {
      result.warnings.emplace_back("no step gives its number of decode requests: steady state is unknown");
    }
  }
  // People see the clock of a period where it is not the usual one.
  if (line.renderer().audience != Audience::kHuman || line.has("columns")) return;
  const auto is_host = [place = find_column(result.report.columns, "period_on").value()](const Row& row) {
    return row[place] == Cell("host");
  };
  if (std::none_of(result.report.rows.begin(), result.report.rows.end(), is_host))
    remove_column(result.report, "period_on");
}

void finish_steps(const CommandLine& line, Workload& workload, TraceReport& result) {
  finish_phases(line, workload, result);
  Statement steady(workload.index().database(), "SELECT min(step), max(step) FROM temp.step_figures WHERE steady = 1");
  if (!steady.step() || steady.is_null(0) || steady.int64(0) == steady.int64(1)) return;
  result.warnings.push_back(fmt::format("steady state: steps {} to {} of {}", steady.int64(0), steady.int64(1),
                                        workload.steps().steps.size()));
}

CommandTable by_pass(std::string_view report) {
  return {"--by pass", report, "a row for each pass of training: forward, backward, optimizer"};
}

}  // namespace

std::vector<Command> report_commands() {
  const std::vector<OptionGroup> of_layers = {kSelection, kLayers, kSteps,   kCapture, kRules,
                                              kRows,      kOutput, kExplain, kInput};
  const std::vector<OptionGroup> of_steps = {kSteps, kRules, kRows, kOutput, kExplain, kInput};
  const std::vector<OptionGroup> usual = {kSelection, kSteps, kRules, kRows, kOutput, kExplain, kInput};
  const std::vector<Command> timeline = timeline_commands();
  return {
      table_command("ops", "kernel time by operation: attention, GEMM, norm, communication, ...",
                    "ops [options] TRACE|INDEX...",
                    "  trace-query ops trace.json.gz --phase decode\n"
                    "  trace-query ops trace.json.gz --by role\n"
                    "  trace-query ops training.json.gz --by pass\n"
                    "  trace-query kernels trace.json.gz --op attention_decode\n"
                    "  trace-query rules show trace.json.gz       which name has which class, and why",
                    {{"", "ops"},
                     by_pass("ops_by_pass"),
                     {"--by role", "ops_by_role",
                      "a row for each role in the model (qkv_proj, o_proj, gate_up, down, router, experts ...)"}},
                    of_layers, finish_kernels, nullptr, prepare_kernels),
      table_command("kernels", "kernel time by name", "kernels [options] TRACE|INDEX...",
                    "  trace-query kernels trace.json.gz --limit 10\n"
                    "  trace-query kernels trace.json.gz --phase decode --name 'ncclDevKernel*' --csv",
                    {{"", "kernels"}, by_pass("kernels_by_pass")}, of_layers, finish_kernels, nullptr, prepare_kernels),
      table_command("phases", "steps by kind: prefill, decode, mixed, train, ...", "phases [options] TRACE|INDEX...",
                    "  trace-query phases trace.json.gz", {{"", "phases"}}, of_steps, finish_phases, add_steady),
      table_command("steps", "the steps of the workload: kind, requests, tokens, time on host and device",
                    "steps [options] TRACE|INDEX...",
                    "  trace-query steps trace.json.gz\n"
                    "  trace-query steps trace.json.gz --steady --csv\n"
                    "  trace-query steps trace.json.gz --step-regex '^iter_(?<kind>[a-z]+)_(?<context>[0-9]+)'",
                    {{"", "steps"}}, of_steps, finish_steps, add_steady),
      table_command(
          "layers", "kernel time by layer of the model, head and tail of each step", "layers [options] TRACE|INDEX...",
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
      timeline[0],
      timeline[1],
      table_command("launches", "calls that launch kernels, by name: time in the call, delay, queueing",
                    "launches [options] TRACE|INDEX...",
                    "  trace-query launches trace.json.gz\n"
                    "  trace-query launches trace.json.gz --phase decode --csv",
                    {{"", "launches"}}, usual, finish_launches),
      table_command("comms", "communication by collective: time, exposed time, size, bandwidth",
                    "comms [options] TRACE|INDEX...",
                    "  trace-query comms trace.json.gz\n"
                    "  trace-query comms trace.json.gz --phase decode --csv",
                    {{"", "comms"}}, usual, finish_comms),
      table_command("memcpys", "copies and fills by direction: count, bytes, time, bandwidth",
                    "memcpys [options] TRACE|INDEX...",
                    "  trace-query memcpys trace.json.gz\n"
                    "  trace-query memcpys trace.json.gz --phase decode --csv",
                    {{"", "memcpys"}}, {kPlaces, kSteps, kRules, kRows, kOutput, kExplain, kInput}, finish_memcpys),
      stacks_command(),
      table_command("sequences", "sequences of kernels that repeat", "sequences [options] TRACE|INDEX...",
                    "  trace-query sequences trace.json.gz --length 4\n"
                    "  trace-query sequences trace.json.gz --by op --phase decode",
                    {{"", "sequences"}}, {kSelection, kRules, kRows, kOutput, kExplain, kInput}, finish_sequences,
                    add_sequence_choices, prepare_sequences),
      table_command("warnings", "what makes answers about this trace less certain, how much it affects, what to do",
                    "warnings [options] TRACE|INDEX...", "  trace-query warnings trace.json.gz", {{"", "warnings"}},
                    of_steps, finish_warnings),
      table_command("issues", "problems found in the trace, with counts", "issues [options] TRACE|INDEX...",
                    "  trace-query issues trace.json.gz", {{"", "issues"}}, {kRows, kOutput, kInput}, finish_issues)};
}

}  // namespace tracedb
