// Steps and their kinds: schema/METRICS.md 7. Both have rows for kernels outside of steps, so that kernel time adds up.
#include <algorithm>
#include <array>

#include "base/unknown.h"
#include "passes/columns/group_stats.h"
#include "passes/steps/step_stats.h"
#include "passes/tables/pass_tables.h"

namespace tracedb {
namespace {

constexpr std::string_view kNoStep = "[no step]", kBefore = "[launched before the recording]";

struct Measured {
  LargeVector<std::uint32_t> of_kernel;  // as in StepSet; behind the last step: launched before the recording
  std::vector<StepStats> stats;          // by that: [0]: in no step
  // By step, in ns: to the next step on its devices, and on its thread or stream.
  std::vector<std::int64_t> period, host_period;
  std::vector<std::optional<StepKind>> next;  // what the period leads to
  // Kinds of steps without work on a device: `period` is `host_period`.
  std::array<bool, kStepKinds> on_host = {};
  StepRange steady;
};

// Of the kinds of steps that run on a device.
void add_device_periods(Measured& out, const StepSet& set, std::span<const StepStart> starts) {
  out.on_host.fill(true);
  out.period.assign(set.steps.size(), kUnknownValue);
  out.next.resize(set.steps.size());
  const StepPeriods periods = device_periods(set, starts);
  std::vector<std::uint32_t> steps;
  std::vector<std::int64_t> to_next;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::size_t step = starts[i].step - 1;
    const StepKind kind = set.steps[step].info.kind;
    out.on_host[static_cast<std::size_t>(kind)] = false;
    steps.push_back(starts[i].step);
    to_next.push_back(periods.to_next(i));
    if (to_next.back() == kUnknownValue) continue;
    out.next[step] = periods.within_kind[i] != kUnknownValue ? kind : periods.transitions[i].to;
  }
  for (const StepMean& one : means_of_steps(steps, to_next)) out.period[one.step - 1] = one.mean;
}

// And of the others. `start`: by step; kUnknownValue: not known.
void add_host_periods(Measured& out, const StepSet& set, std::span<const std::int64_t> start) {
  out.host_period.assign(start.size(), kUnknownValue);
  const std::vector<std::uint32_t> earlier = earlier_on_track(set);
  for (std::size_t i = 0; i < earlier.size(); ++i) {
    if (earlier[i] == 0) continue;
    const std::size_t before = earlier[i] - 1;
    std::int64_t period = 0;
    const bool known = start[before] != kUnknownValue && start[i] >= start[before] &&
                       !__builtin_sub_overflow(start[i], start[before], &period);
    if (known) out.host_period[before] = period;
    if (!out.on_host[static_cast<std::size_t>(set.steps[before].info.kind)]) continue;
    out.period[before] = out.host_period[before];
    out.next[before] = set.steps[i].info.kind;
  }
}

Measured measure(const StepSet& set, const EventTables& events) {
  Measured out;
  out.of_kernel = set.of_kernel;
  const std::vector<bool> before = launched_before_recording(set, events.kernels);
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i]) out.of_kernel[i] = static_cast<std::uint32_t>(set.steps.size() + 1);
  }
  const SteppedEvents memory = stepped(events.memory, set.of_memory);
  out.stats = step_stats(stepped(events.kernels, out.of_kernel), memory, events.device_of_stream, set.steps.size() + 1);
  add_device_periods(
      out, set, step_starts(stepped(events.kernels, set.of_kernel), memory, events.device_of_stream, set.steps.size()));
  std::vector<std::int64_t> start, decoding;
  for (std::size_t i = 0; i < set.steps.size(); ++i) {
    const StepFacts& step = set.steps[i];
    start.push_back(step.ts == kUnknownValue ? out.stats[i + 1].first : step.ts);
    decoding.push_back(step.info.generation_requests.value_or(-1));
  }
  add_host_periods(out, set, start);
  out.steady = steady_steps(decoding);
  return out;
}

// "host" where steps of the kind run nothing on a device.
std::optional<std::string_view> clock_of(const Measured& measured, bool has_period, std::size_t kind) {
  if (!has_period) return std::nullopt;
  return measured.on_host[kind] ? "host" : "device";
}

