#include "trace_query/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/files/input_file.h"
#include "base/text/characters.h"
#include "base/text/split.h"
#include "sql/database.h"

namespace tracedb {
namespace {

// The statement with the values of its parameters, which `sql` knows nothing of; one that has none is unknown.
std::string with_values(std::string_view sql, const Parameters& parameters) {
  std::string out;
  for (std::string_view line : split_lines(sql)) {
    for (std::size_t at = 0; !line.starts_with("--") && (at = line.find(':', at)) != std::string_view::npos;) {
      const bool begins = at > 0 && (line[at - 1] == ' ' || line[at - 1] == '(');
      std::size_t end = at + 1;
      while (begins && end < line.size() && is_ascii_letter(line[end])) ++end;
      if (end == ++at) continue;
      const auto found = parameters.find(std::string(line.substr(at, end - at)));
      const Cell value = found == parameters.end() ? Cell() : found->second;
      const auto* const text = std::get_if<std::string>(&value);
      const auto* const number = std::get_if<std::int64_t>(&value);
      out += line.substr(0, at - 1);
      out += text != nullptr ? quoted_text(*text) : number != nullptr ? std::to_string(*number) : "NULL";
      line.remove_prefix(end);
      at = 0;
    }
    out.append(line).append("\n");
  }
  return out;
}

// As SQL with comments: what trace-query sql runs as it is.
void explain(Output& output, const CommandLine& line, const PassReport& report, const RequestedWorkload& requested,
             const Index& index) {
  const std::string_view sql = report_script(report.script);
  std::ostream& out = output.stream();
  out << fmt::format("-- {} of {}\n", report.name, printable_path(index.path()));
  out << fmt::format("-- made from {} (xxh3-128 {})\n", printable_path(index.meta("source_path").value_or("?")),
                     index.meta("source_hash").value_or("?"));
  out << fmt::format("-- selection: {}\n", selection_text(line));
  for (const PassTable& table : pass_tables()) {
    const std::string name = fmt::format("temp.{}", table.name);
    const bool used = sql.find(name + " ") != std::string_view::npos || sql.find(name + "\n") != std::string_view::npos;
    if (used) out << fmt::format("-- {}: {} (trace-query schema --object {})\n", name, table.meaning, table.name);
  }
  for (const std::string& source : requested.provenance()) out << fmt::format("-- {}\n", source);
  out << with_values(sql, report.parameters);
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
    const auto [name, value] = option_of(table);
    if (name == "by") {
      parts += fmt::format("{}{}: {}", parts.empty() ? "" : ";\n", value, table.help);
    } else if (!name.empty()) {
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
  const CommandTable& table = chosen_table(line, command.tables);
  PassOptions options = requested_pass_options(line);
  if (command.prepare != nullptr) command.prepare(line, options);
  return run_pass_reports(line,
                          {std::string(command.name),
                           std::string(table.report),
                           options,
                           {{"steady", std::int64_t{line.has("steady")}}},
                           [&](Workload& workload, TraceReport& result) { command.finish(line, workload, result); }});
}

}  // namespace

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
      warnings.emplace_back("times are cycles: read 1 ns as 1 cycle");
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
    report.finish(workload, result);
    return result;
  };
  return run_trace_reports(line, report.name, make);
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
