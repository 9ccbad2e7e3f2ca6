#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "report/escape.h"
#include "trace/issue.h"
#include "trace_query/command.h"
#include "trace_query/run.h"
#include "trace_query/selection.h"

namespace tracedb {
namespace {

int run_grouped(const Command& command, std::span<const std::string> args) {
  CommandLine line(command, {OptionGroup::kSelection, OptionGroup::kLayers, OptionGroup::kSteps, OptionGroup::kCapture,
                             OptionGroup::kRules, OptionGroup::kRows, OptionGroup::kOutput, OptionGroup::kExplain,
                             OptionGroup::kInput});
  const bool has_roles = command.name == kOpsCommand.name;
  if (has_roles) {
    line.add("by", OptionKind::kValue,
             "role: a row for each role in the model (qkv_proj, o_proj, gate_up, down, router, experts ...);\n"
             "pass: a row for each pass of training: forward, backward, optimizer");
  } else {
    add_by_pass(line);
  }
  if (!line.parse(args)) return 0;
  const std::string name(command.name);
  const bool by_role = has_roles && line.text("by") == "role";
  if (line.has("capture") && !line.has("layer") && !by_role) {
    throw Error(ErrorCode::kUsage, name + ": --capture needs --layer: it changes nothing else here");
  }
  const bool passes = !by_role && by_pass(line);
  return run_pass_reports(line, {name,
                                 by_role  ? name + "_by_role"
                                 : passes ? name + "_by_pass"
                                          : name,
                                 {},
                                 {},
                                 [&](Workload& workload, TraceReport& result) {
                                   result.warnings = by_role ? workload.layer_notes() : workload.selection_notes();
                                   if (by_role) {
                                     const std::vector<std::string> missing = workload.missing_notes();
                                     result.warnings.insert(result.warnings.end(), missing.begin(), missing.end());
                                   }
                                   if (result.report.rows.empty()) result.warnings.push_back(why_no_kernels(workload));
                                   if (passes) add_pass_note(workload.index(), result.warnings);
                                 }});
}

int run_kernels(std::span<const std::string> args) { return run_grouped(kKernelsCommand, args); }
int run_ops(std::span<const std::string> args) { return run_grouped(kOpsCommand, args); }

}  // namespace

const Command kKernelsCommand = {"kernels", "kernel time by name", "kernels [options] TRACE|INDEX...",
                                 "  trace-query kernels trace.json.gz --limit 10\n"
                                 "  trace-query kernels trace.json.gz --phase decode --name 'ncclDevKernel*' --csv",
                                 run_kernels};

const Command kOpsCommand = {"ops", "kernel time by operation: attention, GEMM, norm, communication, ...",
                             "ops [options] TRACE|INDEX...",
                             "  trace-query ops trace.json.gz --phase decode\n"
                             "  trace-query ops trace.json.gz --by role\n"
                             "  trace-query ops training.json.gz --by pass\n"
                             "  trace-query kernels trace.json.gz --op attention_decode\n"
                             "  trace-query rules show trace.json.gz       which name has which class, and why",
                             run_ops};

namespace {

int run_launches(std::span<const std::string> args) {
  CommandLine line(kLaunchesCommand,
                   {OptionGroup::kSelection, OptionGroup::kSteps, OptionGroup::kRules, OptionGroup::kRows,
                    OptionGroup::kOutput, OptionGroup::kExplain, OptionGroup::kInput});
  if (!line.parse(args)) return 0;
  return run_pass_reports(
      line, {"launches", "launches", {}, {}, [](Workload& workload, TraceReport& result) {
               result.warnings = workload.selection_notes();
               if (!result.report.rows.empty()) return;
               const bool kernels = has_kernels(workload.index()) && !workload.selection().empty();
               result.warnings.emplace_back(kernels ? "no kernel matches the selection"
                                                    : "the trace has neither kernels nor calls that launch some");
             }});
}

}  // namespace

const Command kLaunchesCommand = {"launches", "calls that launch kernels, by name: time in the call, delay, queueing",
                                  "launches [options] TRACE|INDEX...",
                                  "  trace-query launches trace.json.gz\n"
                                  "  trace-query launches trace.json.gz --phase decode --csv",
                                  run_launches};

namespace {

int run_memcpys(std::span<const std::string> args) {
  CommandLine line(kMemcpysCommand, {OptionGroup::kPlaces, OptionGroup::kSteps, OptionGroup::kRules, OptionGroup::kRows,
                                     OptionGroup::kOutput, OptionGroup::kExplain, OptionGroup::kInput});
  if (!line.parse(args)) return 0;
  return run_pass_reports(line, {"memcpys", "memcpys", {}, {}, [](Workload& workload, TraceReport& result) {
                                   result.warnings = workload.selection_notes();
                                   if (!result.report.rows.empty()) return;
                                   const bool any =
                                       !workload.selection().empty() &&
                                       workload.index().database().query_int64("SELECT id FROM memory_op LIMIT 1");
                                   result.warnings.emplace_back(any ? "no copy or fill matches the selection"
                                                                    : "the trace has no copies or fills");
                                 }});
}

}  // namespace

const Command kMemcpysCommand = {"memcpys", "copies and fills by direction: count, bytes, time, bandwidth",
                                 "memcpys [options] TRACE|INDEX...",
                                 "  trace-query memcpys trace.json.gz\n"
                                 "  trace-query memcpys trace.json.gz --phase decode --csv",
                                 run_memcpys};

namespace {

std::string why_empty(Workload& workload) {
  const bool selected = !workload.selection().empty();
  const bool any = selected && workload.index().database().query_int64(
                                   "SELECT 1 FROM kernel WHERE kind IN ('comm', 'comm_compute') LIMIT 1");
  return any ? "no communication kernel matches the selection" : "the trace has no communication kernels";
}

int run_comms(std::span<const std::string> args) {
  CommandLine line(kCommsCommand,
                   {OptionGroup::kSelection, OptionGroup::kSteps, OptionGroup::kRules, OptionGroup::kRows,
                    OptionGroup::kOutput, OptionGroup::kExplain, OptionGroup::kInput});
  if (!line.parse(args)) return 0;
  return run_pass_reports(
      line,
      {"comms", "comms", {}, {}, [](Workload& workload, TraceReport& result) {
         result.warnings = workload.selection_notes();
         const auto& rows = result.report.rows;
         const std::size_t rate = find_column(result.report.columns, "alg_gb_per_s").value();
         const bool rated = std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
           return !std::holds_alternative<std::monostate>(row[rate]);
         });
         result.warnings.push_back(rows.empty() ? why_empty(workload)
                                   : rated ? "times include waiting for the other ranks, so bandwidths are lower bounds"
                                           : "times include waiting for the other ranks");
       }});
}

}  // namespace

