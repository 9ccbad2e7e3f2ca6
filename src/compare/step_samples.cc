#include "compare/step_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/unknown.h"
#include "compare/work_sums.h"

namespace tracedb {
namespace {

constexpr std::string_view kOpPrefix = "op ";  // of measures that are operations

void add_load(const StepInfo& info, KindSamples& kind) {
  for (const auto& requests : {info.context_requests, info.generation_requests}) {
    kind.requests = saturating_add(kind.requests, std::max<std::int64_t>(requests.value_or(0), 0));
  }
  kind.tokens = saturating_add(kind.tokens, tokens_of(info).value_or(0));
}

void add_transitions(const ComparedTrace& trace, const GroupSide& group, KindSamples& kind) {
  std::set<StepKind> kinds;
  for (const std::uint32_t step : group.matched) kinds.insert(trace.periods.transitions[step].to);
  for (const StepKind to : kinds) {
    auto sample = step_sample(trace.work, group.matched, StepMetric::kPeriod, trace.periods.to(to));
    if (!sample.empty()) kind.samples[period_measure(to_string(to))] = std::move(sample);
  }
}

constexpr std::string_view kLoad = "load";  // no time: the load of each step

bool is_op(const std::string& measure) { return measure.starts_with(kOpPrefix); }

// Files of earlier versions have its sum alone.
std::vector<std::int64_t> loads_of(const KindSamples& kind) {
  const auto found = kind.samples.find(std::string(kLoad));
  if (found != kind.samples.end()) return found->second;
  const std::int64_t sum = kind.kind == to_string(StepKind::kDecode) ? kind.requests : kind.tokens;
  if (sum <= 0 || kind.steps <= 0) return {};
  return {sum / kind.steps};
}

double attention_share(const KindSamples& kind) {
  AttentionShare out;
  for (const auto& [measure, values] : kind.samples) {
    if (is_op(measure)) out.add(measure, sum_of_times(values));
  }
  return out.share();
}

StepValues values_of(const KindSamples& kind, const std::string& measure) {
  const auto found = kind.samples.find(measure);
  const std::size_t known = found == kind.samples.end() ? 0 : found->second.size();
  const std::span<const std::int64_t> values =
      found == kind.samples.end() ? std::span<const std::int64_t>() : std::span(found->second);
  return {values, is_op(measure) ? static_cast<std::size_t>(kind.steps) - known : 0};
}

std::set<std::string> measures_of(const KindSamples& a, const KindSamples& b) {
  std::set<std::string> out;
  for (const KindSamples* kind : {&a, &b}) {
    for (const auto& [measure, values] : kind->samples) out.insert(measure);
  }
  // Not every kind of steps follows on both sides, and files of earlier versions do not say.
  std::erase_if(out, [&](const std::string& measure) {
    return measure == kLoad ||
           (is_transition(measure) && !(a.samples.contains(measure) && b.samples.contains(measure)));
  });
  return out;
}

void compare_kind(const KindSamples& a, const KindSamples& b, const std::string& recording, double least_change,
                  SampleComparison& out) {
  const auto mean = [](std::int64_t sum, const KindSamples& of) {
    return static_cast<double>(sum) / static_cast<double>(std::max<std::int64_t>(of.steps, 1));
  };
  const bool comparable =
      same_load(mean(a.requests, a), mean(b.requests, b)) && same_load(mean(a.tokens, a), mean(b.tokens, b));
  if (!comparable) out.notes.push_back(fmt::format("{}: requests or tokens per step differ", a.kind));
  const std::string_view bar = !comparable                            ? "the load differs"
                               : a.kind == to_string(StepKind::kUnit) ? kRepeatingUnit
                                                                      : "";
  const LoadDifference load =
      load_difference(loads_of(a), loads_of(b), std::max(attention_share(a), attention_share(b)));
  if (comparable && !load.by_chance && is_considerable(load.share(), 0))
    out.notes.push_back(fmt::format("{}: {}: intervals have what that may have made", a.kind, load.words()));
  std::vector<SampleChange> metrics, ops;
  for (const std::string& measure : measures_of(a, b)) {
    SampleChange change{a.kind, measure,
                        make_change(values_of(a, measure), values_of(b, measure), 1, std::string(bar), least_change,
                                    is_op(measure) ? load.of(measure) : load)};
    if (measure == to_string(StepMetric::kPeriod)) {
      judge_period(change.change, recording, a.waits, b.waits);
      if (!change.change.caveat.empty())
        out.notes.push_back(fmt::format("{}, period: {}", a.kind, change.change.caveat));
    }
    if (is_transition(measure)) judge_period(change.change, recording, {}, {});
    (is_op(measure) ? ops : metrics).push_back(std::move(change));
  }
  std::ranges::stable_sort(metrics, {}, [](const SampleChange& one) {
    return step_metric_from(one.measure).value_or(static_cast<StepMetric>(kStepMetrics));
  });
  std::ranges::stable_sort(ops, std::ranges::greater(), [](const SampleChange& one) {
    return one.change.baseline.mean + one.change.candidate.mean;
  });
  out.changes.insert(out.changes.end(), metrics.begin(), metrics.end());
  out.changes.insert(out.changes.end(), ops.begin(), ops.end());
}

}  // namespace

StepSamples step_samples(const ComparedTrace& trace, const KernelNameTable& kernel_names) {
  StepSamples out{trace.description.label, trace.description.devices, trace.recorded.recording, {}};
  std::map<std::string, std::vector<std::uint32_t>> groups;
  for (std::uint32_t i = 0; i < trace.work.steps.size(); ++i) {
    const std::uint32_t step = trace.work.steps[i].step;
    const std::string kind = step == 0 ? "trace" : std::string(to_string(trace.steps.steps[step - 1].info.kind));
    groups[kind].push_back(i);
  }
  const ClassLevels levels = ClassLevels::coarsest(kernel_names);
  for (const auto& [name, steps] : groups) {
    const bool whole = trace.work.steps[steps.front()].step == 0;
    GroupSide group;
    if (whole) {
      group.device_steps = group.matched = steps;
    } else {
      group = group_side(trace, StepKind::kUnknown, steps);
    }
    const GroupWork work = sum_work(trace, group, kernel_names, levels);
    KindSamples kind{name, work.steps, 0, 0, work.waits, {}};
    std::uint32_t before = 0;
    for (const std::uint32_t i : group.device_steps) {
      const std::uint32_t step = trace.work.steps[i].step;
      if (step != before) add_load(trace.steps.steps[step - 1].info, kind);
      before = step;
    }
    for (std::size_t m = 0; m < kStepMetrics; ++m) {
      const auto metric = static_cast<StepMetric>(m);
      kind.samples[std::string(to_string(metric))] =
          step_sample(trace.work, group.device_steps, metric, trace.periods.within_kind);
    }
    if (auto loads = load_sample(trace, group); !loads.empty()) kind.samples[std::string(kLoad)] = std::move(loads);
    add_transitions(trace, group, kind);
    for (const auto& [op, times] : work.op_times) {
      kind.samples[std::string(kOpPrefix) + kernel_names.op_name(op)] = times;
    }
    out.kinds.push_back(std::move(kind));
  }
  return out;
}

SampleComparison compare_samples(const StepSamples& baseline, const StepSamples& candidate, double least_change) {
  SampleComparison out;
  const std::string recording = recording_difference(baseline.recording, candidate.recording);
  if (!recording.empty()) out.notes.push_back(recording + ": periods are not compared");
  if (baseline.devices != candidate.devices)
    out.notes.push_back(fmt::format("other devices: {}, against {}", candidate.devices, baseline.devices));
  const auto find = [](const StepSamples& in, const std::string& kind) {
    return std::ranges::find_if(in.kinds, [&](const KindSamples& k) { return k.kind == kind; });
  };
  for (const KindSamples& kind : baseline.kinds) {
    const auto other = find(candidate, kind.kind);
    if (other != candidate.kinds.end()) {
      compare_kind(kind, *other, recording, least_change, out);
    } else {
      out.notes.push_back(fmt::format("only the baseline has {} steps", kind.kind));
    }
  }
  for (const KindSamples& kind : candidate.kinds) {
    if (find(baseline, kind.kind) != baseline.kinds.end()) continue;
    out.notes.push_back(fmt::format("only the candidate has {} steps", kind.kind));
  }
  return out;
}

}  // namespace tracedb
