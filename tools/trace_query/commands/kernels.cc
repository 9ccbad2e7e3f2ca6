#include "base/error.h"
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

}  // namespace tracedb
