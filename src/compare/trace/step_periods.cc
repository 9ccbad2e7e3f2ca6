#include "compare/trace/step_periods.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/saturating.h"
#include "base/unknown.h"

namespace tracedb {
namespace {

// By step: the index + 1 of the step before it on its track; 0: it is the first.
std::vector<std::uint32_t> earlier_on_track(const StepSet& set) {
  std::vector<std::uint32_t> out;
  std::map<std::pair<bool, std::uint32_t>, std::uint32_t> latest;
  for (const StepFacts& step : set.steps) {
    std::uint32_t& last = latest[{step.on_device, step.track}];
    out.push_back(last);
    last = static_cast<std::uint32_t>(out.size());
  }
  return out;
}

StepKind kind_of(const StepSet& set, const DeviceStep& step) { return set.steps[step.step - 1].info.kind; }

}  // namespace

std::optional<std::int64_t> tokens_of(const StepInfo& info) {
  if (!info.context_tokens && !info.generation_tokens) return std::nullopt;
  return saturating_add(std::max<std::int64_t>(info.context_tokens.value_or(0), 0),
                        std::max<std::int64_t>(info.generation_tokens.value_or(0), 0));
}

StepPeriods step_periods(const StepSet& set, std::span<const DeviceStep> steps) {
  StepPeriods out{std::vector<std::int64_t>(steps.size(), kUnknownValue), std::vector<Transition>(steps.size())};
  const std::vector<std::uint32_t> earlier = earlier_on_track(set);
  std::map<std::uint32_t, std::size_t> last;  // by device
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const DeviceStep& step = steps[i];
    if (step.step == 0) continue;
    const auto [before, is_first] = last.try_emplace(step.device, i);
    if (is_first) continue;
    const std::size_t previous = std::exchange(before->second, i);
    const std::int64_t period = step.first - steps[previous].first;
    if (earlier[step.step - 1] != steps[previous].step || period <= 0) continue;
    const StepKind kind = kind_of(set, step);
    if (kind == kind_of(set, steps[previous])) {
      out.within_kind[previous] = period;
    } else {
      out.transitions[previous] = {period, kind};
    }
  }
  return out;
}

std::vector<std::int64_t> StepPeriods::to(StepKind kind) const {
  std::vector<std::int64_t> out;
  out.reserve(transitions.size());
  for (const Transition& transition : transitions) {
    out.push_back(transition.to == kind ? transition.period : kUnknownValue);
  }
  return out;
}

std::optional<double> PeriodSums::tokens_per_s() const {
  if (!tokens || periods <= 0) return std::nullopt;
  return static_cast<double>(*tokens) * 1e9 / static_cast<double>(periods);
}

PeriodSums sum_periods(const StepSet& set, std::span<const DeviceStep> steps, std::span<const std::uint32_t> group,
                       std::span<const std::int64_t> periods) {
  PeriodSums out;
  std::int64_t tokens = 0;
  bool tokens_known = true;
  for (const std::uint32_t i : group) {
    if (periods[i] == kUnknownValue) continue;
    ++out.followed;
    out.periods = saturating_add(out.periods, periods[i]);
    const std::int64_t own = tokens_of(set.steps[steps[i].step - 1].info).value_or(0);
    tokens_known = tokens_known && own > 0;
    tokens = saturating_add(tokens, own);
  }
  if (out.followed > 0 && tokens_known) out.tokens = tokens;
  return out;
}

}  // namespace tracedb
