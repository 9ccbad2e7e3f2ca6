// Differences between two traces that limit conclusions: other work, other conditions, missing or unrecognised kernels,
// clocks.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text/amounts.h"
#include "compare/comparison.h"

namespace tracedb {
namespace {

constexpr double kUnclassified = 0.03;  // of kernel time
constexpr double kLost = 0.02;          // of launches
constexpr double kLowShare = 0.8;
constexpr double kCaptureLength = 2;  // times as many steps

// "10,858 recorded calls".
std::string many(std::int64_t n, std::string_view what) {
  return with_separators(std::to_string(n)) + (n == 1 ? fmt::format(" {}", what) : fmt::format(" {}s", what));
}

struct Warnings {
  std::vector<CompareWarning> all;
  void add(const char* code, const char* severity, const char* side, std::string text) {
    all.push_back({code, severity, side, std::move(text)});
  }
};

// Of the time that is compared.
double unclassified_share(const Comparison& comparison, GroupWork GroupComparison::*which,
                          const KernelNameTable& kernel_names) {
  double unknown = 0, all = 0;
  for (const GroupComparison& group : comparison.groups) {
    for (const WorkCell& cell : (group.*which).cells) {
      const auto time = static_cast<double>(cell.sum.time);
      all += time;
      if (kernel_names.op_name(kernel_names.op_of(cell.name)) == "other") unknown += time;
    }
  }
  return all > 0 ? unknown / all : 0;
}

// Whether the devices run nothing for much of the steps that count, of some kind: a pause in one step binds no others.
// Where most steps are of no kind that both traces have, too.
bool idles_much(const ComparedTrace& trace, const Comparison& comparison, GroupSide StepGroup::*which) {
  std::size_t matched = 0;
  for (const GroupComparison& one : comparison.groups) matched += (one.group.*which).matched.size();
  if (2 * matched <= trace.work.steps.size()) return true;
  return std::ranges::any_of(comparison.groups, [&](const GroupComparison& one) {
    double idle = 0, all = 0;
    for (const std::uint32_t i : (one.group.*which).device_steps) {
      const DeviceStep& step = trace.work.steps[i];
      idle += static_cast<double>(step.idle + step.between);
      all += static_cast<double>(step.taken + step.between + step.between_other);
    }
    return all > 0 && idle >= IdleSums::kHostBound * all;
  });
}

void about_side(const ComparedTrace& trace, const char* which, double unknown, bool idles, Warnings& out) {
  if (trace.description.cycles) out.add("cycles", "warning", which, "times are cycles, which data have as ns");
  if (trace.description.without_copies) {
    out.add("copies", "warning", which, "its copies and fills are left out: the format of the other trace holds none");
  }
  for (const std::string& note : trace.work.notes) out.add("device_steps", "info", which, note);
  if (trace.work.kernel_rows.empty()) {
    out.add("no_kernels", "warning", which, "the trace has no kernels");
    return;
  }
  if (unknown > kUnclassified) {
    out.add("unclassified", "warning", which,
            fmt::format("{} of the kernel time is in kernels that no rule recognises: fusions among them are not "
                        "found (trace-query rules show --class other)",
                        part_text(unknown, 1)));
  }
  if (const double lost = trace.description.lost_kernels.share(); lost > kLost) {
    out.add("lost_kernels", "warning", which,
            fmt::format("{} of its launches have no kernel, though others have: the profiler lost some, or did not "
                        "record the device when they ran, and counts of kernels do not compare",
                        part_text(lost, 1)));
  }
  if (const NameOrder& order = trace.description.names_out_of_step; order.kernels > 0 && trace.work.kernel_time > 0) {
    out.add("names_out_of_step", "warning", which,
            fmt::format("{} of graph replays, {} of the kernel time, under the name of another kernel: steps and "
                        "layers are reliable, kernels and operations are not",
                        many(static_cast<std::int64_t>(order.kernels), "kernel"),
                        part_text(static_cast<double>(order.time) / static_cast<double>(trace.work.kernel_time), 1)));
  }
  if (const IdleSums& idle = trace.description.idle; idles && idle.is_host_bound()) {
    out.add(
        "host_bound", "warning", which,
        fmt::format("host bound: from the first kernel {}to the last {} idle, {} of that time waiting for work that "
                    "was not launched when the devices fell idle (trace-query gaps shows what is recorded of the "
                    "host)",
                    trace.steps.steps.empty() ? "" : "of all steps ", part_text(idle.idle_share(), 0),
                    part_text(idle.host_share(), 0)));
  }
  if (trace.work.outside_time > 0 && trace.work.kernel_time > 0) {
    const double share = static_cast<double>(trace.work.outside_time) / static_cast<double>(trace.work.kernel_time);
    const std::vector<bool> before = launched_before_recording(trace.steps, trace.events.kernels);
    const auto n = std::ranges::count(before, true);
    out.add("outside_steps", share > kUnclassified ? "warning" : "info", which,
            fmt::format(
                "{} of the kernel time ({}{}) is in no step: it counts only where it alone runs, as work of no step",
                part_text(share, 1), many(static_cast<std::int64_t>(trace.work.outside_kernels), "kernel"),
                n > 0 ? fmt::format(", {} launched before the recording", with_separators(std::to_string(n))) : ""));
  }
  if (trace.steps.source == StepSource::kInferred) {
    out.add(
        "inferred_steps", "info", which,
        fmt::format("no annotation names a step: {} inferred, parted where the device waits longest, be it within a "
                    "step, confidence {:.2f}",
                    counted(trace.steps.steps.size(), "step"), trace.steps.confidence));
  }
}

void about_waits(std::string_view label, const ComparedTrace& trace, const char* which, const HostWaits& waits,
                 Warnings& out) {
  if (!waits.bound()) return;
  out.add("recording", "warning", which,
          fmt::format("{}: in {} of the period the device waits between steps for a host that records {} ({} in "
                      "{}): part of that is the profiler's; see the span as well",
                      label, part_text(waits.share(), 0), to_string(trace.recorded.recording),
                      many(waits.calls, "recorded call"), many(waits.gaps, "gap")));
}

void about_group(const GroupComparison& group, Warnings& out) {
  const std::string_view label = group.group.said();
  if (!group.other_work.text.empty()) {
    out.add("other_work", "warning", "both", fmt::format("{}: {}", label, group.other_work.text));
  }
  if (!group.group.comparable()) out.add("batch_mix", "warning", "both", group.group.incomparable_reason);
  const auto a = static_cast<double>(group.baseline.device_steps);
  const auto b = static_cast<double>(group.candidate.device_steps);
  if (std::max(a, b) > kCaptureLength * std::min(a, b)) {
    out.add("capture_length", "info", "both", fmt::format("{}: {} and {} steps", label, a, b));
  }
  const double shared = std::min(group.baseline_coverage, group.candidate_coverage);
  if (shared < kLowShare) {
    out.add("low_coverage", "warning", "both",
            fmt::format("{}: only {} and {} of the time has a counterpart in the other trace", label,
                        part_text(group.baseline_coverage, 0), part_text(group.candidate_coverage, 0)));
  }
  for (const std::string& note : group.alignment.notes) out.add("layers", "warning", "both", note);
  const double aligned = std::min(group.alignment.baseline_share, group.alignment.candidate_share);
  if (!group.alignment.segments.empty() && !group.alignment.too_long && aligned < kLowShare) {
    out.add("low_alignment", "warning", "both",
            fmt::format("{}: {} of the baseline's and {} of the candidate's kernel time has a partner", label,
                        part_text(group.alignment.baseline_share, 0), part_text(group.alignment.candidate_share, 0)));
  }
}

// By kind of operator, the type of most of its work.
std::map<std::string_view, std::string> types_of(const ComparedTrace& trace, const GroupSide& side) {
  std::map<std::string_view, std::map<std::string, double>> work;
  for (const std::uint32_t step : side.device_steps) {
    for (const std::uint32_t i : trace.recorded_work.by_step[step]) {
      const RecordedShape& shape = trace.recorded_work.shapes[i];
      work[shape.kind][shape.type] += shape.work;
    }
  }
  std::map<std::string_view, std::string> out;
  for (const auto& [kind, by_type] : work)
    out[kind] = std::ranges::max_element(by_type, {}, [](const auto& one) { return one.second; })->first;
  return out;
}

void about_types(const ComparedTrace& a, const ComparedTrace& b, const StepGroup& group, Warnings& out) {
  const auto of_b = types_of(b, group.candidate);
  for (const auto& [kind, type] : types_of(a, group.baseline)) {
    const auto found = of_b.find(kind);
    if (found == of_b.end() || type.empty() || found->second.empty() || type == found->second) continue;
    out.add("types", "warning", "both",
            fmt::format("{}: most work of {} operators is in {} in the baseline, in {} in the candidate", group.said(),
                        kind, type, found->second));
  }
}

std::size_t devices_of(const ComparedTrace& trace) {
  std::uint32_t most = 0;
  for (const DeviceStep& step : trace.work.steps) most = std::max(most, step.device + 1);
  return most;
}

void about_both(const ComparedTrace& a, const ComparedTrace& b, const Comparison& comparison, Warnings& out) {
  if (a.description.world_size != b.description.world_size) {
    const auto text = [](const std::string& size) { return size.empty() ? std::string("unknown") : size; };
    out.add("ranks", "warning", "both",
            fmt::format("the number of ranks differs: {} and {}", text(a.description.world_size),
                        text(b.description.world_size)));
  }
  if (!a.work.steps.empty() && !b.work.steps.empty() && devices_of(a) != devices_of(b)) {
    out.add("devices", "info", "both",
            fmt::format("{} and {} devices: figures are per step and device", devices_of(a), devices_of(b)));
  }
  const auto graphs_a = a.description.graph_launches, graphs_b = b.description.graph_launches;
  if (graphs_a && graphs_b && *graphs_a != *graphs_b) {
    out.add("graphs", "info", *graphs_a ? "baseline" : "candidate",
            "replays graphs while the other trace launches kernels one by one, which changes idle times");
  }
  const bool other_work =
      std::ranges::any_of(comparison.groups, [](const auto& group) { return !group.other_work.text.empty(); });
  if (!other_work && a.layers.layers != b.layers.layers && a.layers.layers > 0 && b.layers.layers > 0) {
    out.add("model_shape", "warning", "both",
            fmt::format("{} and {} layers: different models, layers of drafts, or layers recognised differently",
                        a.layers.layers, b.layers.layers));
  }
  const bool periods = std::ranges::any_of(comparison.groups, [](const auto& g) { return g.has_period(); });
  if (periods && !comparison.recording_difference.empty()) {
    out.add("recording", "warning", "both",
            comparison.recording_difference + ": that slows the host, so periods are not compared, only spans");
  }
  for (const ClockChange& change : comparison.same.clocks) {
    const std::string kernels = change.holding == change.kernels
                                    ? fmt::format("all {} kernels", change.kernels)
                                    : fmt::format("{} of {} kernels", change.holding, change.kernels);
    out.add("clocks", "warning", "both",
            fmt::format("{}: {} launched identically in {}, with {} of the time of computation, take "
                        "{:.3f} times as long (quartiles {:.3f} and {:.3f}): suspect {}{}",
                        change.group, kernels, comparison.step ? "this step and others" : "both traces",
                        part_text(change.time_share, 0), change.ratio, change.low_quartile, change.high_quartile,
                        comparison.same.cause, comparison.same.steady.empty() ? ", not code" : ""));
  }
}

}  // namespace

std::vector<CompareWarning> compare_warnings(const ComparedTrace& baseline, const ComparedTrace& candidate,
                                             const KernelNameTable& kernel_names, const Comparison& comparison,
                                             const std::vector<std::string>& notes) {
  Warnings out;
  for (const std::string& note : notes) out.add("steps", "warning", "both", note);
  about_side(baseline, "baseline", unclassified_share(comparison, &GroupComparison::baseline, kernel_names),
             idles_much(baseline, comparison, &StepGroup::baseline), out);
  about_side(candidate, "candidate", unclassified_share(comparison, &GroupComparison::candidate, kernel_names),
             idles_much(candidate, comparison, &StepGroup::candidate), out);
  about_both(baseline, candidate, comparison, out);
  for (const GroupComparison& group : comparison.groups) {
    about_waits(group.group.said(), baseline, "baseline", group.baseline.waits, out);
    about_waits(group.group.said(), candidate, "candidate", group.candidate.waits, out);
    about_types(baseline, candidate, group.group, out);
    about_group(group, out);
  }
  if (comparison.groups.empty()) out.add("no_match", "warning", "both", "nothing is compared");
  std::vector<CompareWarning> all = std::move(out.all);
  std::stable_partition(all.begin(), all.end(),
                        [](const CompareWarning& warning) { return warning.severity == "warning"; });
  if (!comparison.step) return all;
  // Both sides are one trace, and one step is what was asked for.
  std::erase_if(all, [](const CompareWarning& warning) {
    return warning.side == "baseline" || warning.code == "capture_length";
  });
  for (CompareWarning& warning : all) warning.side = "both";
  return all;
}

}  // namespace tracedb
