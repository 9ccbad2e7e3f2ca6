#include "compare/step_periods.h"

#include <algorithm>
#include <limits>
#include <map>

#include "passes/columns/group_stats.h"

namespace tracedb {
namespace {

__extension__ using Wide = __int128;

// Half away from zero; beyond 2^62, as of damaged indexes, cut there.
std::int64_t scaled(Wide sum, std::int64_t runs, std::int64_t followed) {
  constexpr Wide kMost = Wide{1} << 62;
  const Wide bounded = std::clamp(sum, -kMost, kMost) * runs;
  const Wide half = bounded < 0 ? -followed : followed;
  return static_cast<std::int64_t>(std::clamp((2 * bounded + half) / (2 * Wide{followed}), -kMost, kMost));
}

// By step, its place + 1 of the earlier step on its track; 0: it is the first.
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

StepKind kind_of(const StepSet& set, const Run& run) { return set.steps[run.step - 1].info.kind; }

// Calls `found` with the place of each run and that of the next on its device, where that is of the next step of its
// track and starts later.
template <class Found>
void for_each_follower(const StepSet& set, std::span<const Run> runs, Found found) {
  const std::vector<std::uint32_t> earlier = earlier_on_track(set);
  std::map<std::uint32_t, std::size_t> last;  // by device
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Run& run = runs[i];
    if (run.step == 0) continue;
    const auto [before, is_first] = last.try_emplace(run.device, i);
    if (is_first) continue;
    const Run& previous = runs[before->second];
    if (earlier[run.step - 1] == previous.step && run.first > previous.first) found(before->second, i);
    before->second = i;
  }
}

std::optional<std::int64_t> tokens_of(const StepInfo& info) {
  if (!info.context_tokens && !info.generation_tokens) return std::nullopt;
  const std::int64_t tokens = bounded_add(std::max<std::int64_t>(info.context_tokens.value_or(0), 0),
                                          std::max<std::int64_t>(info.generation_tokens.value_or(0), 0));
  return tokens > 0 ? std::optional(tokens) : std::nullopt;
}

}  // namespace

std::vector<std::int64_t> step_periods(const StepSet& set, std::span<const Run> runs) {
  std::vector<std::int64_t> out(runs.size(), kNoTime);
  for_each_follower(set, runs, [&](std::size_t run, std::size_t next) {
    if (kind_of(set, runs[run]) == kind_of(set, runs[next])) out[run] = runs[next].first - runs[run].first;
  });
  return out;
}

std::vector<Transition> step_transitions(const StepSet& set, std::span<const Run> runs) {
  std::vector<Transition> out(runs.size());
  for_each_follower(set, runs, [&](std::size_t run, std::size_t next) {
    const StepKind to = kind_of(set, runs[next]);
    if (kind_of(set, runs[run]) != to) out[run] = {runs[next].first - runs[run].first, to};
  });
  return out;
}

std::vector<std::int64_t> periods_to(std::span<const Transition> transitions, StepKind kind) {
  std::vector<std::int64_t> out;
  out.reserve(transitions.size());
  for (const Transition& transition : transitions) {
    out.push_back(transition.to == kind ? transition.period : kNoTime);
  }
  return out;
}

std::optional<double> PeriodSums::tokens_per_s() const {
  if (!tokens || periods <= 0) return std::nullopt;
  return static_cast<double>(*tokens) * 1e9 / static_cast<double>(periods);
}

PeriodSums sum_periods(const StepSet& set, std::span<const Run> runs, const GroupSide& group,
                       std::span<const std::int64_t> periods) {
  PeriodSums out;
  Wide between = 0;
  std::int64_t tokens = 0;
  bool tokens_known = true;
  for (const std::uint32_t place : group.runs) {
    const Run& run = runs[place];
    if (periods[place] == kNoTime) continue;
    ++out.followed;
    out.periods = bounded_add(out.periods, periods[place]);
    between += Wide{periods[place]} - run.span;
    const auto own = tokens_of(set.steps[run.step - 1].info);
    tokens_known = tokens_known && own;
    tokens = bounded_add(tokens, own.value_or(0));
  }
  if (!out.known()) return out;
  if (tokens_known) out.tokens = tokens;
  out.between = scaled(between, static_cast<std::int64_t>(group.runs.size()), out.followed);
  return out;
}

}  // namespace tracedb
