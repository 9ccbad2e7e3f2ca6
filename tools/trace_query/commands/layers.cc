#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "trace_query/command.h"
#include "trace_query/run.h"
#include "trace_query/selection.h"

namespace tracedb {
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

}  // namespace tracedb
