#include "passes/tables/step_tables.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "passes/columns/group_stats.h"
#include "passes/steps/step_stats.h"
#include "sql/temp_table.h"

namespace tracedb {
namespace {

constexpr std::string_view kNoStep = "[no step]";
constexpr std::size_t kKinds = static_cast<std::size_t>(StepKind::kUnknown) + 1;

struct Measured {
  std::vector<StepStats> stats;  // [0]: in no step
  std::vector<std::int64_t> start, period;
  StepRange steady;
};

SteppedEvents stepped(const EventColumns& events, std::span<const std::uint32_t> step) {
  return {events.int64s("ts"), events.int64s("dur"), events.ids("stream_id"), step};
}

Measured measure(const StepSet& set, const EventTables& events) {
  Measured out;
  out.stats = step_stats(stepped(events.kernels, set.of_kernel), stepped(events.memory, set.of_memory),
                         events.device_of_stream, set.steps.size());
  std::vector<std::uint32_t> track;
  std::vector<std::int64_t> decoding;
  for (std::size_t i = 0; i < set.steps.size(); ++i) {
    const StepFacts& step = set.steps[i];
    out.start.push_back(step.ts == kNullCell ? out.stats[i + 1].first : step.ts);
    track.push_back(step.track * 2 + (step.on_device ? 1 : 0));
    decoding.push_back(step.info.generation_requests.value_or(-1));
  }
  out.period = periods(out.start, track);
  out.steady = steady_steps(decoding);
  return out;
}

std::optional<std::int64_t> tokens_of(const StepInfo& info) {
  if (!info.context_tokens && !info.generation_tokens) return std::nullopt;
  return bounded_add(info.context_tokens.value_or(0), info.generation_tokens.value_or(0));
}

std::optional<std::int64_t> requests_of(const StepInfo& info) {
  if (!info.context_requests && !info.generation_requests) return std::nullopt;
  return bounded_add(info.context_requests.value_or(0), info.generation_requests.value_or(0));
}

std::optional<double> per_second(std::int64_t tokens, std::int64_t ns) {
  if (ns <= 0) return std::nullopt;
  return 1e9 * static_cast<double>(tokens) / static_cast<double>(ns);
}

std::optional<std::int64_t> known(std::int64_t time) { return time == kNoTime ? std::nullopt : std::optional(time); }

std::optional<std::int64_t> launch_lag(const StepFacts& step, const StepStats& stats) {
  std::int64_t lag = 0;
  if (step.on_device || step.ts == kNullCell || stats.first == kNoTime) return std::nullopt;
  if (__builtin_sub_overflow(stats.first, step.ts, &lag)) return std::nullopt;
  return lag;
}

// Binds values in the order of the columns; what is not known stays NULL.
class RowBinder {
 public:
  explicit RowBinder(Statement& row) : row_(row) {}
  template <class T>
  RowBinder& add(const std::optional<T>& value) {
    ++column_;
    if (value) row_.bind(column_, *value);
    return *this;
  }
  RowBinder& add(std::int64_t value) { return add(std::optional(value)); }
  RowBinder& add(std::string_view value) { return add(std::optional(value)); }

 private:
  Statement& row_;
  int column_ = 0;
};

bool chosen(const Measured& measured, std::size_t step, StepChoice choice) {
  return choice == StepChoice::kAll || (step >= measured.steady.first && step < measured.steady.last);
}

void write_step(Statement& row, const StepSet& set, const Measured& measured, std::size_t i) {
  const StepFacts& step = set.steps[i];
  const StepStats& stats = measured.stats[i + 1];
  const std::optional<std::int64_t> period = known(measured.period[i]);
  const std::optional<std::int64_t> tokens = tokens_of(step.info);
  RowBinder binder(row);
  binder.add(static_cast<std::int64_t>(i)).add(to_string(step.info.kind));
  binder.add(set.source == StepSource::kInferred ? std::string_view("[inferred]") : std::string_view(step.name));
  binder.add(step.info.context_requests).add(step.info.context_tokens);
  binder.add(step.info.generation_requests).add(step.info.generation_tokens);
  binder.add(stats.kernels).add(stats.kernel_time).add(known(stats.gpu_span)).add(known(stats.gpu_busy));
  binder.add(step.on_device ? std::nullopt : known(step.dur)).add(period).add(launch_lag(step, stats));
  binder.add(tokens && period ? per_second(*tokens, *period) : std::nullopt);
  binder.add(std::int64_t{i >= measured.steady.first && i < measured.steady.last}).add(known(measured.start[i]));
  row.run();
}

void write_rest(Statement& row, const StepStats& rest) {
  RowBinder binder(row);
  binder.add(std::optional<std::int64_t>()).add(std::optional<std::string_view>()).add(kNoStep);
  for (int column = 0; column < 4; ++column) binder.add(std::optional<std::int64_t>());
  binder.add(rest.kernels).add(rest.kernel_time);
  row.run();
}

// Sums and medians of the steps of a kind.
struct Phase {
  std::int64_t steps = 0;
  std::optional<std::int64_t> tokens;
  std::vector<std::int64_t> requests, spans, hosts, periods, lags;
  std::int64_t timed_tokens = 0, timed = 0;

