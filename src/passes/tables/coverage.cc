// How much of a trace the answers rest on: shares of the kernel time.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/unknown.h"
#include "passes/columns/group_stats.h"
#include "passes/tables/name_order.h"
#include "passes/tables/pass_tables.h"
#include "trace/format_holds.h"
#include "trace/issue.h"

namespace tracedb {
namespace {

enum Code : std::size_t {
  kWithoutLaunch,
  kWithoutOperator,
  kWithoutStack,
  kGraphCollapsed,
  kClockOrder,
  kUnknownDuration,
  kStepless,
  kLayerless,
  kUnclassified,
  kBeforeRecording,
  kRepeated,
  kCodes
};
constexpr std::array<std::string_view, kCodes> kCodeNames = {
    "no_launch", "no_operator", "no_stack",     "graph_collapsed",  "clock_order", "unknown_duration",
    "no_step",   "no_layer",    "unclassified", "before_recording", "repeated"};

// Why kernels have no operator, or no stack, the first that holds: told apart because the advice differs.
enum Reason : std::size_t { kInGraph, kLaunchedBefore, kLaunchUnknown, kOutside, kReasons };
constexpr std::array<std::string_view, kReasons> kReasonNames = {"graph", "before", "launch", "outside"};

bool holds(std::size_t set, Code code) { return (set >> code & 1) != 0; }

Reason reason_of(std::size_t set) {
  if (holds(set, kGraphCollapsed)) return kInGraph;
  if (holds(set, kBeforeRecording)) return kLaunchedBefore;
  return holds(set, kWithoutLaunch) ? kLaunchUnknown : kOutside;
}

struct Measure {
  std::int64_t time = 0, count = 0;

  void add(const Measure& other) {
    time = saturating_add(time, other.time);
    count += other.count;
  }
};

// The kernels by set of codes, one bit each: a kernel is added once, whatever holds for it.
std::vector<Measure> measure_sets(Workload& workload) {
  const EventColumns& kernels = workload.events().kernels;
  const auto ts = kernels.int64s("ts");
  const auto dur = kernels.int64s("dur");
  const auto name = kernels.ids("name_id");
  const auto launch = kernels.ids("launch_id");
  const auto op = kernels.ids("cpu_op_id");
  const auto stack = kernels.ids("stack_id");
  const auto& steps = workload.steps().of_kernel;
  const std::vector<bool> before = launched_before_recording(workload.steps(), kernels);
  const auto& layers = workload.layers().of_kernel;
  std::vector<bool> unclassified;  // by name_id
  for (std::uint32_t id = 0; id < workload.classes().end(); ++id) {
    const std::string_view op_class = workload.classes().class_of(id);
    unclassified.push_back(workload.classes().of(id).known && (op_class == "other" || op_class == "triton_fused"));
  }
  const std::vector<bool> graphs = graph_launches(workload.index());
  const auto called = workload.events().calls.int64s("ts");
  const auto is_late = [&](std::size_t i) {
    return launch[i] != 0 && launch[i] <= called.size() && called[launch[i] - 1] > ts[i];
  };
  const auto stream = kernels.ids("stream_id");
  // Beside kernels that only began at one time, as coarse times have it, the same launch, and node of a graph.
  const auto are_one = [&](std::size_t i, std::size_t j) {
    const auto same = [&](std::string_view column) {
      const auto values = kernels.int64s(column);
      return values[i] != kUnknownValue && values[i] == values[j];
    };
    return dur[i] > 0 && dur[i] == dur[j] && name[i] == name[j] && stream[i] == stream[j] && same("correlation") &&
           (!has_id(graphs, launch[i]) || same("graph_node_id"));
  };
  const auto is_repeated = [&](std::size_t i) {
    constexpr std::size_t kStreams = 16;  // that begin at one time
    for (std::size_t j = i; j > 0 && i - j < kStreams && ts[j - 1] == ts[i]; --j) {
      if (are_one(i, j - 1)) return true;
    }
    return false;
  };
  std::vector<Measure> sets(std::size_t{1} << kCodes);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const auto bit = [](bool is, Code code) { return static_cast<std::size_t>(is) << code; };
    const std::size_t set = bit(launch[i] == 0 && !before[i], kWithoutLaunch) | bit(op[i] == 0, kWithoutOperator) |
                            bit(stack[i] == 0, kWithoutStack) | bit(has_id(graphs, launch[i]), kGraphCollapsed) |
                            bit(is_late(i), kClockOrder) | bit(dur[i] == kUnknownValue, kUnknownDuration) |
                            bit(steps[i] == 0 && !before[i], kStepless) | bit(layers[i] < 0, kLayerless) |
                            bit(name[i] < unclassified.size() && unclassified[name[i]], kUnclassified) |
                            bit(before[i], kBeforeRecording) | bit(is_repeated(i), kRepeated);
    sets[set].add({std::max<std::int64_t>(dur[i], 0), 1});
  }
  return sets;
}

}  // namespace

