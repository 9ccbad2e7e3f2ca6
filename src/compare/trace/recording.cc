#include "compare/trace/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "base/saturating.h"
#include "base/unknown.h"

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

  // Rows that start before `ts`. Fast for ascending times: the search starts at the last answer.
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
  GapFinder(const Index& index, const EventTables& events, const StepSet& set, const StepWork& work,
            const StepPeriods& periods)
      : set_(set),
        work_(work),
        periods_(periods),
        kernel_ts_(events.kernels.int64s("ts")),
        memory_ts_(events.memory.int64s("ts")),
        python_(index.database(), "python_call"),
        operators_(index.database(), "cpu_op"),
        kernel_launch_(index.database(),
                       "SELECT r.ts FROM kernel k JOIN runtime_call r ON r.id = k.launch_id WHERE k.id = ?"),
        memory_launch_(index.database(),
                       "SELECT r.ts FROM memory_op m JOIN runtime_call r ON r.id = m.launch_id WHERE m.id = ?") {}

  RecordedGaps run(const Recording& recording) {
    const std::vector<DeviceStep>& steps = work_.steps;
    RecordedGaps out{recording, std::vector<std::int64_t>(steps.size(), 0), std::vector<std::int64_t>(steps.size(), 0)};
    std::map<std::uint32_t, std::size_t> last;  // by device
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const auto [before, is_first] = last.try_emplace(steps[i].device, i);
      if (is_first) continue;
      const std::size_t previous = std::exchange(before->second, i);
      const std::int64_t period = periods_.to_next(previous);
      if (period == kUnknownValue || steps[previous].between <= 0 || !is_hosts(previous, steps[i])) continue;
      out.waiting[previous] = steps[previous].between;
    }
    count_calls(out);
    return out;
  }

 private:
  [[nodiscard]] std::int64_t begin_of_gap(std::size_t step) const {
    return saturating_add(work_.steps[step].first, work_.steps[step].taken);
  }
  std::int64_t calls_in_gap(std::size_t step) {
    const std::int64_t begin = begin_of_gap(step);
    const std::int64_t end = saturating_add(work_.steps[step].first, periods_.to_next(step));
    return python_.before(end) - python_.before(begin) + operators_.before(end) - operators_.before(begin);
  }

  bool is_hosts(std::size_t step, const DeviceStep& next) {
    const std::optional<std::int64_t> launch = launch_of_first(next);
    return launch ? *launch > begin_of_gap(step) : calls_in_gap(step) > 0;
  }

  std::optional<std::int64_t> launch_of_first(const DeviceStep& step) {
    const std::uint32_t kernel = work_.kernel_rows[step.begin];
    const bool copies = step.memory_begin < step.memory_end;
    const std::uint32_t memory = copies ? work_.memory_rows[step.memory_begin] : 0;
    const bool copy_first = copies && memory_ts_[memory] < kernel_ts_[kernel];
    Statement& launch = copy_first ? memory_launch_ : kernel_launch_;
    launch.reset();
    launch.bind(1, std::int64_t{copy_first ? memory : kernel} + 1);
    return launch.step() ? std::optional(launch.int64(0)) : std::nullopt;
  }

  // For step kinds, and transitions between them, that are bound by the host.
  void count_calls(RecordedGaps& out) {
    std::map<std::pair<StepKind, StepKind>, HostWaits> kinds;
    const auto kind_of = [&](std::size_t step) {
      const StepKind own = set_.steps[work_.steps[step].step - 1].info.kind;
      return std::pair(own, periods_.within_kind[step] != kUnknownValue ? own : periods_.transitions[step].to);
    };
    for (std::size_t i = 0; i < work_.steps.size(); ++i) {
      const std::int64_t period = periods_.to_next(i);
      if (period == kUnknownValue) continue;
      HostWaits& kind = kinds[kind_of(i)];
      kind.periods = saturating_add(kind.periods, period);
      kind.waiting = saturating_add(kind.waiting, out.waiting[i]);
    }
    for (std::size_t i = 0; i < work_.steps.size(); ++i) {
      if (out.waiting[i] > 0 && kinds[kind_of(i)].bound()) out.calls[i] = calls_in_gap(i);
    }
  }

  const StepSet& set_;
  const StepWork& work_;
  const StepPeriods& periods_;
  std::span<const std::int64_t> kernel_ts_, memory_ts_;
  StartTimes python_, operators_;
  Statement kernel_launch_, memory_launch_;
};

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

RecordedGaps recorded_gaps(const Index& index, const EventTables& events, const StepSet& set, const StepWork& work,
                           const StepPeriods& periods) {
  const Recording recording = recording_of(index);
  if (!recording.any()) return {recording, {}, {}};
  return GapFinder(index, events, set, work, periods).run(recording);
}

bool HostWaits::bound() const { return waiting > 0 && share() >= kBound; }

double HostWaits::share() const {
  return periods > 0 ? static_cast<double>(waiting) / static_cast<double>(periods) : 0;
}

double HostWaits::calls_per_gap() const {
  return gaps > 0 ? static_cast<double>(calls) / static_cast<double>(gaps) : 0;
}

HostWaits sum_host_waits(const RecordedGaps& gaps, std::span<const std::uint32_t> group,
                         std::span<const std::int64_t> periods) {
  HostWaits out;
  for (const std::uint32_t step : group) {
    if (step >= gaps.waiting.size() || periods[step] == kUnknownValue) continue;
    out.periods = saturating_add(out.periods, periods[step]);
    out.waiting = saturating_add(out.waiting, gaps.waiting[step]);
    out.calls = saturating_add(out.calls, gaps.calls[step]);
    out.gaps += gaps.waiting[step] > 0 ? 1 : 0;
  }
  return out;
}

std::string recording_difference(const std::optional<Recording>& baseline, const std::optional<Recording>& candidate) {
  if (!baseline || !candidate || *baseline == *candidate) return "";
  return fmt::format("the baseline records {}, the candidate {}", to_string(*baseline), to_string(*candidate));
}

}  // namespace tracedb