std::optional<double> per_second(std::int64_t tokens, std::int64_t ns) {
  if (ns <= 0) return std::nullopt;
  return 1e9 * static_cast<double>(tokens) / static_cast<double>(ns);
}

bool chosen(const Measured& measured, std::size_t step, StepChoice choice) {
  return choice == StepChoice::kAll || (step >= measured.steady.first && step < measured.steady.last);
}

// What is known of the kernels of a step, or of those in none.
void add_kernels(TableRows& rows, const StepStats& stats) {
  rows.add(stats.kernels, stats.known, stats.kernel_time);
  rows.add(known_time(stats.kernels_begin), known_time(stats.kernels_end));
  rows.add(known_id(stats.first_kernel), known_id(stats.last_kernel));
}

// Sums and medians of the steps of a kind.
struct Phase {
  std::int64_t steps = 0;
  std::optional<std::int64_t> tokens = 0;  // unknown where those of a step are
  std::vector<std::int64_t> requests, spans, hosts, periods, host_periods, lags;
  // Tokens and periods of the steps that one of the same kind follows, and of those before another kind.
  struct Rate {
    std::optional<std::int64_t> tokens = 0;
    std::int64_t time = 0;
  } within, across;

  static void add(std::optional<std::int64_t>& sum, const std::optional<std::int64_t>& value) {
    sum = sum && value ? std::optional(saturating_add(*sum, *value)) : std::nullopt;
  }
  static void push(std::vector<std::int64_t>& values, const std::optional<std::int64_t>& value) {
    if (value) values.push_back(*value);
  }
  // `timed`: its times are those of a step.
  void add(const StepSet& set, const Measured& measured, std::size_t i, bool timed) {
    const StepFacts& step = set.steps[i];
    ++steps;
    const std::optional<std::int64_t> own = tokens_of(step.info);
    add(tokens, own);
    push(requests, requests_of(step.info));
    if (!timed) return;
    if (const std::optional<std::int64_t> period = known_time(measured.period[i])) {
      const bool is_within = measured.next[i] == step.info.kind;
      Rate& rate = is_within ? within : across;
      add(rate.tokens, own);
      rate.time = saturating_add(rate.time, *period);
      if (is_within) push(periods, period), push(host_periods, known_time(measured.host_period[i]));
    }
    push(spans, known_time(measured.stats[i + 1].gpu_span));
    if (!step.on_device) push(hosts, known_time(step.dur));
    push(lags, launch_lag(step, measured.stats[i + 1].first));
  }
  [[nodiscard]] std::optional<double> tokens_per_s() const {
    const Rate& rate = within.time > 0 ? within : across;
    return rate.tokens.value_or(0) > 0 ? per_second(*rate.tokens, rate.time) : std::nullopt;
  }
};

std::array<Phase, kStepKinds> phases_of(const StepSet& set, const Measured& measured, StepChoice choice) {
  std::array<Phase, kStepKinds> phases;
  std::array<bool, kStepKinds> any_whole{};
  const auto kind_of = [&](std::size_t i) { return static_cast<std::size_t>(set.steps[i].info.kind); };
  for (std::size_t i = 0; i < set.steps.size(); ++i) {
    if (chosen(measured, i, choice) && !set.steps[i].cut) any_whole.at(kind_of(i)) = true;
  }
  for (std::size_t i = 0; i < set.steps.size(); ++i) {
    const bool timed = !set.steps[i].cut || !any_whole.at(kind_of(i));
    if (chosen(measured, i, choice)) phases.at(kind_of(i)).add(set, measured, i, timed);
  }
  return phases;
}

void add_phase(TableRows& rows, std::string_view name, const Phase& phase, const GroupStats& stats,
               std::optional<std::string_view> period_on, std::int64_t all_busy) {
  rows.add(name, phase.steps, median_of(phase.requests), phase.tokens);
  rows.add(stats.count, stats.total, stats.known, stats.busy);
  rows.add(median_of(phase.spans), median_of(phase.hosts), median_of(phase.periods), period_on);
  rows.add(median_of(phase.host_periods), median_of(phase.lags), phase.tokens_per_s(), all_busy);
}

}  // namespace

