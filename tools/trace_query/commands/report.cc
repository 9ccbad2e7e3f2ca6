#include <utility>

#include "base/text/amounts.h"
#include "report_page/trace_page.h"
#include "trace_query/command.h"
#include "trace_query/output.h"
#include "trace_query/workload.h"

namespace tracedb {
namespace {

void add_page_choices(CommandLine& line) {
  line.add("output,o", OptionKind::kOutputFile, "the file to write: x.html (default: standard output)");
  line.add("device", OptionKind::kList, "only these devices, by number: 0 or 0,1");
  line.add("step", OptionKind::kList, "only step A, or steps A..B, A.., ..B, or several: 1,3,7..9");
  line.add("phase", OptionKind::kList,
           "only steps of these kinds: prefill, decode, mixed, train, other, unknown, unit; several: decode,mixed");
}

int run_report_command(const Command& command, std::span<const std::string> args) {
  CommandLine line(command, {OptionGroup::kPage, OptionGroup::kSteps, OptionGroup::kCapture, OptionGroup::kRules,
                             OptionGroup::kInput});
  add_page_choices(line);
  if (!line.parse(args)) return 0;
  if (line.inputs().size() != 1) return run_ranks_page(line);
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
  if (page.pictures.empty()) output.note(page.text.front().text);
  output.print_page(std::move(page));
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
