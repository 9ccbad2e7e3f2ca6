#include "compare/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>

#include "compare/side.h"
#include "compare/step_metrics.h"
#include "passes/columns/group_stats.h"

namespace tracedb {
namespace {

constexpr double kBound = 0.02;  // of the period

bool says(const Index& index, const char* key) {
  Statement row(index.database(),
                "SELECT lower(trim(value, ' \"')) NOT IN ('', '0', 'false', 'null') FROM meta "
                "WHERE key = ?");
  row.bind(1, key);
  return row.step() && row.int64(0) == 1;
}

bool holds(const Index& index, const char* sql) { return index.database().query_int64(sql).value_or(0) != 0; }

// The start times of a table whose rows are in time order, looked up and not read: a gap has two ends, a table millions
// of rows.
class StartTimes {
 public:
  StartTimes(Database& database, const std::string& table)
      : rows_(database.query_int64(fmt::format("SELECT max(id) FROM {}", table)).value_or(0)),
        at_(database, fmt::format("SELECT ts FROM {} WHERE id = ?", table)) {}

  // Rows that start before `ts`. Fast where it is asked in order of time: it looks from the last answer on.
  std::int64_t before(std::int64_t ts) {
    std::int64_t low = last_ts_ <= ts ? last_ : 0;  // rows known to start before ts
    std::int64_t step = 1;
    while (low + step <= rows_ && start(low + step) < ts) {
      low += step;
      step *= 2;
    }
    std::int64_t high = std::min(low + step, rows_ + 1);  // a row that does not, or behind the last
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      (start(middle) < ts ? low : high) = middle;
    }
    last_ts_ = ts;
    return last_ = low;
  }

 private:
  std::int64_t start(std::int64_t id) {
    at_.reset();
    at_.bind(1, id);
    return at_.step() ? at_.int64(0) : INT64_MAX;
  }

  std::int64_t rows_;
  Statement at_;
  std::int64_t last_ = 0, last_ts_ = INT64_MIN;
};

class GapFinder {
 public:
  GapFinder(const Index& index, const Side& side)
      : side_(side),
        kernel_ts_(side.events.kernels.int64s("ts")),
        memory_ts_(side.events.memory.int64s("ts")),
        python_(index.database(), "python_call"),
        operators_(index.database(), "cpu_op"),
        kernel_launch_(index.database(),
                       "SELECT r.ts FROM kernel k JOIN runtime_call r ON r.id = k.launch_id WHERE k.id = ?"),
        memory_launch_(index.database(),
                       "SELECT r.ts FROM memory_op m JOIN runtime_call r ON r.id = m.launch_id WHERE m.id = ?") {
    out_.waiting.assign(side.runs.size(), 0);
    out_.calls.assign(side.runs.size(), 0);
  }

  RecordedGaps run() {
    std::vector<std::size_t> next(side_.runs.size(), kNoRun);
    std::vector<std::size_t> last;  // by device
    for (std::size_t i = 0; i < side_.runs.size(); ++i) {
      const std::uint32_t device = side_.runs[i].device;
      if (device >= last.size()) last.resize(device + 1, kNoRun);
      if (last[device] != kNoRun) next[last[device]] = i;
      last[device] = i;
    }
    for (std::size_t i = 0; i < side_.runs.size(); ++i) {
      const std::int64_t period = period_of(i);
      if (period == kNoTime || period <= side_.runs[i].span || next[i] == kNoRun) continue;
      const std::int64_t gap = period - side_.runs[i].span;
      if (is_hosts(i, side_.runs[next[i]])) out_.waiting[i] = gap;
    }
    count_calls();
    return std::move(out_);
  }

 private:
  static constexpr std::size_t kNoRun = SIZE_MAX;

  // To the next step, of whichever kind.
  [[nodiscard]] std::int64_t period_of(std::size_t run) const {
    return side_.periods[run] != kNoTime ? side_.periods[run] : side_.transitions[run].period;
  }
  [[nodiscard]] std::int64_t begin_of_gap(std::size_t run) const {
    return bounded_add(side_.runs[run].first, side_.runs[run].span);
  }
  std::int64_t calls_in_gap(std::size_t run) {
    const std::int64_t begin = begin_of_gap(run);
    const std::int64_t end = bounded_add(side_.runs[run].first, period_of(run));
    return python_.before(end) - python_.before(begin) + operators_.before(end) - operators_.before(begin);
  }

  bool is_hosts(std::size_t run, const Run& next) {
    const std::optional<std::int64_t> launch = launch_of_first(next);
    return launch ? *launch > begin_of_gap(run) : calls_in_gap(run) > 0;
  }