void fill_steps(Workload& workload, const PassOptions&, TableRows& rows) {
  const StepSet& set = workload.steps();
  const Measured measured = measure(set, workload.events());
  for (std::size_t i = 0; i < set.steps.size(); ++i) {
    const StepFacts& step = set.steps[i];
    const StepStats& stats = measured.stats[i + 1];
    const std::optional<std::int64_t> period = known_time(measured.period[i]);
    const std::optional<std::int64_t> tokens = tokens_of(step.info);
    rows.add(i, to_string(step.info.kind));
    rows.add(set.source == StepSource::kInferred ? std::nullopt : std::optional<std::string_view>(step.name));
    rows.add(known_time(step.ts), known_time(step.dur), step.on_device ? "gpu" : "cpu", known_id(step.track));
    rows.add(step.info.context_requests, step.info.context_tokens);
    rows.add(step.info.generation_requests, step.info.generation_tokens);
    add_kernels(rows, stats);
    rows.add(known_time(stats.first), known_time(stats.gpu_span), known_time(stats.gpu_busy), period);
    rows.add(clock_of(measured, period.has_value(), static_cast<std::size_t>(step.info.kind)));
    rows.add(measured.next[i] ? std::optional(to_string(*measured.next[i])) : std::nullopt);
    rows.add(known_time(measured.host_period[i]));
    rows.add(launch_lag(step, stats.first), tokens && period ? per_second(*tokens, *period) : std::nullopt);
    rows.add(i >= measured.steady.first && i < measured.steady.last);
    rows.add(set.source == StepSource::kInferred ? std::optional<std::int64_t>(step.warm_up) : std::nullopt);
  }
  for (const auto& [name, place] : {std::pair(kBefore, set.steps.size() + 1), std::pair(kNoStep, std::size_t{0})}) {
    if (measured.stats[place].kernels == 0) continue;
    constexpr std::size_t kBehindName = 8, kBehindKernels = 11;  // columns that only a step has
    rows.add_null(2).add(name).add_null(kBehindName);
    add_kernels(rows, measured.stats[place]);
    rows.add_null(kBehindKernels);
  }
}

void fill_phases(Workload& workload, const PassOptions& options, TableRows& rows) {
  const StepSet& steps = workload.steps();
  const EventTables& events = workload.events();
  const StepChoice choice = options.phase_steps;
  const Measured measured = measure(steps, events);
  const std::array<Phase, kStepKinds> phases = phases_of(steps, measured, choice);
  std::vector<GroupId> of_step(measured.stats.size(), kNoGroup);
  if (choice == StepChoice::kAll) of_step[0] = kStepKinds, of_step.back() = kStepKinds + 1;
  for (std::size_t i = 0; i < steps.steps.size(); ++i) {
    if (chosen(measured, i, choice)) of_step[i + 1] = static_cast<GroupId>(steps.steps[i].info.kind);
  }
  LargeVector<GroupId> groups(measured.of_kernel.size());
  for (std::size_t i = 0; i < groups.size(); ++i) groups[i] = of_step[measured.of_kernel[i]];
  const GroupedEvents grouped{events.kernels.int64s("ts"), events.kernels.int64s("dur"),
                              events.kernels.ids("stream_id"), events.device_of_stream, groups};
  const std::vector<GroupStats> stats = group_totals(grouped, kStepKinds + 2);
  const std::int64_t busy = busy_time(grouped);
  for (std::size_t kind = 0; kind < kStepKinds; ++kind) {
    if (phases[kind].steps == 0) continue;
    add_phase(rows, to_string(static_cast<StepKind>(kind)), phases[kind], stats[kind],
              clock_of(measured, !phases[kind].periods.empty(), kind), busy);
  }
  for (const auto& [name, group] : {std::pair(kBefore, kStepKinds + 1), std::pair(kNoStep, kStepKinds)}) {
    if (stats[group].count > 0) add_phase(rows, name, {}, stats[group], std::nullopt, busy);
  }
}

}  // namespace tracedb
