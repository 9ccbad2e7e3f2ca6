#include "compare/comparison.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include "base/parallel.h"
#include "compare/compare_warnings.h"
#include "passes/columns/group_stats.h"
#include "passes/steps/step_stats.h"

namespace tracedb {
namespace {

constexpr std::array<std::string_view, 3> kNormalise = {"step", "token", "none"};

std::int64_t units_of(const GroupSide& side, Normalise normalise) {
  if (normalise == Normalise::kNone) return 1;
  if (normalise == Normalise::kToken) return std::max<std::int64_t>(side.tokens, 1);
  return std::max<std::int64_t>(static_cast<std::int64_t>(side.runs.size()), 1);
}

// Share of the kernel time of `own` that is of classes `other` has too.
double coverage(const GroupWork& own, const GroupWork& other) {
  double shared = 0, all = 0;
  for (const auto& [op, times] : own.op_times) {
    double sum = 0;
    for (const std::int64_t time : times) sum += static_cast<double>(time);
    all += sum;
    if (other.op_times.contains(op)) shared += sum;
  }
  return all > 0 ? shared / all : 1;
}

class Comparer {
 public:
  Comparer(const Side& baseline, const Side& candidate, const Vocabulary& vocabulary, const CompareOptions& options)
      : a_(baseline), b_(candidate), vocabulary_(vocabulary), options_(options) {}

