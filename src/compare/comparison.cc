#include "compare/comparison.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <type_traits>
#include <utility>

#include "base/parallel.h"
#include "base/statistics.h"
#include "base/text/amounts.h"
#include "base/text/split.h"
#include "passes/steps/step_stats.h"

namespace tracedb {
namespace {

std::int64_t units_of(const GroupSide& side, Normalise normalise) {
  if (normalise == Normalise::kNone) return 1;
  if (normalise == Normalise::kToken) return std::max<std::int64_t>(side.tokens, 1);
  return std::max<std::int64_t>(static_cast<std::int64_t>(side.device_steps.size()), 1);
}

// Share of the kernel time of `own` that is of classes `other` has too; `unlike`: one that says nothing.
double coverage(const GroupWork& own, const GroupWork& other, std::optional<OpId> unlike = std::nullopt) {
  double shared = 0, all = 0;
  for (const auto& [op, times] : own.op_times) {
    const double sum = sum_of_times(times);
    all += sum;
    if (op != unlike && other.op_times.contains(op)) shared += sum;
  }
  return all > 0 ? shared / all : 1;
}

class Comparer {
 public:
  Comparer(const ComparedTrace& baseline, const ComparedTrace& candidate, const KernelNameTable& kernel_names,
           const CompareOptions& options)
      : a_(baseline), b_(candidate), kernel_names_(kernel_names), options_(options) {}

