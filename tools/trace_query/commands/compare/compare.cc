#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "present/sections.h"
#include "trace_query/command.h"
#include "trace_query/commands/compare/compare_run.h"
#include "trace_query/commands/compare/compare_wafer.h"
#include "trace_query/report_shapes.h"

namespace tracedb {
namespace {

void add_choices(CommandLine& line) {
  line.add("normalise", OptionKind::kValue, "figures per step (default), token or none");
  line.add("phase", OptionKind::kValue,
           "only steps of these kinds, names or GLOBs: prefill, decode, mixed, train, other, unknown, unit; several: "
           "decode,mixed");
  line.add("min-confidence", OptionKind::kValue,
           "only fusions found with at least this confidence, in percent (default 30)");
}

int run_section(const Command& command, std::span<const std::string> args) {
  CommandLine line(command, {OptionGroup::kSteps, OptionGroup::kRules, OptionGroup::kRows, OptionGroup::kOutput,
                             OptionGroup::kInput});
  add_choices(line);
  return line.parse(args) ? run_comparison(line) : 0;
}

// Options of comparisons of two traces by our own method: a gate that is ignored would let everything pass.
void refuse_own_options(const CommandLine& line, std::string_view with) {
  for (const char* option : {"normalise", "by", "gate", "gate-metric", "gate-inconclusive", "save-baseline",
                             "baseline-file", "min-confidence", "allow-different-work", "step"}) {
    if (!line.has(option)) continue;
    throw Error(ErrorCode::kUsage, fmt::format("compare: --{} does not go with {}", option, with));
  }
}

// `compare A/ B/` of jobs is `ranks B/ --baseline A/`, with the options as they are.
std::vector<std::string> arguments_of_ranks(const CommandLine& line, std::span<const std::string> args) {
  std::vector<std::string> out(args.begin(), args.end());
  const auto baseline = std::find(out.begin(), out.end(), line.positional().front());
  if (baseline != out.end()) out.insert(baseline, "--baseline");
  return out;
}

int run_compare(const Command& command, std::span<const std::string> args) {
  CommandLine line(command, {OptionGroup::kPage, OptionGroup::kSteps, OptionGroup::kRules, OptionGroup::kRows,
                             OptionGroup::kOutput, OptionGroup::kInput});
  std::string sections = "instead of one page, these sections, separated by commas, or all:";
  for (const Section& section : compare_sections()) sections += fmt::format("\n{}: {}", section.name, section.summary);
  line.add("section", OptionKind::kList, sections.c_str());
  add_choices(line);
  line.add(
      "by", OptionKind::kValue,
      "rows of the ledger: op (default), role, layer, layer,op, layer,role or kernel; with role also section roles;\n"
      "class: operations and ledger by the plain classes, also where the two traces name one operation differently");
  line.add("step", OptionKind::kValue,
           "of one trace: why this step takes longer or less long than the others of its kind and batch");
  line.add("gate", OptionKind::kValue,
           "exit 1 if the candidate is significantly slower by more than this many percent: 5, 5%");
  line.add("gate-inconclusive", OptionKind::kValue,
           "what --gate does where there is too little to judge by: pass (default) or fail; where nothing at all "
           "could have a verdict (other load, two kinds of steps, overlap) it fails unless pass is written out");
  line.add(
      "gate-metric", OptionKind::kValue,
      "metric that --gate judges: the worse of period and span (worse, the default), or one of span, busy, period and "
      "kernel_time of a step");
  line.add("allow-different-work", OptionKind::kFlag,
           "compare models, or shapes, that are known to differ as if they did the same work");
  line.add("save-baseline", OptionKind::kOutputFile, "write the figures of one trace's steps to this file (JSON)");
  line.add("baseline-file", OptionKind::kValue, "compare one trace with the figures of such a file");
  line.add("method", OptionKind::kValue, "sequence (default), or wafer: reproduces wafer 0.1.28, for cross-checking");
  if (!line.parse(args)) return 0;
  const std::string method = line.text("method").value_or("sequence");
  if (method == "wafer") {
    refuse_own_options(line, "--method wafer");
    if (line.page()) throw Error(ErrorCode::kUsage, "compare: a page (HTML) does not go with --method wafer");
    return run_wafer_comparison(line);
  }
  if (method != "sequence") {
    throw Error(ErrorCode::kUsage, fmt::format("--method {}: there are sequence and wafer", method));
  }
  if (names_jobs(line)) {
    refuse_own_options(line, "two folders of jobs, which are compared rank by rank");
    const Command& ranks = *known_command("ranks");
    return ranks.run(ranks, arguments_of_ranks(line, args));
  }
  return run_comparison(line);
}

std::vector<ReportShape> shapes_of_sections(std::string_view command) {
  std::vector<ReportShape> shapes;
  for (const Section& section : compare_sections()) {
    const std::string_view only = section.name == "alignment" ? "align" : section.name;
    if (command == "compare" || command == only) {
      shapes.push_back(
          {command, "compare", std::string(section.name), true, section.columns(), section.summary, section.member});
    }
  }
  return shapes;
}

}  // namespace

std::vector<Command> compare_commands() {
  return {{"compare",
           "compare two traces: operations, layers, kernels, fusions, a ledger of the change, a verdict",
           "compare [options] BASELINE CANDIDATE [CANDIDATE...]",
           "  trace-query compare mi300x.json.gz h100.json.gz\n"
           "  trace-query compare last-week.json.gz tonight.json.gz --section summary --gate 5\n"
           "  trace-query compare tonight.json.gz --baseline-file baseline.json --gate 5\n"
           "  trace-query compare mi300x.json.gz h100.json.gz -o why.html\n"
           "  trace-query compare tonight.json.gz --step 7\n"
           "  trace-query compare yesterday/ today/\n"
           "  trace-query compare a.json.gz b.json.gz --method wafer\n"
           "  trace-query compare a.json.gz b.json.gz --section fusion,alignment --phase decode --markdown",
           run_compare,
           {},
           shapes_of_sections},
          {"align",
           "pairs of kernels that do the same work in two traces",
           "align [options] BASELINE CANDIDATE [CANDIDATE...]",
           "  trace-query align mi300x.json.gz h100.json.gz --phase decode --limit 0",
           run_section,
           {},
           shapes_of_sections},
          {"fusion",
           "work that one trace does in one kernel and another in several",
           "fusion [options] BASELINE CANDIDATE [CANDIDATE...]",
           "  trace-query fusion mi300x.json.gz h100.json.gz --json",
           run_section,
           {},
           shapes_of_sections}};
}

}  // namespace tracedb
