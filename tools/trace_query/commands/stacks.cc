#include <fmt/format.h>

#include <algorithm>

#include "base/closest_name.h"
#include "base/error.h"
#include "passes/stacks/stack_times.h"
#include "report/escape.h"
#include "sql/temp_table.h"
#include "trace_query/capture.h"
#include "trace_query/command.h"
#include "trace_query/run.h"
#include "trace_query/selection.h"
#include "trace_query/steps.h"

namespace tracedb {
namespace {

constexpr std::string_view kNoStack = "[no stack]";

enum class View { kTree, kCallers, kFlat, kCollapsed };

View view_asked(const CommandLine& line) {
  static const std::vector<std::string> kViews = {"tree", "callers", "flat", "collapsed"};
  const std::string wanted = line.text("view").value_or("tree");
  const auto found = std::find(kViews.begin(), kViews.end(), wanted);
  if (found == kViews.end()) {
    throw Error(ErrorCode::kUsage, fmt::format("--view {}: use tree, callers, flat and collapsed{}", wanted,
                                               did_you_mean(wanted, kViews)));
  }
  return static_cast<View>(found - kViews.begin());
}

// In the order of the report: what a limit leaves must be a tree too.
void make_node_table(const Index& index, const StackTimes& times, std::span<const CallNode> nodes, std::size_t most) {
  TempTable table(index.database(), "call_node",
                  "place INTEGER PRIMARY KEY, total INTEGER, self INTEGER, n INTEGER, depth INTEGER, frame TEXT", 6);
  const auto add = [&](std::int64_t place, const CallNode& node, std::string_view frame) {
    table.insert().bind(1, place).bind(2, node.total).bind(3, node.self).bind(4, node.count);
    table.insert().bind(5, std::int64_t{node.depth}).bind(6, frame).run();
  };
  CallNode none;
  none.total = none.self = times.times[0].time;
  none.count = times.times[0].count;
  std::int64_t place = 0;
  if (none.count > 0) add(++place, none, kNoStack);
  if (place > 0 && most > 1) --most;
  for (const std::uint32_t id : largest_first(nodes, most)) add(++place, nodes[id], times.frames[nodes[id].frame]);
}

struct LoadedStacks {
  StackTimes times;
  std::vector<std::string> notes;
};

LoadedStacks load_stacks(const Index& index, const CommandLine& line, const Selection& selection, Frames frames,
                         const RulesInForce& rules, const CaptureInForce& capture) {
  if (selection.op) rules.apply(index);
  if (!capture.given()) return {stack_times(index, selection, frames), {}};
  const LoadedSteps steps = load_steps(index, line, rules.traits(index));
  LentLaunches lent = capture.lend(index, steps.events, steps.set);
  LentStacks stacks{capture.index(), std::vector<std::uint32_t>(lent.launcher.size(), 0)};
  for (std::size_t i = 0; i < lent.launcher.size(); ++i) {
    if (lent.launcher[i] != 0) stacks.stack[i] = capture.capture().launchers[lent.launcher[i] - 1].stack;
  }
  return {stack_times(index, selection, frames, &stacks), std::move(lent.notes)};
}

std::int64_t all_time(const StackTimes& times) {
  std::int64_t all = 0;
  for (const PathTime& path : times.times) __builtin_add_overflow(all, path.time, &all);
  return all;
}

std::vector<CallNode> nodes_of(const StackTimes& times, View view, bool all_frames) {
  if (view == View::kFlat) return flat_profile(times.stacks, times.times);
  const TreeSide side = view == View::kTree ? TreeSide::kOutside : TreeSide::kInside;
  std::vector<CallNode> tree = call_tree(times.stacks, times.times, side);
  return all_frames ? tree : without_chains(tree, side);
}

std::vector<std::string> why_empty(const Index& index, const StackTimes& times, const Selection& selection) {
  const bool any = std::any_of(times.times.begin(), times.times.end(), [](const PathTime& t) { return t.count > 0; });
  if (!any) return {selection.empty() ? "the trace has no kernels" : "no kernel matches the selection"};
  const bool stacks =
      std::any_of(times.times.begin() + 1, times.times.end(), [](const auto& t) { return t.count > 0; });
  if (stacks) return {};
  if (index.database().query_int64("SELECT id FROM stack LIMIT 1")) {
    return {"none of these kernels has a Python stack: their launches are outside the trace, or outside Python"};
  }
  return {"the trace has no Python stacks: profile with with_stack=True, and ingest without --no-stacks"};
}

std::vector<std::string> warnings_of(const Index& index, const LoadedStacks& stacks, const Selection& selection) {
  std::vector<std::string> warnings = stacks.notes;
  for (std::string& reason : why_empty(index, stacks.times, selection)) warnings.push_back(std::move(reason));
  return warnings;
}

// One line a path, as flame graph tools read it: frame;frame;frame time.
void print_collapsed(std::ostream& out, const StackTimes& times) {
  const std::vector<CallNode> tree = call_tree(times.stacks, times.times, TreeSide::kOutside);
  std::vector<std::string> paths(tree.size());
  for (std::size_t id = 0; id < tree.size(); ++id) {
    std::string frame = escape_text(times.frames[tree[id].frame]);
    std::replace(frame.begin(), frame.end(), ';', ',');
    paths[id] = tree[id].parent == kNoNode ? frame : paths[tree[id].parent] + ";" + frame;
    if (tree[id].self > 0) out << fmt::format("{} {}\n", paths[id], tree[id].self);
  }
  if (times.times[0].time > 0) out << fmt::format("{} {}\n", kNoStack, times.times[0].time);
}

int run(std::span<const std::string> args) {
  CommandLine line(kStacksCommand,
                   {OptionGroup::kSelection, OptionGroup::kCapture, OptionGroup::kRules, OptionGroup::kRows,
                    OptionGroup::kOutput, OptionGroup::kExplain, OptionGroup::kInput});
  line.add("view", OptionKind::kValue,
           "tree: from the outermost frame in (default); callers: from the launching frame out; flat: by frame; "
           "collapsed: one line a path, in ns, for flame graph tools");
  line.add("modules", OptionKind::kFlag, "only nn.Module frames");
  line.add("all-frames", OptionKind::kFlag, "also frames that only call one other frame");
  if (!line.parse(args)) return 0;
  const View view = view_asked(line);
  const Selection selection = selection_of(line);
  const RulesInForce rules(line);
  const CaptureInForce capture(line, rules);
  const Frames frames = line.has("modules") ? Frames::kModules : Frames::kAll;
  if (view == View::kCollapsed && !line.has("explain")) {
    return run_trace_texts(line, [&](const Index& index, std::ostream& out) {
      const LoadedStacks stacks = load_stacks(index, line, selection, frames, rules, capture);
      print_collapsed(out, stacks.times);
      return warnings_of(index, stacks, selection);
    });
  }
  const bool human_readable = line.renderer().audience == Audience::kHuman;
  const std::size_t limit = row_limit(line);
  Provenance provenance{
      "reports/stacks",
      {"temp.call_node: a tree of the stacks of the kernels of the selection, from columns dur and stack_id of "
       "table kernel and the tables stack and frame (src/passes/stacks/call_tree.h)"}};
  if (selection.op) provenance.tables.push_back(rules.provenance());
  if (capture.given())
    provenance.tables.emplace_back("stacks of graph replays: those of --capture (src/passes/capture/capture.h)");
  const auto make = [&](const Index& index) {
    const LoadedStacks stacks = load_stacks(index, line, selection, frames, rules, capture);
    const StackTimes& times = stacks.times;
    make_node_table(index, times, nodes_of(times, view, line.has("all-frames") || frames == Frames::kModules), limit);
    TraceReport result{run_report(index.database(), "stacks",
                                  {{"all", all_time(times)}, {"indent", std::int64_t{human_readable ? 2 : 0}}}),
                       {}};
    result.warnings = warnings_of(index, stacks, selection);
    return result;
  };
  return run_trace_reports(line, "stacks", make, provenance);
}

}  // namespace

const Command kStacksCommand = {"stacks", "kernel time by python call path or nn.Module",
                                "stacks [options] TRACE|INDEX...",
                                "  trace-query stacks trace.json.gz --modules\n"
                                "  trace-query stacks trace.json.gz --view callers --op dense_gemm\n"
                                "  trace-query stacks trace.json.gz --view collapsed > trace.folded\n"
                                "  trace-query stacks with_graphs.json.gz --modules --capture without_graphs.json.gz",
                                run};

}  // namespace tracedb