  static void push(std::vector<std::int64_t>& values, const std::optional<std::int64_t>& value) {
    if (value) values.push_back(*value);
  }
  void add(const StepSet& set, const Measured& measured, std::size_t i) {
    const StepFacts& step = set.steps[i];
    ++steps;
    const std::optional<std::int64_t> own = tokens_of(step.info);
    const std::optional<std::int64_t> period = known(measured.period[i]);
    if (own) tokens = bounded_add(tokens.value_or(0), *own);
    if (own && period) timed_tokens = bounded_add(timed_tokens, *own), timed = bounded_add(timed, *period);
    push(requests, requests_of(step.info));
    push(spans, known(measured.stats[i + 1].gpu_span));
    if (!step.on_device) push(hosts, known(step.dur));
    push(lags, launch_lag(step, measured.stats[i + 1]));
  }
};

std::array<Phase, kKinds> phases_of(const StepSet& set, const Measured& measured, StepChoice choice) {
  std::array<Phase, kKinds> phases;
  std::unordered_map<std::uint32_t, std::size_t> latest;  // by track: its last step
  for (std::size_t i = 0; i < set.steps.size(); ++i) {
    if (!chosen(measured, i, choice)) continue;
    const StepFacts& step = set.steps[i];
    phases[static_cast<std::size_t>(step.info.kind)].add(set, measured, i);
    const std::uint32_t track = step.track * 2 + (step.on_device ? 1 : 0);
    const auto [entry, is_first] = latest.try_emplace(track, i);
    if (is_first) continue;
    const std::size_t before = entry->second;
    const StepKind kind = set.steps[before].info.kind;
    if (kind == step.info.kind)
      Phase::push(phases[static_cast<std::size_t>(kind)].periods, known(measured.period[before]));
    entry->second = i;
  }
  return phases;
}

void write_phase(Statement& row, std::string_view name, const Phase& phase, const GroupStats& stats) {
  RowBinder binder(row);
  binder.add(name).add(phase.steps).add(median_of(phase.requests)).add(phase.tokens);
  binder.add(stats.count).add(stats.total).add(stats.known).add(stats.busy);
  binder.add(median_of(phase.spans))
      .add(median_of(phase.hosts))
      .add(median_of(phase.periods))
      .add(median_of(phase.lags));
  binder.add(per_second(phase.timed_tokens, phase.timed_tokens > 0 ? phase.timed : 0));
  row.run();
}

}  // namespace

SteadyNote make_step_table(const Index& index, const StepSet& steps, const EventTables& events, StepChoice choice) {
  const Measured measured = measure(steps, events);
  TempTable table(index.database(), "step_row",
                  "step INTEGER, phase TEXT, name TEXT, context_requests INTEGER, context_tokens INTEGER, "
                  "generation_requests INTEGER, generation_tokens INTEGER, kernels INTEGER, kernel_time INTEGER, "
                  "gpu_span INTEGER, gpu_busy INTEGER, host INTEGER, period INTEGER, launch_lag INTEGER, "
                  "tokens_per_s REAL, steady INTEGER, ts INTEGER",
                  17);
  for (std::size_t i = 0; i < steps.steps.size(); ++i) {
    if (chosen(measured, i, choice)) write_step(table.insert(), steps, measured, i);
  }
  if (choice == StepChoice::kAll && measured.stats[0].kernels > 0) write_rest(table.insert(), measured.stats[0]);
  return {measured.steady.first, measured.steady.last};
}

std::int64_t make_phase_table(const Index& index, const StepSet& steps, const EventTables& events, StepChoice choice) {
  const Measured measured = measure(steps, events);
  const std::array<Phase, kKinds> phases = phases_of(steps, measured, choice);
  std::vector<GroupId> of_step(steps.steps.size() + 1, kNoGroup);
  if (choice == StepChoice::kAll) of_step[0] = kKinds;
  for (std::size_t i = 0; i < steps.steps.size(); ++i) {
    if (chosen(measured, i, choice)) of_step[i + 1] = static_cast<GroupId>(steps.steps[i].info.kind);
  }
  LargeVector<GroupId> groups(steps.of_kernel.size());
  for (std::size_t i = 0; i < groups.size(); ++i) groups[i] = of_step[steps.of_kernel[i]];
  const GroupedEvents grouped{events.kernels.int64s("ts"), events.kernels.int64s("dur"),
                              events.kernels.ids("stream_id"), events.device_of_stream, groups};
  const std::vector<GroupStats> stats = group_totals(grouped, kKinds + 1);
  TempTable table(index.database(), "phase_row",
                  "phase TEXT, steps INTEGER, requests REAL, tokens INTEGER, kernels INTEGER, total INTEGER, known "
                  "INTEGER, busy INTEGER, gpu_span REAL, host REAL, period REAL, launch_lag REAL, tokens_per_s REAL",
                  13);
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    if (phases[kind].steps == 0) continue;
    write_phase(table.insert(), to_string(static_cast<StepKind>(kind)), phases[kind], stats[kind]);
  }
  if (stats[kKinds].count > 0) write_phase(table.insert(), kNoStep, {}, stats[kKinds]);
  return busy_time(grouped);
}

}  // namespace tracedb