const Command kCommsCommand = {"comms", "communication by collective: time, exposed time, size, bandwidth",
                               "comms [options] TRACE|INDEX...",
                               "  trace-query comms trace.json.gz\n"
                               "  trace-query comms trace.json.gz --phase decode --csv",
                               run_comms};

namespace {

constexpr std::size_t kReadable = 40;  // letters of one kernel's name, in a table for a terminal

int run_sequences(std::span<const std::string> args) {
  CommandLine line(kSequencesCommand, {OptionGroup::kSelection, OptionGroup::kRules, OptionGroup::kRows,
                                       OptionGroup::kOutput, OptionGroup::kExplain, OptionGroup::kInput});
  add_sequence_options(line);
  line.add("by", OptionKind::kValue, "name: by short name (default); op: by operation class");
  if (!line.parse(args)) return 0;
  PassOptions options = requested_pass_options(line);
  const std::string by = line.text("by").value_or("name");
  if (by != "name" && by != "op") throw Error(ErrorCode::kUsage, fmt::format("--by {}: there are name and op", by));
  options.sequences_by_op = by == "op";
  if (line.renderer().audience == Audience::kHuman && !line.has("wide")) {
    options.sequence_name = [](const std::string& name) { return shorten_middle(name, kReadable); };
  }
  return run_pass_reports(
      line, {"sequences", "sequences", options, {}, [](Workload& workload, TraceReport& result) {
               result.warnings = workload.selection_notes();
               if (!result.report.rows.empty()) return;
               const bool all = workload.selection().empty();
               result.warnings.emplace_back(all ? "no sequence of kernels repeats"
                                                : "no sequence of kernels that match the selection repeats");
             }});
}

}  // namespace