  Comparison run() {
    StepMatch match = options_.step ? match_step(a_, b_, *options_.step)
                                    : match_steps(a_, b_, options_.normalise == Normalise::kNone);
    out_.step = options_.step;
    out_.recording_difference = recording_difference(a_.recorded.recording, b_.recorded.recording);
    out_.normalise = options_.normalise;
    name_kinds(match.groups);
    out_.baseline_share = match.baseline_share;
    out_.candidate_share = match.candidate_share;
    std::vector<StepGroup> kept;
    for (StepGroup& group : match.groups) {
      if (wanted(group)) kept.push_back(std::move(group));
    }
    if (options_.normalise == Normalise::kToken && !tokens_known(kept)) {
      out_.normalise = Normalise::kStep;
      match.notes.emplace_back("the annotations do not say how many tokens every step had: figures are per step");
    }
    if (kept.empty() && !match.groups.empty()) match.notes.push_back(nothing_wanted(match.groups));
    out_.same = same_kernels(a_, b_, kept, kernel_names_);
    for (StepGroup& group : kept) out_.groups.push_back(compare(std::move(group)));
    for (const GroupComparison& group : out_.groups) {
      if (group.permission.may(Claim::kKernels) && group.permission.may(Claim::kRatio)) continue;
      std::erase_if(out_.same.clocks, [&](const ClockChange& one) { return one.group == group.group.label; });
    }
    out_.overall = overall(&Comparer::headline_parts);
    out_.overall_span = overall(&Comparer::span_parts);
    out_.warnings = compare_warnings(a_, b_, kernel_names_, out_, match.notes);
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool wanted(const StepGroup& group) const {
    return wanted_phase(options_, group.label) || wanted_phase(options_, to_string(group.baseline.kind));
  }

  [[nodiscard]] std::string nothing_wanted(const std::vector<StepGroup>& groups) const {
    std::string labels;
    for (const StepGroup& group : groups) labels += (labels.empty() ? "" : ", ") + group.label;
    return fmt::format("--phase {}: there {} {}", *options_.phase, groups.size() == 1 ? "is only" : "are", labels);
  }

  static bool tokens_known(const std::vector<StepGroup>& groups) {
    return std::ranges::all_of(
        groups, [](const StepGroup& group) { return group.baseline.tokens_known && group.candidate.tokens_known; });
  }

  static std::set<Role> roles_of(const GroupWork& work) {
    std::set<Role> roles;
    for (const WorkCell& cell : work.cells) roles.insert(cell.role);
    return roles;
  }

  [[nodiscard]] GroupEvidence evidence_of(const StepGroup& group, const WorkDifference& work) const {
    GroupEvidence out;
    out.other_work = !work.text.empty();
    if (!group.comparable()) {
      out.incomparable = group.whole_trace                             ? "only one trace has steps"
                         : group.baseline.kind != group.candidate.kind ? "the kinds of steps differ"
                                                                       : "the load differs";
    }
    const std::string_view first = bar_of(group.baseline);
    out.no_usual_step = first.empty() ? bar_of(group.candidate) : first;
    out.names_out_of_step =
        a_.description.names_out_of_step.kernels > 0 || b_.description.names_out_of_step.kernels > 0;
    return out;
  }

  GroupComparison compare(StepGroup group) const {
    GroupComparison out;
    if (!options_.different_work)
      out.other_work = work_difference(work_facts(a_, group.baseline), work_facts(b_, group.candidate));
    out.permission = permission_of(evidence_of(group, out.other_work));
    const bool by_name = out.permission.may(Claim::kKernels);
    constexpr double kCertain = 2;  // more than any fusion has: none is found
    FusedAlignment fused = find_fusions(align_group(a_, b_, group, kernel_names_), kernel_names_,
                                        by_name ? options_.least_confidence : kCertain);
    out.alignment = std::move(fused.alignment);
    out.fusions = std::move(fused.fusions);
    out.uncertain_fusions = by_name ? fused.uncertain : 0;
    if (!options_.plain_classes) {
      out.levels = ClassLevels(classes_of(a_, group.baseline, kernel_names_),
                               classes_of(b_, group.candidate, kernel_names_), out.alignment, kernel_names_);
    }
    run_both([&] { out.baseline = sum_work(a_, group.baseline, kernel_names_, out.levels); },
             [&] { out.candidate = sum_work(b_, group.candidate, kernel_names_, out.levels); });
    out.role_levels = RoleLevels(roles_of(out.baseline), roles_of(out.candidate));
    out.baseline_units = units_of(group.baseline, out_.normalise);
    out.candidate_units = units_of(group.candidate, out_.normalise);
    out.baseline_coverage = std::max(coverage(out.baseline, out.candidate), out.alignment.baseline_share);
    out.candidate_coverage = std::max(coverage(out.candidate, out.baseline), out.alignment.candidate_share);
    out.group = std::move(group);
    look_at_kernels(out);
    out.load = load_difference(load_sample(a_, out.group.baseline), load_sample(b_, out.group.candidate),
                               std::max(attention_share(out.baseline), attention_share(out.candidate)));
    for (std::size_t m = 0; m < kStepMetrics; ++m) {
      out.metrics[m] = sample_change(static_cast<StepMetric>(m), a_.periods.within_kind, b_.periods.within_kind, out);
    }
    if (!options_.step && kinds_.size() < 2 && out.group.comparable() && out_.recording_difference.empty()) {
      out.baseline_host = host_step(a_, out.group.baseline, out.group.whole_trace);
      out.candidate_host = host_step(b_, out.group.candidate, out.group.whole_trace);
    }
    compare_transitions(out);
    compare_ops(out);
    compare_layers(out);
    const auto steps = std::min(out.baseline.steps, out.candidate.steps);
    if (static_cast<std::size_t>(steps) < kLeastSteps) out.tallies = tallies(out);
    std::erase_if(out.tallies, [&](const Tally& one) {
      return !out.permission.may(Claim::kRatio) || (one.what != "layers" && !by_name);
    });
    return out;
  }

  // Whole traces may be of any length and of anything: they are of one work only where most of it has a counterpart.
  // Steps are where a quarter has: compilers put other names on much of what they run.
  void look_at_kernels(GroupComparison& out) const {
    const double least = out.group.whole_trace ? 0.5 : 0.25;
    const bool both_clocks = a_.description.cycles == b_.description.cycles;
    if (options_.different_work || options_.step || !out.other_work.text.empty()) return;
    // Names that are those of other kernels tell nothing, and a fusion explains what has no counterpart, if it is one.
    constexpr double kLikely = 0.5;
    const bool fused = std::ranges::any_of(out.fusions, [](const Fusion& one) { return one.confidence >= kLikely; });
    if (both_clocks && (fused || !out.permission.may(Claim::kKernels))) return;
    const auto share = [&](const GroupWork& own, const GroupWork& other, double aligned) {
      std::optional<OpId> unknown;
      for (const auto& [op, times] : own.op_times) {
        if (kernel_names_.op_name(op) == "other") unknown = op;
      }
      return std::max(coverage(own, other, unknown), aligned);
    };
    const double a = share(out.baseline, out.candidate, out.alignment.baseline_share);
    const double b = share(out.candidate, out.baseline, out.alignment.candidate_share);
    if (std::min(a, b) >= least && both_clocks) return;
    out.other_work.cycles = !both_clocks;
    out.other_work.text =
        both_clocks
            ? fmt::format("other kernels: {}{} and {} of their time has a counterpart",
                          out.group.whole_trace
                              ? fmt::format("{} against {}, and ", a_.events.kernels.size(), b_.events.kernels.size())
                              : "",
                          part_text(a, 0), part_text(b, 0))
            : "one trace counts cycles, the other time";
    out.permission.forbid({Claim::kRatio, Claim::kVerdict}, "other work");
  }

  [[nodiscard]] Change change(StepValues baseline, StepValues candidate, const GroupComparison& group,
                              const LoadDifference& load) const {
    return make_change(baseline, candidate, std::min(group.baseline_coverage, group.candidate_coverage),
                       group.permission.why_not(Claim::kVerdict), options_.least_change, load);
  }

  [[nodiscard]] double attention_share(const GroupWork& work) const {
    AttentionShare out;
    for (const auto& [op, times] : work.op_times) out.add(kernel_names_.op_name(op), sum_of_times(times));
    return out.share();
  }

  // Of a metric of the steps; a period, which may be that to another kind of steps, is judged by how it was recorded.
  [[nodiscard]] Change sample_change(StepMetric metric, std::span<const std::int64_t> baseline_periods,
                                     std::span<const std::int64_t> candidate_periods,
                                     const GroupComparison& group) const {
    // Steps before one of another kind have no period of their own kind.
    const auto steps_of = [&](const GroupSide& side, const ComparedTrace& trace,
                              std::span<const std::int64_t> periods) {
      return periods.data() == trace.periods.within_kind.data() ? side.device_steps : side.matched;
    };
    const std::vector<std::uint32_t> steps_a = steps_of(group.group.baseline, a_, baseline_periods);
    const std::vector<std::uint32_t> steps_b = steps_of(group.group.candidate, b_, candidate_periods);
    const auto a = step_sample(a_.work, steps_a, metric, baseline_periods);
    const auto b = step_sample(b_.work, steps_b, metric, candidate_periods);
    Change out = change({a}, {b}, group, group.load);
    const bool overlaps = group.group.baseline.overlapping || group.group.candidate.overlapping;
    if (metric == StepMetric::kSpan && overlaps && out.judged()) {
      out.verdict = Verdict::kInconclusive;
      out.reason = kOverlap;
      out.barred = true;
    }
    if (metric == StepMetric::kPeriod) {
      judge_period(out, out_.recording_difference, sum_host_waits(a_.recorded, steps_a, baseline_periods),
                   sum_host_waits(b_.recorded, steps_b, candidate_periods));
    }
    return out;
  }

  // A step kind that is unknown in one trace (step_groups.h) has the name of its counterpart.
  void name_kinds(const std::vector<StepGroup>& groups) {
    for (const StepGroup& group : groups) {
      if (group.whole_trace) continue;
      const bool unknown = group.baseline.kind == StepKind::kUnknown;
      const std::string_view name = to_string(unknown ? group.candidate.kind : group.baseline.kind);
      kinds_.insert_or_assign(name, std::pair(group.baseline.kind, group.candidate.kind));
    }
  }

  void compare_transitions(GroupComparison& out) const {
    if (out.group.whole_trace) return;
    for (const auto& [name, kinds] : kinds_) {
      Change own = sample_change(StepMetric::kPeriod, a_.periods.to(kinds.first), b_.periods.to(kinds.second), out);
      if (own.baseline_steps == 0 || own.candidate_steps == 0) continue;
      out.transitions.push_back({std::string(name), kinds.first, kinds.second, std::move(own)});
    }
  }

  // By key: the sums of both sides, and the change of the times of a step.
  template <class Key, class Order, class KeyOf>
  std::map<Key, SumChange, Order> sum_changes(const GroupComparison& group, KeyOf key_of, Order order,
                                              std::map<Key, std::vector<std::int64_t>> GroupWork::*times,
                                              bool changes = true) const {
    std::map<Key, SumChange, Order> out(order);
    for (const WorkCell& cell : group.baseline.cells) out[key_of(cell)].baseline.add(cell.sum);
    for (const WorkCell& cell : group.candidate.cells) out[key_of(cell)].candidate.add(cell.sum);
    // A step without any took 0.
    const auto values = [&](const GroupWork& work, const Key& key) {
      const auto found = (work.*times).find(key);
      const std::span<const std::int64_t> known =
          found == (work.*times).end() ? std::span<const std::int64_t>() : std::span(found->second);
      return StepValues{known, static_cast<std::size_t>(work.steps) - known.size()};
    };
    if (!changes) return out;
    for (auto& [key, sum] : out) {
      LoadDifference load = group.load;
      if constexpr (std::is_same_v<Key, OpId>) load = load.of(kernel_names_.op_name(key));
      sum.change = change(values(group.baseline, key), values(group.candidate, key), group, load);
    }
    return out;
  }

  void compare_ops(GroupComparison& out) const {
    const auto op_of = [&](const WorkCell& cell) { return out.levels.op_of(cell.name, kernel_names_); };
    for (auto& [op, sum] : sum_changes(out, op_of, std::less<OpId>(), &GroupWork::op_times)) {
      out.ops.push_back({std::move(sum), op});
    }
    std::ranges::sort(out.ops, {}, [&](const OpChange& c) {
      return std::pair(-out.baseline_per_unit(c.baseline.time) - out.candidate_per_unit(c.candidate.time),
                       std::string_view(kernel_names_.op_name(c.op)));
    });
  }

  void compare_layers(GroupComparison& out) const {
    const auto layer_of = [](const WorkCell& cell) { return cell.layer; };
    for (auto& [layer, sum] :
         sum_changes(out, layer_of, comes_before, &GroupWork::layer_times, options_.layer_changes)) {
      out.layers.push_back({std::move(sum), layer});
    }
  }

  // A change, how often it counts (the mean of both sides' steps), and whether its steps are of no other part.
  struct Part {
    const Change* change;
    double weight;
    bool own_steps = true;
  };

  static double mean_steps(auto baseline, auto candidate) {
    return (static_cast<double>(baseline) + static_cast<double>(candidate)) / 2;
  }

  static std::vector<Part> span_parts(const GroupComparison& group) {
    return {{&group.metric(StepMetric::kSpan), mean_steps(group.baseline.device_steps, group.candidate.device_steps)}};
  }

  static std::vector<Part> headline_parts(const GroupComparison& group) {
    std::vector<Part> parts = span_parts(group);
    if (group.by_period()) parts[0].change = &group.metric(StepMetric::kPeriod);
    for (const TransitionChange& transition : group.transitions) {
      const Change& own = transition.change;
      if (!own.recorded_alike) continue;
      const double steps = mean_steps(own.baseline_steps, own.candidate_steps);
      parts[0].weight -= steps;
      parts.push_back({&own, steps, group.by_period()});
    }
    return parts;
  }

  // All groups, resample by resample; `parts_of` returns the parts of each that count.
  Change overall(std::vector<Part> (*parts_of)(const GroupComparison&)) const {
    Change all;
    all.baseline.draws.assign(kResamples, 0);
    all.candidate.draws.assign(kResamples, 0);
    std::string barred = out_.groups.empty() ? "nothing in common" : "";
    double coverage = 1, unsure = 0;
    std::string why_unsure;
    for (const GroupComparison& group : out_.groups) {
      for (const Part& part : parts_of(group)) {
        const double weight = part.weight;
        all.baseline.add(part.change->baseline, weight);
        all.candidate.add(part.change->candidate, weight);
        all.by_load.low += weight * part.change->by_load.low;
        all.by_load.high += weight * part.change->by_load.high;
        if (std::abs(part.change->load.share()) > std::abs(all.load.share())) all.load = part.change->load;
        all.baseline_steps += part.own_steps ? part.change->baseline_steps : 0;
        all.candidate_steps += part.own_steps ? part.change->candidate_steps : 0;
        if (part.change->judged()) continue;
        unsure += weight * (part.change->baseline.mean + part.change->candidate.mean);
        if (why_unsure.empty()) why_unsure = fmt::format("{}: {}", group.group.said(), part.change->reason);
      }
      if (barred.empty()) barred = group.permission.why_not(Claim::kVerdict);
      coverage = std::min({coverage, group.baseline_coverage, group.candidate_coverage});
    }
    // A sum is no surer than its parts.
    const double sure = kLeastCoverage * (all.baseline.mean + all.candidate.mean);
    if (barred.empty() && all.baseline.mean + all.candidate.mean - unsure < sure) barred = why_unsure;
    all.interval = difference_interval(all.baseline, all.candidate);
    all.interval = {all.interval.low + all.by_load.low, all.interval.high + all.by_load.high};
    judge(all, coverage, barred, options_.least_change);
    return all;
  }

  const ComparedTrace& a_;
  const ComparedTrace& b_;
  const KernelNameTable& kernel_names_;
  const CompareOptions& options_;
  std::map<std::string_view, std::pair<StepKind, StepKind>> kinds_;  // of both sides, by name
  Comparison out_;
};

}  // namespace

void Permission::forbid(std::initializer_list<Claim> claims, const std::string& reason) {
  for (const Claim claim : claims) {
    std::string& own = reasons_[static_cast<std::size_t>(claim)];
    if (own.empty()) own = reason;
  }
}

Permission permission_of(const GroupEvidence& evidence) {
  Permission out;
  if (evidence.other_work) out.forbid({Claim::kRatio, Claim::kVerdict}, "other work");
  if (!evidence.no_usual_step.empty()) out.forbid({Claim::kRatio, Claim::kVerdict}, evidence.no_usual_step);
  if (!evidence.incomparable.empty()) out.forbid({Claim::kVerdict}, evidence.incomparable);
  if (evidence.names_out_of_step) out.forbid({Claim::kKernels}, "kernel names out of step");
  return out;
}

Comparison account_for(const ComparedTrace& trace, const KernelNameTable& kernel_names) {
  Comparison out;
  for (StepGroup& group : match_steps(trace, trace).groups) {
    GroupComparison own;
    own.group = {std::move(group.label), {}, std::move(group.candidate), group.whole_trace, ""};
    own.group.baseline.by_period = own.group.candidate.by_period;  // so that the account closes over the period
    own.candidate = sum_work(trace, own.group.candidate, kernel_names);
    own.candidate_units = units_of(own.group.candidate, out.normalise);
    out.groups.push_back(std::move(own));
  }
  return out;
}

bool GroupComparison::by_transition() const {
  return std::ranges::any_of(transitions,
                             [](const TransitionChange& transition) { return transition.change.recorded_alike; });
}

bool wanted_phase(const CompareOptions& options, std::string_view name) {
  if (!options.phase) return true;
  return std::ranges::any_of(split_text(*options.phase, ','), [&](std::string_view pattern) {
    return fnmatch(std::string(pattern).c_str(), std::string(name).c_str(), 0) == 0;
  });
}

std::string_view to_string(Normalise normalise) {
  constexpr std::string_view kUnits[] = {"step", "token", "trace"};
  return kUnits[static_cast<std::size_t>(normalise)];
}

Comparison compare_traces(const ComparedTrace& baseline, const ComparedTrace& candidate,
                          const KernelNameTable& kernel_names, const CompareOptions& options) {
  return Comparer(baseline, candidate, kernel_names, options).run();
}

// Many parts that change alike: the evidence where steps are too few for an interval.
Tally tally(std::string_view what, std::vector<double> ratios) {
  Tally out;
  out.what = what;
  out.parts = ratios.size();
  if (ratios.empty()) return out;
  std::ranges::sort(ratios);
  out.median = sorted_median(ratios) - 1;
  constexpr double kLeast = 1.01;  // below, a part is as it was
  out.slower = static_cast<std::size_t>(std::ranges::count_if(ratios, [](double ratio) { return ratio >= kLeast; }));
  out.faster = static_cast<std::size_t>(std::ranges::count_if(ratios, [](double r) { return 1 / r >= kLeast; }));
  return out;
}

std::vector<Tally> tallies(const GroupComparison& group) {
  std::vector<double> layers, operations, kernels;
  const auto add = [&group](std::vector<double>& ratios, std::int64_t baseline, std::int64_t candidate) {
    if (baseline <= 0 || candidate <= 0) return;
    ratios.push_back((static_cast<double>(candidate) / static_cast<double>(group.candidate_units)) /
                     (static_cast<double>(baseline) / static_cast<double>(group.baseline_units)));
  };
  for (const LayerChange& layer : group.layers) {
    if (layer.layer >= 0) add(layers, layer.baseline.time, layer.candidate.time);
  }
  for (const OpChange& op : group.ops) add(operations, op.baseline.time, op.candidate.time);
  for (const AlignedSegment& segment : group.alignment.segments) {
    for (const KernelPair& pair : segment.pairs) {
      const bool fused = pair.baseline.fusion >= 0 || pair.candidate.fusion >= 0;  // other work than its partner
      if (pair.has_both() && !fused) add(kernels, pair.baseline.time, pair.candidate.time);
    }
  }
  std::vector<Tally> out = {tally("layers", layers), tally("operations", operations),
                            tally("aligned kernels", kernels)};
  std::erase_if(out, [](const Tally& one) { return one.parts == 0; });
  return out;
}

}  // namespace tracedb