void fill_coverage(Workload& workload, const PassOptions&, TableRows& rows) {
  const std::vector<Measure> sets = measure_sets(workload);
  std::array<Measure, kCodes> measures;
  std::array<Measure, kReasons> without_operator, without_stack;
  Measure all;
  for (std::size_t set = 0; set < sets.size(); ++set) {
    all.add(sets[set]);
    if (holds(set, kWithoutOperator)) without_operator[reason_of(set)].add(sets[set]);
    if (holds(set, kWithoutStack)) without_stack[reason_of(set)].add(sets[set]);
    for (std::size_t code = 0; code < kCodes; ++code) {
      if (holds(set, static_cast<Code>(code))) measures[code].add(sets[set]);
    }
  }
  const auto add = [&](std::string_view code, const Measure& measure, std::int64_t part, std::int64_t whole) {
    rows.add(code,
             whole > 0 ? std::optional(100 * static_cast<double>(part) / static_cast<double>(whole)) : std::nullopt);
    rows.add(measure.count);
  };
  for (std::size_t code = 0; code < kCodes; ++code) {
    const Measure& own = measures[code];
    const bool by_count = code == kUnknownDuration;
    add(kCodeNames[code], own, by_count ? own.count : own.time, by_count ? all.count : all.time);
  }
  for (std::size_t i = 0; i < kReasons; ++i) {
    for (const auto& [code, reasons] : {std::pair("no_operator_", &without_operator), {"no_stack_", &without_stack}}) {
      add(fmt::format("{}{}", code, kReasonNames[i]), (*reasons)[i], (*reasons)[i].time, all.time);
    }
  }
  const NameOrder order = find_names_out_of_step(workload.index(), workload.events().kernels);
  const IdleSums idle = idle_sums(workload.events(), window_of_steps(workload.events(), workload.steps()));
  add("idle", {idle.idle, idle.gaps}, idle.idle, idle.span);
  add("host_bound", {idle.host_wait, idle.gaps}, idle.host_wait, idle.span);
  const LostKernels lost = lost_kernels(workload.index(), workload.events());
  add("lost_kernels", {0, lost.lost}, lost.lost, lost.launches);
  add("names_out_of_step", {order.time, order.kernels}, order.time, all.time);
  const FormatHolds holds = format_holds(workload.index().meta("format").value_or(""));
  add("holds_graphs", {0, holds.graphs ? 1 : 0}, 0, 0);
  add("holds_stacks", {0, holds.stacks ? 1 : 0}, 0, 0);
  add("holds_launches", {0, holds.launches ? 1 : 0}, 0, 0);
}

void fill_issue_words(Workload& workload, const PassOptions&, TableRows& rows) {
  Statement issues(workload.index().database(), "SELECT kind, count FROM issue");
  while (issues.step()) {  // kinds that this version does not know have no row
    const IssueDescription* known = find_issue_kind(issues.text(0));
    if (known == nullptr) continue;
    rows.add(known->name, issue_sentence(known->kind, static_cast<std::uint64_t>(issues.int64(1))).text);
  }
}

}  // namespace tracedb