  Comparison run() {
    StepMatch match = match_steps(a_, b_);
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
    out_.same = same_kernels(a_, b_, kept, vocabulary_);
    for (StepGroup& group : kept) out_.groups.push_back(compare(std::move(group)));
    out_.overall = overall(&Comparer::headline_parts);
    out_.overall_span = overall(&Comparer::span_parts);
    out_.warnings = compare_warnings(a_, b_, vocabulary_, out_, match.notes);
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool wanted(const StepGroup& group) const {
    return wanted_phase(options_, group.label) || wanted_phase(options_, to_string(group.baseline.kind));
  }

  [[nodiscard]] std::string nothing_wanted(const std::vector<StepGroup>& groups) const {
    std::string labels;
    for (const StepGroup& group : groups) labels += (labels.empty() ? "" : ", ") + group.label;
    return fmt::format("--phase {}: there are {}", *options_.phase, labels);
  }

  static bool tokens_known(const std::vector<StepGroup>& groups) {
    return std::all_of(groups.begin(), groups.end(), [](const StepGroup& group) {
      return group.baseline.tokens_known && group.candidate.tokens_known;
    });
  }

  GroupComparison compare(StepGroup group) {
    GroupComparison out;
    out.alignment = align_group(a_, b_, group, vocabulary_);
    FusionFindings fusions = find_fusions(out.alignment, vocabulary_, options_.least_confidence);
    out.fusions = std::move(fusions.found);
    out.doubtful_fusions = fusions.doubtful;
    if (!options_.plain_classes) {
      out.levels = ClassLevels(classes_of(a_, group.baseline, vocabulary_),
                               classes_of(b_, group.candidate, vocabulary_), out.alignment, vocabulary_);
    }
    run_both([&] { out.baseline = sum_work(a_, group.baseline, vocabulary_, out.levels); },
             [&] { out.candidate = sum_work(b_, group.candidate, vocabulary_, out.levels); });
    out.baseline_periods = sum_periods(a_.steps, a_.runs, group.baseline, a_.periods);
    out.candidate_periods = sum_periods(b_.steps, b_.runs, group.candidate, b_.periods);
    out.baseline_waits = sum_host_waits(a_.recorded, group.baseline.runs, a_.periods);
    out.candidate_waits = sum_host_waits(b_.recorded, group.candidate.runs, b_.periods);
    out.baseline_units = units_of(group.baseline, out_.normalise);
    out.candidate_units = units_of(group.candidate, out_.normalise);
    out.baseline_coverage = coverage(out.baseline, out.candidate);
    out.candidate_coverage = coverage(out.candidate, out.baseline);
    out.group = std::move(group);
    out.baseline_coverage = std::max(out.baseline_coverage, out.alignment.baseline_share);
    out.candidate_coverage = std::max(out.candidate_coverage, out.alignment.candidate_share);
    for (std::size_t m = 0; m < kStepMetrics; ++m) {
      const auto metric = static_cast<StepMetric>(m);
      const std::vector<std::int64_t> a = step_sample(a_, out.group.baseline.runs, metric, a_.periods);
      const std::vector<std::int64_t> b = step_sample(b_, out.group.candidate.runs, metric, b_.periods);
      out.metrics[m] = change({a}, {b}, out);
    }
    judge_period(out.metrics[static_cast<std::size_t>(StepMetric::kPeriod)], out_.recording_difference,
                 out.baseline_waits, out.candidate_waits);
    compare_transitions(out);
    compare_ops(out);
    compare_layers(out);
    if (std::min(out.group.baseline.runs.size(), out.group.candidate.runs.size()) < options_.rule.least_steps) {
      out.tallies = tallies(out);
    }
    return out;
  }

  [[nodiscard]] Change change(StepValues baseline, StepValues candidate, const GroupComparison& group) const {
    return make_change(baseline, candidate, std::min(group.baseline_coverage, group.candidate_coverage),
                       group.group.comparable, options_.rule);
  }

  template <class Key>
  Change change_of(const std::map<Key, std::vector<std::int64_t>>& baseline,
                   const std::map<Key, std::vector<std::int64_t>>& candidate, Key key, const GroupComparison& group) {
    static const std::vector<std::int64_t> kNothing;
    const auto first = baseline.find(key);
    const auto second = candidate.find(key);
    const auto& a = first == baseline.end() ? kNothing : first->second;
    const auto& b = second == candidate.end() ? kNothing : second->second;
    return change({a, static_cast<std::size_t>(group.baseline.runs) - a.size()},
                  {b, static_cast<std::size_t>(group.candidate.runs) - b.size()}, group);
  }

  // By what `key_of` says of a cell, the sums of both sides.
  template <class Key, class Order = std::less<Key>, class KeyOf>
  static auto joined(const GroupComparison& group, KeyOf key_of, Order order = {}) {
    std::map<Key, std::pair<WorkSum, WorkSum>, Order> out(order);
    for (const WorkCell& cell : group.baseline.cells) out[key_of(cell)].first.add(cell.sum);
    for (const WorkCell& cell : group.candidate.cells) out[key_of(cell)].second.add(cell.sum);
    return out;
  }

  // A kind that one side does not tell (step_groups.h) goes by the name that the other gives it.
  void name_kinds(const std::vector<StepGroup>& groups) {
    for (const StepGroup& group : groups) {
      if (group.whole_trace) continue;
      const bool unknown = group.baseline.kind == StepKind::kUnknown;
      const std::string_view name = to_string(unknown ? group.candidate.kind : group.baseline.kind);
      kinds_.insert_or_assign(name, std::pair(group.baseline.kind, group.candidate.kind));
    }
  }

  void compare_transitions(GroupComparison& out) {
    if (out.group.whole_trace) return;
    for (const auto& [name, kinds] : kinds_) {
      const std::vector<std::int64_t> a = periods_to(a_.transitions, kinds.first);
      const std::vector<std::int64_t> b = periods_to(b_.transitions, kinds.second);
      const auto first = step_sample(a_, out.group.baseline.runs, StepMetric::kPeriod, a);
      const auto second = step_sample(b_, out.group.candidate.runs, StepMetric::kPeriod, b);
      if (first.empty() || second.empty()) continue;
      out.transitions.push_back({std::string(name), change({first}, {second}, out)});
      judge_period(out.transitions.back().change, out_.recording_difference,
                   sum_host_waits(a_.recorded, out.group.baseline.runs, a),
                   sum_host_waits(b_.recorded, out.group.candidate.runs, b));
    }
  }

  void compare_ops(GroupComparison& out) {
    const auto sums = joined<OpId>(out, [&](const WorkCell& cell) { return out.levels.op_of(cell.name, vocabulary_); });
    for (const auto& [op, sum] : sums) {
      out.ops.push_back({op, sum.first, sum.second, change_of(out.baseline.op_times, out.candidate.op_times, op, out)});
    }
    std::sort(out.ops.begin(), out.ops.end(), [&](const OpChange& x, const OpChange& y) {
      const auto rank = [&](const OpChange& c) {
        const double time = static_cast<double>(c.baseline.time) / static_cast<double>(out.baseline_units) +
                            static_cast<double>(c.candidate.time) / static_cast<double>(out.candidate_units);
        return std::pair(-time, std::string_view(vocabulary_.op_name(c.op)));
      };
      return rank(x) < rank(y);
    });
  }

  void compare_layers(GroupComparison& out) {
    const auto sums = joined<std::int32_t>(
        out, [](const WorkCell& cell) { return cell.layer; }, comes_before);
    for (const auto& [layer, sum] : sums) {
      out.layers.push_back(
          {layer, sum.first, sum.second, change_of(out.baseline.layer_times, out.candidate.layer_times, layer, out)});
    }
  }

  // A change, how often it counts (the mean of both sides' steps), and whether its steps are of no other part.
  struct Part {
    const Change* change;
    double weight;
    bool own_steps = true;
  };

  static double mean_steps(double baseline, double candidate) { return (baseline + candidate) / 2; }

  static std::vector<Part> span_parts(const GroupComparison& group) {
    return {{&group.metric(StepMetric::kSpan),
             mean_steps(static_cast<double>(group.baseline.runs), static_cast<double>(group.candidate.runs))}};
  }

  static std::vector<Part> headline_parts(const GroupComparison& group) {
    std::vector<Part> parts = span_parts(group);
    if (group.by_period()) parts[0].change = &group.metric(StepMetric::kPeriod);
    for (const TransitionChange& transition : group.transitions) {
      const Change& own = transition.change;
      if (!own.recorded_alike) continue;
      const double steps =
          mean_steps(static_cast<double>(own.baseline_steps), static_cast<double>(own.candidate_steps));
      parts[0].weight -= steps;
      parts.push_back({&own, steps, group.by_period()});
    }
    return parts;
  }

  // All groups, resample by resample; `parts_of` says what counts of each.
  Change overall(std::vector<Part> (*parts_of)(const GroupComparison&)) const {
    Change all;
    all.baseline.draws.assign(kResamples, 0);
    all.candidate.draws.assign(kResamples, 0);
    bool all_comparable = !out_.groups.empty();
    double coverage = 1;
    for (const GroupComparison& group : out_.groups) {
      for (const Part& part : parts_of(group)) {
        const double weight = part.weight;
        const auto add = [&](MedianDraws& to, const MedianDraws& from) {
          to.median += weight * from.median;
          for (std::size_t i = 0; i < from.draws.size(); ++i) to.draws[i] += weight * from.draws[i];
        };
        add(all.baseline, part.change->baseline);
        add(all.candidate, part.change->candidate);
        all.baseline_steps += part.own_steps ? part.change->baseline_steps : 0;
        all.candidate_steps += part.own_steps ? part.change->candidate_steps : 0;
      }
      all_comparable = all_comparable && group.group.comparable;
      coverage = std::min({coverage, group.baseline_coverage, group.candidate_coverage});
    }
    all.interval = difference_interval(all.baseline, all.candidate);
    judge(all, coverage, all_comparable, options_.rule);
    if (out_.groups.empty()) all.reason = "nothing in common";
    return all;
  }

  const Side& a_;
  const Side& b_;
  const Vocabulary& vocabulary_;
  const CompareOptions& options_;
  std::map<std::string_view, std::pair<StepKind, StepKind>> kinds_;  // of both sides, by name
  Comparison out_;
};

}  // namespace

bool GroupComparison::by_transition() const {
  return std::any_of(transitions.begin(), transitions.end(),
                     [](const TransitionChange& transition) { return transition.change.recorded_alike; });
}

bool wanted_phase(const CompareOptions& options, std::string_view name) {
  return !options.phase || fnmatch(options.phase->c_str(), std::string(name).c_str(), 0) == 0;
}

std::optional<Normalise> normalise_from(std::string_view text) {
  const auto found = std::find(kNormalise.begin(), kNormalise.end(), text);
  if (found == kNormalise.end()) return std::nullopt;
  return static_cast<Normalise>(found - kNormalise.begin());
}
std::string_view to_string(Normalise normalise) {
  constexpr std::string_view kUnits[] = {"step", "token", "trace"};
  return kUnits[static_cast<std::size_t>(normalise)];
}

Comparison compare_sides(const Side& baseline, const Side& candidate, const Vocabulary& vocabulary,
                         const CompareOptions& options) {
  return Comparer(baseline, candidate, vocabulary, options).run();
}

}  // namespace tracedb