const Command kSequencesCommand = {"sequences", "sequences of kernels that repeat",
                                   "sequences [options] TRACE|INDEX...",
                                   "  trace-query sequences trace.json.gz --length 4\n"
                                   "  trace-query sequences trace.json.gz --by op --phase decode",
                                   run_sequences};

namespace {

constexpr std::size_t kCount = 1, kKind = 2;
constexpr std::size_t kMeaning = kKind + 1;

// An index stores the kind; what it means is added here.
void add_meanings(Report& report) {
  for (Row& row : report.rows) {
    const auto* kind = std::get_if<std::string>(&row[kKind]);
    const IssueDescription* known = kind == nullptr ? nullptr : find_issue_kind(*kind);
    const auto* count = std::get_if<std::int64_t>(&row[kCount]);
    if (known != nullptr && count != nullptr)
      row[kMeaning] = issue_sentence(known->kind, static_cast<std::uint64_t>(*count)).text;
  }
}

TraceReport issues(const Index& index) {
  TraceReport result{run_report(index.database(), "issues", {}), {}};
  add_meanings(result.report);
  if (result.report.rows.empty()) result.warnings.emplace_back("nothing was wrong with the trace");
  return result;
}

int run_issues(std::span<const std::string> args) {
  CommandLine line(kIssuesCommand, {OptionGroup::kRows, OptionGroup::kOutput, OptionGroup::kInput});
  if (!line.parse(args)) return 0;
  return run_trace_reports(line, "issues", issues);
}

}  // namespace

const Command kIssuesCommand = {"issues", "problems found in the trace, with counts", "issues [options] TRACE|INDEX...",
                                "  trace-query issues trace.json.gz", run_issues};

namespace {

int run_warnings(std::span<const std::string> args) {
  CommandLine line(kWarningsCommand, {OptionGroup::kSteps, OptionGroup::kRules, OptionGroup::kRows,
                                      OptionGroup::kOutput, OptionGroup::kExplain, OptionGroup::kInput});
  if (!line.parse(args)) return 0;
  return run_pass_reports(line, {"warnings", "warnings", {}, {}, [](Workload& workload, TraceReport& result) {
                                   result.warnings = workload.steps().notes;
                                   if (result.report.rows.empty()) result.warnings.emplace_back("nothing to warn of");
                                 }});
}

}  // namespace

const Command kWarningsCommand = {
    "warnings", "what makes answers about this trace less certain, how much it affects, what to do",
    "warnings [options] TRACE|INDEX...", "  trace-query warnings trace.json.gz", run_warnings};

namespace {

std::vector<std::string> notes_of(Workload& workload, const Report& report) {
  std::vector<std::string> notes = workload.layer_notes();
  for (std::string& text : workload.missing_notes()) notes.push_back(std::move(text));
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
  } else if (report.rows.empty() && !workload.selection().empty()) {
    notes.emplace_back("no kernel matches the selection");
  }
  return notes;
}

// With a single stack, its name is not repeated in each row.
void drop_stack(Report& report) {
  const auto stack = std::find_if(report.columns.begin(), report.columns.end(),
                                  [](const Column& column) { return column.key == "stack"; });
  const auto at = stack - report.columns.begin();
  report.columns.erase(stack);
  for (Row& row : report.rows) row.erase(row.begin() + at);
}

int run_layers(std::span<const std::string> args) {
  CommandLine line(kLayersCommand, {OptionGroup::kSelection, OptionGroup::kLayers, OptionGroup::kSteps,
                                    OptionGroup::kCapture, OptionGroup::kRules, OptionGroup::kRows,
                                    OptionGroup::kOutput, OptionGroup::kExplain, OptionGroup::kInput});
  line.add("per-op", OptionKind::kFlag, "a row for each operation of each layer");
  line.add("per-role", OptionKind::kFlag, "a row for each role of each layer: qkv_proj, o_proj, gate_up, down ...");
  add_by_pass(line);
  if (!line.parse(args)) return 0;
  const bool per_op = line.has("per-op");
  const bool passes = by_pass(line);
  const bool per_role = line.has("per-role");
  if (int{per_op} + int{per_role} + int{passes} > 1) {
    throw Error(ErrorCode::kUsage, "layers: give one of --per-op, --per-role and --by pass");
  }
  const bool human = line.renderer().audience == Audience::kHuman;
  const std::string script = per_op ? "layer_ops" : per_role ? "layer_roles" : passes ? "layers_by_pass" : "layers";
  return run_pass_reports(line, {"layers", script, {}, {}, [&](Workload& workload, TraceReport& result) {
                                   result.warnings = notes_of(workload, result.report);
                                   if (passes) add_pass_note(workload.index(), result.warnings);
                                   if (human && workload.layers().stacks.size() < 2) drop_stack(result.report);
                                 }});
}

}  // namespace

