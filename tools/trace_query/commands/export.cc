#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <filesystem>

#include "base/files/input_file.h"
#include "base/text/amounts.h"
#include "export/folded_stacks.h"
#include "export/parquet/kernel_file.h"
#include "export/replay.h"
#include "export/window_export.h"
#include "present/cells.h"
#include "trace_query/command.h"
#include "trace_query/help.h"
#include "trace_query/options.h"
#include "trace_query/output.h"
#include "trace_query/run.h"

namespace tracedb {
namespace {

struct ExportInput {
  std::string path;    // for people
  std::string prefix;  // of notes: there are two
  OpenedTrace trace;

  [[nodiscard]] const Index& index() const { return trace.index; }
  [[nodiscard]] bool counts_cycles() const { return index().meta("time_unit") == "cycle"; }
};

// The trace and, with --compare, the one it is compared with.
std::vector<ExportInput> open_inputs(const CommandLine& line) {
  std::vector<std::string> paths = line.inputs();
  if (paths.size() > 1) throw usage_error("export: give one trace, and with --compare a second one to put beside it");
  if (const auto other = line.text("compare")) paths.push_back(*other);
  std::vector<ExportInput> out;
  for (const std::string& path : paths) {
    const std::string shown = printable_path(path);
    const ExportInput& one =
        out.emplace_back(ExportInput{shown, paths.size() > 1 ? shown + ": " : "", open_trace(path, line)});
    for (const std::string& text : one.trace.notes) note(line, one.prefix + text);
    const bool has_unit = line.text("format") == "speedscope";
    if (!has_unit && one.counts_cycles()) note(line, one.prefix + kCyclesNote);
  }
  return out;
}

int write_perfetto(const CommandLine& line) {
  line.refuse({"by", "own", "modules", "each-module", "night", "job"}, "--{}: does not apply to perfetto");
  const auto gaps = static_cast<std::size_t>(line.number("top-gaps").value_or(0));
  if (line.has("top-gaps") && gaps == 0) throw usage_error("--top-gaps 0: give 1 or more");
  const RequestedWorkload requested(line);
  const std::vector<ExportInput> inputs = open_inputs(line);
  std::deque<Workload> workloads;
  std::deque<TraceWindow> windows;
  std::vector<WindowSide> sides;
  std::vector<std::string> empty;
  for (const ExportInput& input : inputs) {
    Workload& workload = workloads.emplace_back(input.index(), requested.rules(), requested.options());
    const TraceWindow& window = windows.emplace_back(find_window(workload, gaps));
    const char* const side = inputs.size() == 1 ? "" : sides.empty() ? "A: " : "B: ";
    sides.push_back({workload, window, side, line.has("critical-path"), line.has("queues")});
    for (const std::string& text : workload.selection_notes()) note(line, input.prefix + text);
    if (window.empty()) empty.push_back(input.path + ": " + why_no_kernels(workload));
  }
  const auto refuse = [&] { throw usage_error("nothing to write: {}", fmt::join(empty, "; ")); };
  // A window by time, or of a trace without kernels, may have the host's work.
  const bool any_time = std::ranges::any_of(windows, [](const auto& one) { return !one.spans.empty(); });
  if (!any_time) refuse();
  OutputTarget output(line.text("output"));
  const WindowCounts counts = write_windows(output.stream(), sides);
  if (counts.kernels + counts.memory_ops + counts.host_events == 0) refuse();
  output.finish();
  for (const std::string& text : empty) note(line, text);
  for (const ExportInput& input : inputs) {
    for (const std::string& lost : input.index().database().take_notes()) note(line, lost);
  }
  note(line,
       fmt::format("{}, {}, {} of the host, {} from launches; ui.perfetto.dev opens it",
                   counted(counts.kernels, "kernel"), counted(counts.memory_ops, "copy or fill", "copies and fills"),
                   counted(counts.host_events, "event"), counted(counts.flows, "flow")));
  return 0;
}

int write_stacks(const CommandLine& line, bool speedscope) {
  line.refuse({"top-gaps", "critical-path", "queues", "night", "job"},
              speedscope ? "--{}: does not apply to speedscope" : "--{}: does not apply to collapsed");
  const FrameChoice frames = requested_pass_options(line).frames;
  const RequestedWorkload requested(line);
  const std::vector<ExportInput> inputs = open_inputs(line);
  std::vector<FoldedStacks> stacks;
  for (const ExportInput& input : inputs) {
    Workload workload = requested.of(input.index());
    stacks.push_back(folded_stacks(stack_times(workload, frames), frames.which));
    for (const std::string& text : workload.selection_notes()) note(line, input.prefix + text);
    if (stacks.back().stacks.empty()) note(line, input.prefix + why_no_kernels(workload));
  }
  OutputTarget output(line.text("output"));
  if (speedscope) {
    std::vector<SpeedscopeProfile> profiles;
    for (std::size_t i = 0; i < stacks.size(); ++i) {
      profiles.push_back({inputs[i].path, stacks[i], inputs[i].counts_cycles()});
    }
    write_speedscope(output.stream(), profiles.front().name, profiles);
  } else if (stacks.size() == 2) {
    write_folded_difference(output.stream(), stacks[0], stacks[1]);
  } else {
    write_folded(output.stream(), stacks[0]);
  }
  output.finish();
  return 0;
}

int write_parquet(const CommandLine& line) {
  line.refuse({"top-gaps", "critical-path", "queues", "compare", "by", "own", "modules", "each-module"},
              "--{}: does not apply to parquet");
  const std::string target = line.text("output").value_or("-");
  if (target == "-") {
    throw usage_error("export: name a folder or a file to write, as in -o kernels or -o kernels.parquet");
  }
  const RequestedWorkload requested(line);
  const std::vector<ExportInput> inputs = open_inputs(line);
  const Index& index = inputs.front().index();
  const std::filesystem::path source = index.meta("source_path").value_or(line.inputs().front());
  const std::string job = line.text("job").value_or(source.parent_path().filename().string());
  Workload workload = requested.of(index);
  const KernelFile file = write_kernel_file(workload, target, line.text("night").value_or(night_of(index)), job);
  note(line, fmt::format("{}: {}", printable_path(file.path), counted(file.rows, "kernel")));
  return 0;
}

// "; " between kinds, ", " between formats of a kind: "speedscope, collapsed: kernel time ...".
std::string format_help() {
  std::string text;
  for (const ExportFormat& format : kExportFormats) {
    text += format.name;
    text += format.what.empty() ? ", " : fmt::format(": {}; ", format.what);
  }
  return text + "without it the ending of -o names the format";
}

const ExportFormat& format_of(const std::string& wanted, std::string_view file) {
  const bool by_ending = wanted.empty();
  std::vector<std::string> known;
  if (by_ending) known.emplace_back(".json");
  for (const ExportFormat& format : kExportFormats) {
    const std::string_view own = by_ending ? format.ending : format.name;
    if (own.empty()) continue;
    if (by_ending ? file.ends_with(own) : wanted == own) return format;
    known.emplace_back(own);
  }
  by_ending ? refuse_unknown_ending(std::string(file), known) : require_known("format", wanted, known);
  return kExportFormats[0];
}

std::string value_of(std::vector<std::string> words, const std::string& name) {
  return take_option(words, name).value_or("");
}

// Tables are written by the commands that make them; nullopt: it is about none.
std::optional<int> run_other_command(std::span<const std::string> args) {
  std::vector<std::string> words(args.begin(), args.end());
  const auto report = take_option(words, "--report");
  const auto query = take_option(words, "--query");
  if (report && query) throw usage_error("export: give --report or --query, not both");
  if (report) {
    const Command* command = known_command(*report);
    if (command == nullptr || command->name == "export") {
      throw usage_error("--report {}: no such report (trace-query --help lists them)", *report);
    }
    return command->run(*command, words);
  }
  if (take_option(words, "--replay")) return std::nullopt;
  const std::string wanted = value_of(words, "--format");
  const std::string file = value_of(words, "-o") + value_of(words, "--output");
  if (!query && format_of(wanted, file).kind != ExportKind::kTable) return std::nullopt;
  words.push_back(query.value_or("SELECT * FROM kernels WHERE kernel_selected(id)"));
  const Command& sql = *known_command("sql");
  return sql.run(sql, words);
}

int write_program(const CommandLine& line, const std::string& op) {
  line.refuse({"format", "compare", "critical-path", "queues", "top-gaps", "by", "own", "modules", "each-module",
               "night", "job"},
              "--{}: does not apply to --replay");
  const std::vector<ExportInput> inputs = open_inputs(line);
  OutputTarget output(line.text("output"));
  const ReplaySets sets = write_replay(output.stream(), inputs.front().index().database(), op);
  output.finish();
  note(line, fmt::format("{} of the whole trace, whatever is selected; python3 runs it, with PyTorch",
                         counted(sets.written, "set of arguments", "sets of arguments")));
  if (sets.left_out > 0) {
    note(line, fmt::format("{} without shapes and types, or no JSON, left out",
                           counted(sets.left_out, "set of arguments", "sets of arguments")));
  }
  return 0;
}

int write_export(const CommandLine& line) {
  if (const auto op = line.text("replay")) return write_program(line, *op);
  const std::string file = line.text("output").value_or("");
  const ExportFormat& format = format_of(line.text("format").value_or(""), file);
  const std::string_view named = format_of_name(file);
  if (!named.empty() && named != format.name && named != "json") {
    note(line, fmt::format("{} is written as {}, not {} as its name says", printable_path(file), format.name, named));
  }
  switch (format.kind) {
    case ExportKind::kPerfetto:
      return write_perfetto(line);
    case ExportKind::kSpeedscope:
    case ExportKind::kCollapsed:
      return write_stacks(line, format.kind == ExportKind::kSpeedscope);
    case ExportKind::kParquet:
      return write_parquet(line);
    case ExportKind::kTable:
      break;
  }
  throw usage_error("export: write --format {} and -o FILE as words of their own", format.name);
}

int run(const Command& command, std::span<const std::string> args) {
  // Asked what it offers, it answers for itself.
  const bool asked = std::ranges::any_of(
      args, [](const std::string& word) { return word == "--help" || word == "-h" || word == kCompleteOption; });
  const bool names_file = std::ranges::any_of(
      args, [](const std::string& word) { return word.starts_with("-o") || word.starts_with("--output"); });
  if (!asked && !names_file && isatty(STDOUT_FILENO) == 1) {
    throw usage_error("export: name the file to write, as in -o window.json, or -o - for the terminal");
  }
  if (!asked) {
    if (const std::optional<int> code = run_other_command(args)) return *code;
  }
  CommandLine line(command, {OptionGroup::kSelection, OptionGroup::kLayers, OptionGroup::kSteps, OptionGroup::kCapture,
                             OptionGroup::kRules, OptionGroup::kInput});
  line.add("format", format_help().c_str());
  line.add("output,o", OptionKind::kOutputFile, "write to this file instead of standard output");
  line.add("compare",
           "put a second trace beside it: perfetto with the first kernels of both at the same time, speedscope as a "
           "second profile; collapsed with both times in a line");
  line.add("critical-path", OptionKind::kFlag,
           "perfetto: also the critical path of the selection, on a track and as arrows");
  line.add("queues", OptionKind::kFlag,
           "perfetto: also what waits in each stream, and the rate of copies, as counters");
  line.add("top-gaps", "perfetto: only around the N longest times at which a device ran nothing");
  line.add({OptionGroup::kByFrames, OptionGroup::kFrames});
  line.add("night", "parquet: of the folder night=.. below that of -o (default: the trace's date)");
  line.add("job", "parquet: of the folder job=.. in it (default: the name of the trace's folder)");
  line.add("replay", "a Python program that runs this operator in PyTorch, with the arguments it had in the trace");
  line.add("report", "the table of this command, with its options: 'export --report kernels' is 'kernels'");
  line.add("query", "the rows of this SQL: 'export --query SQL TRACE' is 'sql TRACE SQL'");
  line.add_help(
      "\nTables are written by the commands that make them, all rows, with their options: csv, tsv, jsonl and json "
      "without\n--report and --query have the selected kernels with the columns of 'sql TRACE \"SELECT * FROM "
      "kernels\"'.\n");
  if (!line.parse(args)) return 0;
  return write_export(line);
}

}  // namespace

Command export_command() {
  return {"export", "part of a trace for Perfetto, speedscope and flame graphs; tables as files",
          "export [options] TRACE|INDEX",
          "  trace-query export trace.json.gz --step 40..44 -o window.json\n"
          "  trace-query export trace.json.gz --top-gaps 3 -o gaps.json\n"
          "  trace-query export mi300x.json --compare h100.json --step 5 -o both.json\n"
          "  trace-query export trace.json.gz --format collapsed --by module | flamegraph.pl\n"
          "  trace-query export trace.json.gz -o trace.speedscope.json\n"
          "  trace-query export trace.json.gz --format parquet -o kernels\n"
          "  trace-query export trace.json.gz --replay aten::addmm -o addmm.py\n"
          "  trace-query export trace.json.gz --report ops --phase decode -o ops.csv",
          run};
}

}  // namespace tracedb