  std::optional<std::int64_t> launch_of_first(const Run& run) {
    const std::uint32_t kernel = side_.kernel_rows[run.begin];
    const bool copies = run.memory_begin < run.memory_end;
    const std::uint32_t memory = copies ? side_.memory_rows[run.memory_begin] : 0;
    const bool copy_first = copies && memory_ts_[memory] < kernel_ts_[kernel];
    Statement& launch = copy_first ? memory_launch_ : kernel_launch_;
    launch.reset();
    launch.bind(1, std::int64_t{copy_first ? memory : kernel} + 1);
    return launch.step() ? std::optional(launch.int64(0)) : std::nullopt;
  }

  // Of kinds of steps that the host bounds, and of what follows them.
  void count_calls() {
    std::map<std::pair<StepKind, StepKind>, HostWaits> kinds;
    const auto kind_of = [&](std::size_t run) {
      const StepKind own = side_.steps.steps[side_.runs[run].step - 1].info.kind;
      return std::pair(own, side_.periods[run] != kNoTime ? own : side_.transitions[run].to);
    };
    for (std::uint32_t i = 0; i < side_.runs.size(); ++i) {
      const std::int64_t period = period_of(i);
      if (period == kNoTime) continue;
      HostWaits& kind = kinds[kind_of(i)];
      kind.periods = bounded_add(kind.periods, period);
      kind.waiting = bounded_add(kind.waiting, out_.waiting[i]);
    }
    for (std::size_t i = 0; i < side_.runs.size(); ++i) {
      if (out_.waiting[i] > 0 && kinds[kind_of(i)].bound()) out_.calls[i] = calls_in_gap(i);
    }
  }

  const Side& side_;
  std::span<const std::int64_t> kernel_ts_, memory_ts_;
  StartTimes python_, operators_;
  Statement kernel_launch_, memory_launch_;
  RecordedGaps out_;
};

std::string calls_text(const HostWaits& waits) { return fmt::format("{:.0f}", waits.calls_per_gap()); }

}  // namespace

Recording recording_of(const Index& index) {
  return {says(index, "trace.with_stack") || holds(index, "SELECT EXISTS (SELECT 1 FROM python_call)"),
          says(index, "trace.record_shapes") ||
              holds(index, "SELECT EXISTS (SELECT 1 FROM op_shape WHERE dims IS NOT NULL AND dims NOT IN ('', '[]'))")};
}

std::string to_string(const Recording& recording) {
  if (recording.stacks) return recording.shapes ? "python stacks and shapes" : "python stacks";
  return recording.shapes ? "shapes" : "neither python stacks nor shapes";
}

RecordedGaps recorded_gaps(const Index& index, const Side& side) {
  RecordedGaps out;
  const Recording recording = recording_of(index);
  if (recording.any()) out = GapFinder(index, side).run();
  out.recording = recording;
  return out;
}

bool HostWaits::bound() const { return waiting > 0 && share() >= kBound; }

double HostWaits::share() const {
  return periods > 0 ? static_cast<double>(waiting) / static_cast<double>(periods) : 0;
}

double HostWaits::calls_per_gap() const {
  return gaps > 0 ? static_cast<double>(calls) / static_cast<double>(gaps) : 0;
}

HostWaits sum_host_waits(const RecordedGaps& gaps, std::span<const std::uint32_t> runs,
                         std::span<const std::int64_t> periods) {
  HostWaits out;
  for (const std::uint32_t run : runs) {
    if (run >= gaps.waiting.size() || periods[run] == kNoTime) continue;
    out.periods = bounded_add(out.periods, periods[run]);
    out.waiting = bounded_add(out.waiting, gaps.waiting[run]);
    out.calls = bounded_add(out.calls, gaps.calls[run]);
    out.gaps += gaps.waiting[run] > 0 ? 1 : 0;
  }
  return out;
}

std::string recording_difference(const std::optional<Recording>& baseline, const std::optional<Recording>& candidate) {
  if (!baseline || !candidate || *baseline == *candidate) return "";
  return fmt::format("the baseline records {}, the candidate {}", to_string(*baseline), to_string(*candidate));
}

void judge_period(Change& period, const std::string& difference, const HostWaits& baseline,
                  const HostWaits& candidate) {
  if (period.baseline_steps == 0 || period.candidate_steps == 0) return;
  period.recorded_alike = difference.empty();
  if (!period.recorded_alike) {
    period.verdict = Verdict::kInconclusive;
    period.reason = "recorded differently";
  }
  if (baseline.bound() && candidate.bound()) {
    period.caveat = fmt::format("both bound by the recording host, {} and {} calls per gap", calls_text(baseline),
                                calls_text(candidate));
  } else if (baseline.bound() || candidate.bound()) {
    const bool first = baseline.bound();
    period.caveat = fmt::format("{} bound by the recording host, {} calls per gap", first ? "baseline" : "candidate",
                                calls_text(first ? baseline : candidate));
  }
}

}  // namespace tracedb