const Command kLayersCommand = {"layers", "kernel time by layer of the model, head and tail of each step",
                                "layers [options] TRACE|INDEX...",
                                "  trace-query layers trace.json.gz --phase decode\n"
                                "  trace-query layers trace.json.gz --layer 0..3 --per-op\n"
                                "  trace-query layers trace.json.gz --phase decode --per-role\n"
                                "  trace-query kernels trace.json.gz --layer 7\n"
                                "  trace-query layers with_graphs.json.gz --capture without_graphs.json.gz",
                                run_layers};

namespace {

constexpr auto kGroups = {OptionGroup::kSteps,  OptionGroup::kRules,   OptionGroup::kRows,
                          OptionGroup::kOutput, OptionGroup::kExplain, OptionGroup::kInput};

void explain_empty(const CommandLine& line, Workload& workload, TraceReport& result) {
  result.warnings = workload.steps().notes;
  if (!result.report.rows.empty()) return;
  if (workload.steps().steps.empty() && !has_kernels(workload.index())) {
    result.warnings.emplace_back("the trace has no kernels");
  } else if (line.has("steady")) {
    result.warnings.emplace_back("no step gives its number of decode requests: steady state is unknown");
  }
}

// People see the clock of a period where it is not the usual one.
void drop_usual_clock(const CommandLine& line, Report& report) {
  if (line.renderer().audience != Audience::kHuman || line.has("columns")) return;
  const auto is_host = [place = find_column(report.columns, "period_on")](const Row& row) {
    return place && row[*place] == Cell("host");
  };
  if (std::none_of(report.rows.begin(), report.rows.end(), is_host)) remove_column(report, "period_on");
}

void add_steady_note(Workload& workload, std::vector<std::string>& notes) {
  Statement steady(workload.index().database(), "SELECT min(step), max(step) FROM temp.step_figures WHERE steady = 1");
  if (!steady.step() || steady.is_null(0) || steady.int64(0) == steady.int64(1)) return;
  notes.push_back(fmt::format("steady state: steps {} to {} of {}", steady.int64(0), steady.int64(1),
                              workload.steps().steps.size()));
}

int run_steps(std::span<const std::string> args) {
  CommandLine line(kStepsCommand, kGroups);
  add_steady(line);
  if (!line.parse(args)) return 0;
  const Parameters parameters = {{"steady", std::int64_t{line.has("steady")}}};
  return run_pass_reports(line, {"steps", "steps", {}, parameters, [&](Workload& workload, TraceReport& result) {
                                   explain_empty(line, workload, result);
                                   drop_usual_clock(line, result.report);
                                   add_steady_note(workload, result.warnings);
                                 }});
}

int run_phases(std::span<const std::string> args) {
  CommandLine line(kPhasesCommand, kGroups);
  add_steady(line);
  if (!line.parse(args)) return 0;
  return run_pass_reports(
      line, {"phases", "phases", requested_pass_options(line), {}, [&](Workload& workload, TraceReport& result) {
               explain_empty(line, workload, result);
               drop_usual_clock(line, result.report);
             }});
}

}  // namespace

const Command kStepsCommand = {
    "steps", "the steps of the workload: kind, requests, tokens, time on host and device",
    "steps [options] TRACE|INDEX...",
    "  trace-query steps trace.json.gz\n"
    "  trace-query steps trace.json.gz --steady --csv\n"
    "  trace-query steps trace.json.gz --step-regex '^iter_(?<kind>[a-z]+)_(?<context>[0-9]+)'",
    run_steps};

const Command kPhasesCommand = {"phases", "steps by kind: prefill, decode, mixed, train, ...",
                                "phases [options] TRACE|INDEX...", "  trace-query phases trace.json.gz", run_phases};

}  // namespace tracedb
