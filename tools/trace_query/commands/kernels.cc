#include "base/error.h"
#include "passes/tables/kernel_groups.h"
#include "trace_query/command.h"
#include "trace_query/layers.h"
#include "trace_query/run.h"
#include "trace_query/selection.h"

namespace tracedb {
namespace {

std::vector<std::string> why_empty(const Index& index, const Report& report, const Selection& selection) {
  if (!report.rows.empty()) return {};
  if (index.database().query_int64("SELECT id FROM kernel LIMIT 1") && !selection.empty()) {
    return {"no kernel matches the selection"};
  }
  return {"the trace has no kernels"};
}

// Where the selection asks for steps or layers.
std::int64_t group_by_place(const CommandLine& line, const Index& index, const RulesInForce& rules,
                            const CaptureInForce& capture, const Selection& selection, GroupBy by, SplitBy split,
                            std::vector<std::string>& notes) {
  if (!selection.layer) {
    const LoadedSteps loaded = load_steps(index, line, rules);
    notes = loaded.set.notes;
    return make_kernel_group_table(index, selection, by, {loaded.events, loaded.set, nullptr}, split);
  }
  const LoadedLayers loaded = load_layers(index, line, rules, &capture);
  notes = loaded.notes();
  return make_kernel_group_table(index, selection, by, {loaded.steps.events, loaded.steps.set, &loaded.layers}, split);
}

int run_grouped(const CommandLine& line, const std::string& name, GroupBy by) {
  const Selection selection = selection_of(line);
  const RulesInForce rules(line);
  if (line.has("capture") && !selection.layer) {
    throw Error(ErrorCode::kUsage, name + ": --capture needs --layer: it changes nothing else here");
  }
  const CaptureInForce capture(line, rules);
  const bool classes = by == GroupBy::kClass || selection.op;
  const SplitBy split = by_pass(line) ? SplitBy::kPass : SplitBy::kNone;
  const std::string script = split == SplitBy::kPass ? name + "_by_pass" : name;
  Provenance provenance{
      "reports/" + script,
      {"temp.kernel_group: kernels of the selection, from columns ts, dur, name_id, stream_id and step_id of "
       "table kernel (src/passes/tables/kernel_groups.h)"}};
  if (classes) provenance.tables.push_back(rules.provenance());
  if (selection.names_steps()) provenance.tables.push_back(steps_provenance(line));
  const auto make = [&](const Index& index) {
    TraceReport result;
    if (classes) rules.apply(index);
    const std::int64_t busy = selection.names_steps()
                                  ? group_by_place(line, index, rules, capture, selection, by, split, result.warnings)
                                  : make_kernel_group_table(index, selection, by, split);
    result.report = run_report(index.database(), script, {{"busy", busy}});
    for (std::string& reason : why_empty(index, result.report, selection)) result.warnings.push_back(std::move(reason));
    if (split == SplitBy::kPass) add_pass_note(index, result.warnings);
    return result;
  };
  return run_trace_reports(line, name, make, provenance);
}

int run_kernels(std::span<const std::string> args) {
  CommandLine line(kKernelsCommand, {OptionGroup::kSelection, OptionGroup::kLayers, OptionGroup::kSteps,
                                     OptionGroup::kCapture, OptionGroup::kRules, OptionGroup::kRows,
                                     OptionGroup::kOutput, OptionGroup::kExplain, OptionGroup::kInput});
  add_by_pass(line);
  return line.parse(args) ? run_grouped(line, "kernels", GroupBy::kName) : 0;
}

int run_ops(std::span<const std::string> args) {
  CommandLine line(kOpsCommand, {OptionGroup::kSelection, OptionGroup::kLayers, OptionGroup::kSteps,
                                 OptionGroup::kCapture, OptionGroup::kRules, OptionGroup::kRows, OptionGroup::kOutput,
                                 OptionGroup::kExplain, OptionGroup::kInput});
  add_by_pass(line);
  return line.parse(args) ? run_grouped(line, "ops", GroupBy::kClass) : 0;
}

}  // namespace

const Command kKernelsCommand = {"kernels", "kernel time by name", "kernels [options] TRACE|INDEX...",
                                 "  trace-query kernels trace.json.gz --limit 10\n"
                                 "  trace-query kernels trace.json.gz --phase decode --name 'ncclDevKernel*' --csv",
                                 run_kernels};

const Command kOpsCommand = {"ops", "kernel time by operation: attention, GEMM, norm, communication, ...",
                             "ops [options] TRACE|INDEX...",
                             "  trace-query ops trace.json.gz --phase decode\n"
                             "  trace-query ops training.json.gz --by pass\n"
                             "  trace-query kernels trace.json.gz --op attention_decode\n"
                             "  trace-query rules show trace.json.gz       which name has which class, and why",
                             run_ops};

}  // namespace tracedb
