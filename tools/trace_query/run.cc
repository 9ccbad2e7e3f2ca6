#include "trace_query/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/files/input_file.h"
#include "base/text/decimal.h"
#include "base/text/regular_expression.h"
#include "present/page_text.h"
#include "sql/database.h"

namespace tracedb {
namespace {

[[noreturn]] void fail(const std::string& option, const std::string& value, const std::string& reason) {
  throw usage_error("--{} {}: {}", option, value, reason);
}

constexpr const char* kStepForm = "give numbers and ranges: 3, A..B, A.., ..B; 1,3,7..9";

std::optional<std::int64_t> bound(const std::string& text, const std::string& part) {
  if (part.empty()) return std::nullopt;
  const auto value = parse_int64(part);
  if (!value) fail("step", text, kStepForm);
  return value;
}

StepSpan step_span(const std::string& text) {
  const std::size_t dots = text.find("..");
  if (text.empty() || text == "..") fail("step", text, kStepForm);
  if (dots == std::string::npos) return {bound(text, text), bound(text, text)};
  return {bound(text, text.substr(0, dots)), bound(text, text.substr(dots + 2))};
}

std::int64_t device(const std::string& text) {
  const auto value = parse_int64(text);
  if (!value || *value < 0) fail("device", text, "give a number, or several: 0,1");
  return *value;
}

void add_layer(const std::string& text, Selection& selection) {
  if (!can_name_layers(text)) {
    fail("layer", text,
         "give one number, A..B, A.., ..B, head, tail or none; where there are several stacks STACK:A..B");
  }
  selection.layer = text;
}

// Of a name without its middle, as tables for people have them; "": it is whole.
std::string glob_of_shortened(std::string_view text) {
  constexpr std::string_view kMiddle = "…";
  if (text.find(kMiddle) == std::string_view::npos) return "";
  std::string out = "*";
  for (std::size_t i = 0; i < text.size();) {
    if (text.substr(i).starts_with(kMiddle)) {
      out += '*';
      i += kMiddle.size();
    } else if (const char c = text[i++]; c == '*' || c == '?' || c == '[') {
      (out += '[').append(1, c) += ']';
    } else {
      out += c;
    }
  }
  return out + "*";
}

void add_name(const std::string& text, Selection& selection) {
  if (text.size() > 1 && text.starts_with('/') && text.ends_with('/')) {
    const std::string pattern = text.substr(1, text.size() - 2);
    if (const std::string fault = RegularExpression(pattern).fault(); !fault.empty()) fail("name", text, fault);
    selection.name_regex = pattern;
  } else if (const std::string pattern = glob_of_shortened(text); !pattern.empty()) {
    selection.name_glob = pattern;
  } else if (text.find_first_of("*?[") != std::string::npos) {
    selection.name_glob = text;
  } else {
    selection.name_glob = "*" + text + "*";
  }
}

// --device --stream --step --phase --layer --op --name --from --to. Empty when nothing was selected.
Selection selection_of(const CommandLine& line) {
  Selection selection;
  for (const std::string& text : line.names("device")) selection.devices.push_back(device(text));
  for (const std::string& text : line.names("step")) selection.steps.push_back(step_span(text));
  for (const std::string& text : line.names("phase")) selection.phases.push_back(known_phase(text));
  selection.streams = line.names("stream");
  selection.ops = line.names("op");
  if (const auto layer = line.text("layer")) add_layer(*layer, selection);
  if (const auto name = line.text("name")) add_name(*name, selection);
  if (const auto from = line.text("from")) selection.from = parse_time(*from);
  if (const auto to = line.text("to")) selection.to = parse_time(*to);
  return selection;
}

FrameChoice requested_frames(const CommandLine& line) {
  FrameChoice choice;
  int choices = 0;
  for (const auto& [option, which] : {std::pair("own", Frames::kOwn), std::pair("modules", Frames::kModules),
                                      std::pair("each-module", Frames::kEachModule)}) {
    if (!line.has(option)) continue;
    choice.which = which;
    ++choices;
  }
  if (choices > 1) throw usage_error("--own, --modules and --each-module choose different frames: give one of them");
  if (line.has("own")) choice.own = line.names("own");
  const auto by = line.knows("own") ? line.text("by") : std::nullopt;
  if (!by) return choice;
  const bool by_line = *by == "function" || *by == "line";
  if (*by != "module" && !by_line) throw usage_error("--by {}: use module or function", *by);
  if (choice.which != Frames::kAll && !(by_line && choice.which == Frames::kOwn)) {
    throw usage_error("--by {} chooses frames itself: leave {} out", *by,
                      choice.which == Frames::kOwn ? "--own" : "--modules and --each-module");
  }
  choice.which = by_line ? Frames::kOwn : Frames::kModuleClasses;
  return choice;
}

// "dense_gemm:0.8": split at the last colon. Error{kUsage} for anything else.
DurationChange parse_change(const std::string& text) {
  constexpr std::size_t kMostDigits = 9;
  const std::size_t colon = text.rfind(':');
  const std::string factor = colon == std::string::npos ? "" : text.substr(colon + 1);
  const std::size_t point = std::min(factor.find('.'), factor.size());
  const std::string digits = factor.substr(0, point) + factor.substr(std::min(point + 1, factor.size()));
  const bool is_number = !digits.empty() && digits.find_first_not_of("0123456789") == std::string::npos;
  if (!is_number || digits.size() > kMostDigits || colon == 0) {
    throw usage_error(
        "--what-if {}: give WHAT:FACTOR, as in dense_gemm:0.8, 'aten::mm:0.5' or comm:0, with at most {} digits", text,
        kMostDigits);
  }
  DurationChange out{text.substr(0, colon), parse_int64(digits).value(), 1};
  for (std::size_t i = point + 1; i < factor.size(); ++i) out.denominator *= 10;
  return out;
}

// ---- reports

// As SQL with comments: what trace-query sql runs as it is.
void explain(Output& output, const CommandLine& line, const PassReport& report, const RequestedWorkload& requested,
             const Index& index) {
  const std::string_view sql = report_script(report.script);
  std::ostream& out = output.stream();
  out << fmt::format("-- {} of {}\n", line.command().json_name(), printable_path(index.path()));
  out << fmt::format("-- made from {} (xxh3-128 {})\n", printable_path(index.meta("source_path").value_or("?")),
                     index.meta("source_hash").value_or("?"));
  out << fmt::format("-- selection: {}\n", selection_text(line));
  for (const PassTable& table : pass_tables()) {
    const std::string name = fmt::format("temp.{}", table.name);
    const bool used = sql.find(name + " ") != std::string_view::npos || sql.find(name + "\n") != std::string_view::npos;
    if (used) out << fmt::format("-- {}: {} (trace-query schema --object {})\n", name, table.meaning, table.name);
  }
  for (const std::string& source : requested.provenance()) out << fmt::format("-- {}\n", source);
  declare_pass_tables(index.database());
  out << bound_report(index.database(), sql, report.parameters).sql() << '\n';
}

// The options that choose one of the tables: "--per-op", "--by role".
std::pair<std::string, std::string> option_of(const CommandTable& table) {
  const std::string_view text = table.option.substr(std::min<std::size_t>(2, table.option.size()));
  const std::size_t space = std::min(text.find(' '), text.size());
  return {std::string(text.substr(0, space)), std::string(text.substr(std::min(space + 1, text.size())))};
}

void add_table_options(CommandLine& line, std::span<const CommandTable> tables) {
  std::string parts;  // of --by
  for (const CommandTable& table : tables) {
    if (table.help.empty()) continue;
    const auto [name, value] = option_of(table);
    if (name == "by") {
      parts += fmt::format("{}{}: {}", parts.empty() ? "" : ";\n", value, table.help);
    } else {
      line.add(name.c_str(), value.empty() ? OptionKind::kFlag : OptionKind::kValue, std::string(table.help).c_str());
    }
  }
  if (!parts.empty()) line.add("by", parts.c_str());
}

const CommandTable& chosen_table(const CommandLine& line, std::span<const CommandTable> tables) {
  std::vector<const CommandTable*> chosen;
  std::vector<std::string> options, values;
  for (const CommandTable& table : tables) {
    const auto [name, value] = option_of(table);
    if (name.empty()) continue;
    if (name == "by") values.push_back(value);
    options.emplace_back(table.option);
    if (name == "by" ? line.text(name) == value : line.has(name)) chosen.push_back(&table);
  }
  const bool has_by = !values.empty();
  if (has_by && line.has("by") && std::ranges::find(values, *line.text("by")) == values.end()) {
    throw usage_error("--by {}: there {} {}", *line.text("by"), values.size() == 1 ? "is" : "are",
                      fmt::join(values, ", "));
  }
  if (chosen.size() > 1) throw usage_error("{}: give only one of {}", line.command().name, fmt::join(options, ", "));
  return chosen.empty() ? tables.front() : *chosen.front();
}

int run_table(const Command& command, std::span<const std::string> args) {
  CommandLine line(command, command.groups);
  add_table_options(line, command.tables);
  if (command.add_options != nullptr) command.add_options(line);
  if (!line.parse(args)) return 0;
  PassReport report{{}, requested_pass_options(line), {{"steady", std::int64_t{line.has("steady")}}}, command.finish};
  if (command.prepare != nullptr) command.prepare(line, report);
  if (report.script.empty()) report.script = chosen_table(line, command.tables).report;
  return run_pass_reports(line, report);
}

}  // namespace

std::int64_t parse_time(const std::string& text) {
  const std::size_t end = text.find_first_not_of("0123456789.");
  const std::string unit_text = end == std::string::npos ? "ns" : text.substr(end);
  const auto unit = time_unit_from(unit_text);
  const std::string digits = text.substr(0, end);
  const auto value = parse_double(digits);
  if (!unit || *unit == TimeUnit::kAuto || !value || *value * nanoseconds_per(*unit) > 9e18) {
    throw usage_error("time '{}': give a number with ns, us, ms or s", text);
  }
  if (const auto whole = parse_int64(digits)) return *whole * static_cast<std::int64_t>(nanoseconds_per(*unit));
  return std::llround(*value * nanoseconds_per(*unit));
}

std::string selection_text(const CommandLine& line) {
  std::string text;
  for (const char* option : kSelectionOptions) {
    if (!line.has(option)) continue;
    const std::string chosen = fmt::format("{}", fmt::join(line.words(option), ","));
    text += fmt::format("{}--{} {}", text.empty() ? "" : " ", option, shell_word(chosen));
  }
  return text.empty() ? "everything" : text;
}

ActiveRules requested_rules(const CommandLine& line) {
  const auto name = line.setting("rules", "TRACEDB_RULES");
  ActiveRules rules(name.value_or("default"));
  if (name && rules.get().rules.empty()) note(line, *name + ": no rule, so that every kernel is of class other");
  return rules;
}

RequestedWorkload::RequestedWorkload(const CommandLine& line, bool of_several)
    : options_{selection_of(line), {line.text("step-regex")}, nullptr}, rules_(requested_rules(line)) {
  options_.selection.of_several = of_several;
  const auto path = line.text("capture");
  if (!path) return;
  captured_.emplace(open_trace(*path, line));
  const Index& index = captured_->index;
  const KernelClasses classes(index, rules_.compiled());
  capture_.emplace(CaptureSource{index, read_capture(index, options_.steps, classes.traits()), printable_path(*path),
                                 captured_->notes});
  options_.capture = &*capture_;
}

std::vector<std::string> RequestedWorkload::provenance() const {
  std::vector<std::string> out = {
      fmt::format("operation classes: under the rules '{}' (trace-query rules list)", rules_.name())};
  if (const auto& pattern = options_.steps.pattern) {
    out.push_back("steps: annotations that match " + *pattern + " (src/passes/steps/step_pattern.h)");
  } else {
    out.emplace_back(
        "steps: table step, nested annotations counted once; where it is empty, inferred from the rhythm of the "
        "kernels (src/passes/steps/step_set.h)");
  }
  if (capture() != nullptr) {
    out.emplace_back(
        "operators, stacks and layers of graph replays: those of --capture (src/passes/capture/capture.h)");
  }
  return out;
}

PassOptions requested_pass_options(const CommandLine& line) {
  constexpr std::int64_t kLongestSequence = 64;
  PassOptions options;
  if (line.has("per-stream")) options.lanes = LaneBy::kStream;
  if (const auto time = line.text("kernel-wait")) options.timeline.kernel_wait = parse_time(*time);
  if (const auto time = line.text("micro-idle")) options.timeline.micro_idle = parse_time(*time);
  if (line.has("steady")) options.phase_steps = StepChoice::kSteady;
  if (const auto length = line.number("length")) {
    if (*length < 2 || *length > kLongestSequence) {
      throw usage_error("--length {}: give 2 to {}", *length, kLongestSequence);
    }
    options.sequence_length = static_cast<std::size_t>(*length);
  }
  options.sequence_least = line.number("least").value_or(options.sequence_least);
  options.frames = requested_frames(line);
  if (const auto time = line.text("min-dur")) options.least_gap = parse_time(*time);
  if (const auto time = line.text("short")) options.short_below = parse_time(*time);
  if (const auto time = line.text("wait")) options.late = parse_time(*time);
  for (const std::string& change : line.words("what-if")) options.what_if.push_back(parse_change(change));
  options.queue_limit = line.number("queue-limit").value_or(options.queue_limit);
  options.all_frames = line.has("all-frames");
  options.follow_backward = line.has("backward");
  options.complete_steps = line.has("complete-only");
  return options;
}

int run_trace_reports(const CommandLine& line, const std::string& name,
                      const std::function<std::optional<TraceReport>(const OpenedTrace&, Output&)>& make) {
  Output output(line);
  InputLoop loop(line.inputs());
  for (const std::string& input : line.inputs()) {
    std::optional<TraceReport> report;
    const bool made = loop.attempt(input, [&] {
      const OpenedTrace trace = open_trace(input, line);
      report = make(trace, output);
      if (!report) return;
      std::vector<std::string>& warnings = report->warnings;
      warnings.insert(warnings.begin(), trace.notes.begin(), trace.notes.end());
      for (std::string& lost : trace.index.database().take_notes()) warnings.push_back(std::move(lost));
      if (trace.index.meta("time_unit") != "cycle") return;
      warnings.emplace_back(kCyclesNote);
      if (line.for_people()) name_cycles(report->report);
    });
    if (made && report) output.add(name, input, *std::move(report));
  }
  if (loop.any_answered()) output.finish();
  return loop.exit_code();
}

int run_pass_reports(const CommandLine& line, const PassReport& report) {
  const RequestedWorkload requested(line);
  const auto make = [&](const OpenedTrace& trace, Output& output) -> std::optional<TraceReport> {
    if (line.has("explain")) {
      explain(output, line, report, requested, trace.index);
      return std::nullopt;
    }
    Workload workload = requested.of(trace.index);
    add_pass_tables(workload, report.options);
    TraceReport result{run_report(trace.index.database(), report_script(report.script), report.parameters), {}};
    report.finish(line, workload, result);
    return result;
  };
  return run_trace_reports(line, std::string(line.command().json_name()), make);
}

Command table_command(std::string_view name, std::string_view summary, std::string example,
                      std::vector<CommandTable> tables, std::vector<OptionGroup> groups,
                      decltype(Command::finish) finish, decltype(Command::add_options) add_options,
                      decltype(Command::prepare) prepare) {
  return {name,
          summary,
          fmt::format("{} [options] TRACE|INDEX...", name),
          std::move(example),
          run_table,
          std::move(tables),
          nullptr,
          {},
          std::move(groups),
          add_options,
          prepare,
          finish};
}

bool has_kernels(const Index& index) {
  return index.database().query_int64("SELECT id FROM kernel LIMIT 1").has_value();
}

std::string why_no_kernels(const Workload& workload) {
  const bool selected = has_kernels(workload.index()) && !workload.selection().empty();
  return selected ? "no kernel matches the selection" : "the trace has no kernels";
}

}  // namespace tracedb
