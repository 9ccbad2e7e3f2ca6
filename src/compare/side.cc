#include "compare/side.h"

#include <algorithm>
#include <map>

#include "compare/exclusive_time.h"
#include "passes/columns/group_stats.h"
#include "passes/steps/step_stats.h"

namespace tracedb {
namespace {

// Cuts rows, in order of (step, device), where either changes; `open` is called with step, device and the bounds.
template <class Rows, class StepOf, class DeviceOf, class Open>
void cut(const Rows& rows, StepOf step_of, DeviceOf device_of, Open open) {
  for (std::size_t begin = 0; begin < rows.size();) {
    const auto step = step_of(rows[begin]);
    const auto device = device_of(rows[begin]);
    std::size_t end = begin + 1;
    while (end < rows.size() && step_of(rows[end]) == step && device_of(rows[end]) == device) ++end;
    open(step, device, begin, end);
    begin = end;
  }
}

class Measure {
 public:
  explicit Measure(Side& side)
      : side_(side),
        ts_(side.events.kernels.int64s("ts")),
        dur_(side.events.kernels.int64s("dur")),
        kind_(side.events.kernels.ids("kind")),
        memory_ts_(side.events.memory.int64s("ts")),
        memory_dur_(side.events.memory.int64s("dur")),
        memory_kind_(side.events.memory.ids("kind")) {}

  void apply(Run& run) {
    intervals_.clear();
    slots_.clear();
    run.kernel_time = 0;
    // Kernels and memory operations are each in order of time.
    for (std::size_t i = run.begin, m = run.memory_begin; i < run.end || m < run.memory_end;) {
      const bool memory =
          i == run.end || (m < run.memory_end && memory_ts_[side_.memory_rows[m]] < ts_[side_.kernel_rows[i]]);
      if (memory) {
        const std::uint32_t row = side_.memory_rows[m];
        add(memory_ts_[row], memory_dur_[row], work_of(memory_kind_[row], false), &side_.memory_own[m++]);
      } else {
        const std::uint32_t row = side_.kernel_rows[i];
        add(ts_[row], dur_[row], work_of(kind_[row], true), &side_.kernel_own[i++]);
        run.kernel_time = bounded_add(run.kernel_time, counted_time(dur_[row]));
      }
    }
    measure(run);
  }

 private:
  void add(std::int64_t ts, std::int64_t dur, Work work, std::int64_t* own) {
    const std::int64_t begin = std::max<std::int64_t>(ts, 0);
    intervals_.push_back({begin, bounded_add(begin, counted_time(dur)), work});
    slots_.push_back(own);
  }

  void measure(Run& run) {
    exclusive_times(intervals_, times_);
    std::int64_t last = 0;
    std::int64_t by_work[3] = {};
    for (std::size_t i = 0; i < intervals_.size(); ++i) {
      last = std::max(last, intervals_[i].end);
      by_work[static_cast<std::size_t>(intervals_[i].work)] += times_[i];
      *slots_[i] = times_[i];
    }
    run.first = intervals_.empty() ? 0 : intervals_.front().begin;
    run.span = intervals_.empty() ? 0 : last - run.first;
    run.computation = by_work[static_cast<std::size_t>(Work::kCompute)];
    run.exposed_comm = by_work[static_cast<std::size_t>(Work::kComm)];
    run.exposed_copy = by_work[static_cast<std::size_t>(Work::kCopy)];
    run.idle = run.span - run.computation - run.exposed_comm - run.exposed_copy;
  }

  Side& side_;
  std::span<const std::int64_t> ts_, dur_;
  std::span<const std::uint32_t> kind_;
  std::span<const std::int64_t> memory_ts_, memory_dur_;
  std::span<const std::uint32_t> memory_kind_;
  std::vector<WorkInterval> intervals_;
  std::vector<std::int64_t*> slots_;  // where the time of each interval goes
  std::vector<std::int64_t> times_;
};

void order_memory(Side& side, const DenseDevices& devices) {
  const auto stream = side.events.memory.ids("stream_id");
  side.memory_rows.resize(side.events.memory.size());
  for (std::uint32_t i = 0; i < side.memory_rows.size(); ++i) side.memory_rows[i] = i;
  std::stable_sort(side.memory_rows.begin(), side.memory_rows.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto key = [&](std::uint32_t row) { return std::pair(side.steps.of_memory[row], devices.of(stream[row])); };
    return key(a) < key(b);
  });
}

}  // namespace

void make_runs(Side& side) {
  const DenseDevices devices(side.events.device_of_stream);
  const auto stream = side.events.kernels.ids("stream_id");
  const auto dur = side.events.kernels.int64s("dur");
  const bool whole = side.steps.steps.empty();
  side.kernel_rows = std::move(side.layers.by_step);
  order_memory(side, devices);

  std::map<std::pair<std::uint32_t, std::size_t>, Run> runs;
  const auto kernel_device = [&](std::uint32_t row) { return devices.of(stream[row]); };
  cut(
      side.kernel_rows, [&](std::uint32_t row) { return side.steps.of_kernel[row]; }, kernel_device,
      [&](std::uint32_t step, std::size_t device, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          const std::int64_t time = counted_time(dur[side.kernel_rows[i]]);
          side.kernel_time = bounded_add(side.kernel_time, time);
          if (step == 0 && !whole) side.outside_time = bounded_add(side.outside_time, time);
        }
        if (step == 0 && !whole) {
          side.outside_kernels += end - begin;
          return;
        }
        Run& run = runs[{step, device}];
        run.step = step;
        run.device = static_cast<std::uint32_t>(device);
        run.begin = begin;
        run.end = end;
      });
  const auto memory_stream = side.events.memory.ids("stream_id");
  const auto memory_device = [&](std::uint32_t row) { return devices.of(memory_stream[row]); };
  cut(
      side.memory_rows, [&](std::uint32_t row) { return side.steps.of_memory[row]; }, memory_device,
      [&](std::uint32_t step, std::size_t device, std::size_t begin, std::size_t end) {
        if (step == 0 && !whole) return;
        const auto found = runs.find({step, device});
        if (found == runs.end()) return;  // copies alone make no step
        found->second.memory_begin = begin;
        found->second.memory_end = end;
      });
  side.kernel_own.assign(side.kernel_rows.size(), 0);
  side.memory_own.assign(side.memory_rows.size(), 0);
  Measure measure(side);
  for (auto& [key, run] : runs) {
    measure.apply(run);
    side.runs.push_back(run);
  }
}

}  // namespace tracedb
