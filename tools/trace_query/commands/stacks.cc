#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/text/closest_name.h"
#include "export/folded_stacks.h"
#include "trace/format_holds.h"
#include "trace_query/command.h"
#include "trace_query/run.h"

namespace tracedb {
namespace {

// A place in the list of views; nullopt: collapsed.
std::optional<CallTreeView> requested_view(const CommandLine& line) {
  static const std::vector<std::string> kViews = {"tree", "callers", "flat", "collapsed"};
  const std::string wanted = line.text("view").value_or(line.has("by") ? "flat" : "tree");
  const auto found = std::find(kViews.begin(), kViews.end(), wanted);
  if (found == kViews.end()) {
    throw Error(ErrorCode::kUsage, fmt::format("--view {}: use tree, callers, flat and collapsed{}", wanted,
                                               did_you_mean(wanted, kViews)));
  }
  if (wanted == "collapsed") return std::nullopt;
  return static_cast<CallTreeView>(found - kViews.begin());
}

// Stacks, but no frame that the options look at.
std::string no_frame_text(const FrameChoice& frames) {
  if (frames.which != Frames::kOwn)
    return "no kernel is launched within an nn.Module: leave --modules or --by module out";
  if (frames.own.empty()) return "no kernel is launched by code of your own: name its files with --own 'GLOB'";
  return fmt::format(
      "no frame is in a file that --own '{}' matches: without --own, --by function shows which there are",
      fmt::join(frames.own, ","));
}

std::vector<std::string> warnings_of(Workload& workload, bool any_kernel, bool any_stack) {
  std::vector<std::string> warnings = workload.selection_notes();
  if (workload.capture() != nullptr) {
    const std::vector<std::string>& notes = workload.origins().notes;
    warnings.insert(warnings.end(), notes.begin(), notes.end());
  }
  if (!any_kernel) {
    warnings.emplace_back(workload.selection().empty() ? "the trace has no kernels"
                                                       : "no kernel matches the selection");
  } else if (!any_stack && workload.index().database().query_int64("SELECT id FROM stack LIMIT 1")) {
    warnings.emplace_back(
        "none of these kernels has a Python stack: their launches are outside the trace, or outside Python");
  } else if (!any_stack) {
    warnings.emplace_back(
        format_holds(workload.index().meta("format").value_or("")).stacks
            ? "the trace has no Python stacks: profile with with_stack=True, and ingest without --no-stacks"
            : "this format holds no Python stacks");
  }
  return warnings;
}

int run_collapsed(const CommandLine& line, const FrameChoice& frames) {
  const RequestedWorkload requested(line);
  return run_trace_texts(line, [&](const Index& index, std::ostream& out) {
    Workload workload = requested.of(index);
    const StackTimes times = stack_times(workload, frames);
    write_folded(out, folded_stacks(times, frames.which));
    const auto counts = [](const PathTime& path) { return path.count > 0; };
    const bool any_stack = counts(times.passed_over) || std::any_of(times.times.begin() + 1, times.times.end(), counts);
    return warnings_of(workload, any_stack || counts(times.times[0]), any_stack);
  });
}

int run_stacks(const Command& command, std::span<const std::string> args) {
  CommandLine line(command, {OptionGroup::kSelection, OptionGroup::kCapture, OptionGroup::kRules, OptionGroup::kRows,
                             OptionGroup::kOutput, OptionGroup::kExplain, OptionGroup::kInput});
  line.add("view", OptionKind::kValue,
           "tree: from the outermost frame in (default); callers: from the launching frame out; flat: by frame; "
           "collapsed: one line a path, in ns, for flame graph tools");
  add_by_frames(line);
  add_call_tree_options(line);
  if (!line.parse(args)) return 0;
  PassOptions options = requested_pass_options(line);
  const std::optional<CallTreeView> view = requested_view(line);
  if (!view && !line.has("explain")) return run_collapsed(line, options.frames);
  options.view = view.value_or(CallTreeView::kTree);
  options.most_frames = row_limit(line);
  const bool human = line.renderer().audience == Audience::kHuman;
  const Parameters parameters = {{"indent", std::int64_t{human ? 2 : 0}}};
  return run_pass_reports(
      line, {"stacks", "stacks", options, parameters,
             [human, frames = options.frames](Workload& workload, TraceReport& result) {
               Database& database = workload.index().database();
               const bool any_stack =
                   database.query_int64("SELECT 1 FROM temp.call_tree WHERE frame <> '[no stack]' LIMIT 1").has_value();
               result.warnings = warnings_of(workload, !result.report.rows.empty(), any_stack);
               const bool any_frame =
                   database
                       .query_int64(
                           "SELECT 1 FROM temp.call_tree WHERE frame NOT IN ('[no stack]', '[no module]', "
                           "'[no own frame]') LIMIT 1")
                       .has_value();
               if (any_stack && !any_frame) {
                 result.warnings.push_back(no_frame_text(frames));
                 if (human) result.report.rows.clear();  // one row that says the same
               }
               if (human) remove_column(result.report, "frames");  // people see the number behind the frame
             }});
}

}  // namespace

Command stacks_command() {
  return {"stacks",
          "kernel time by python call path, nn.Module or function of your own code",
          "stacks [options] TRACE|INDEX...",
          "  trace-query stacks trace.json.gz --modules\n"
          "  trace-query stacks trace.json.gz --by module\n"
          "  trace-query stacks trace.json.gz --by function --own 'vllm/*'\n"
          "  trace-query stacks trace.json.gz --view callers --op dense_gemm\n"
          "  trace-query stacks trace.json.gz --view collapsed > trace.folded\n"
          "  trace-query stacks with_graphs.json.gz --modules --capture without_graphs.json.gz",
          run_stacks,
          {{"", "stacks"}}};
}

}  // namespace tracedb
