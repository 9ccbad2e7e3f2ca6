
#include <algorithm>
#include <utility>
#include <vector>

#include "base/text/amounts.h"
#include "present/page_text.h"
#include "report/json_text.h"
#include "report_page/report_page.h"
#include "trace_query/command.h"
#include "trace_query/output.h"
#include "trace_query/run.h"

namespace tracedb {
namespace {

void add_page_choices(CommandLine& line) {
  line.add("output,o", OptionKind::kOutputFile,
           "the file to write: x.html; x.txt, x.md, x.json: its sentences (default: standard output)");
  line.add("format", "html, or its sentences alone: table (text), markdown, json (default: by the file)");
  line.add("width", "characters in a line of text (default: those of the terminal, at most 80)");
  line.add("device", OptionKind::kList, "only these devices, by number: 0 or 0,1");
  line.add("step", OptionKind::kList, "only step A, or steps A..B, A.., ..B, or several: 1,3,7..9");
  line.add("phase", OptionKind::kList,
           "only steps of these kinds: prefill, decode, mixed, train, other, unknown, unit; several: decode,mixed");
}

std::string format_of(const CommandLine& line) {
  constexpr std::pair<std::string_view, std::string_view> kEndings[] = {
      {".html", "html"}, {".htm", "html"}, {".txt", "table"}, {".md", "markdown"}, {".json", "json"}};
  std::string format = line.text("format").value_or("");
  const std::string file = line.text("output").value_or("-");
  for (const auto& [ending, name] : kEndings) {
    if (format.empty() && file.ends_with(ending)) format = name;
  }
  const bool is_known =
      std::ranges::find(kEndings, format, [](const auto& one) { return one.second; }) != std::end(kEndings);
  if (is_known) return format;
  if (line.has("format")) throw usage_error("--format {}: html, table, markdown or json", format);
  std::vector<std::string> known;
  for (const auto& [ending, name] : kEndings) known.emplace_back(ending);
  refuse_unknown_ending(file, known);
  return "html";
}

std::string sentences_json(const std::string& input, const Page& page) {
  constexpr std::string_view kKinds[] = {"headline", "heading", "item", "command"};
  JsonWriter out;
  out.open('{')
      .member("schema", "tracedb.report/1")
      .member("inputs", std::vector<std::string>{input})
      .key("blocks")
      .open('[');
  for (const Block& block : page) {
    out.open('{').member("kind", kKinds[static_cast<std::size_t>(block.kind)]).member("text", block.text);
    if (!block.next_step.empty()) out.key("next_step").json(block.next_step);
    if (!block.id.empty()) out.member("id", block.id).key("figures").json(json_object(block.figures));
    out.close('}');
  }
  return out.close(']').close('}').take() + "\n";
}

int run_report_command(const Command& command, std::span<const std::string> args) {
  CommandLine line(command, {OptionGroup::kPage, OptionGroup::kSteps, OptionGroup::kCapture, OptionGroup::kRules,
                             OptionGroup::kInput});
  add_page_choices(line);
  if (!line.parse(args)) return 0;
  const std::string format = format_of(line);
  if (line.inputs().size() != 1) {
    if (format == "html") return run_ranks_page(line);
    throw usage_error("report: sentences are of one trace; of a job, trace-query ranks prints them");
  }
  const std::string& input = line.inputs()[0];
  const RequestedWorkload requested(line);
  Output output(line);
  const OpenedTrace trace = open_trace(input, line);
  for (const std::string& note : trace.notes) output.note(note);
  Workload workload = requested.of(trace.index);
  add_pass_tables(workload, {});
  const CycleWords cycles(trace.index.meta("time_unit") == "cycle");
  const std::string selection = requested.selection().empty() ? "" : selection_text(line);
  ReportPage page = trace_page(workload, {input, selection});
  if (format == "html") {
    if (page.pictures.empty()) output.note(page.text.front().text);
    output.print_page(std::move(page));
  } else {
    output.stream() << (format == "json"       ? sentences_json(input, page.text)
                        : format == "markdown" ? page_markdown(page.text)
                                               : page_text(page.text, output.page_width()));
  }
  output.finish();
  for (const std::string& lost : trace.index.database().take_notes()) output.note(lost);
  return 0;
}

}  // namespace

Command page_command() {
  return {"report", "one page of HTML to look at and to hand on: pictures, reasons, tables",
          "report [options] TRACE|INDEX -o FILE.html | report [options] FOLDER -o FILE.html",
          "  trace-query report trace.json.gz -o trace.html\n"
          "  trace-query report trace.json.gz --phase decode -o decode.html\n"
          "  trace-query report profiles/ -o ranks.html      (the ranks of one job)\n"
          "  trace-query compare a.json.gz b.json.gz -o why.html",
          run_report_command};
}

}  // namespace tracedb
