#include "compare/trace/device_steps.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "base/saturating.h"
#include "base/unknown.h"
#include "compare/trace/exclusive_time.h"
#include "passes/steps/step_stats.h"

namespace tracedb {
namespace {

// The rows of one table: their order, and what they are.
struct Rows {
  std::span<const std::uint32_t> rows, step_of, stream, kind;
  std::span<const std::int64_t> ts, dur;
  Work (*work_of)(std::uint32_t kind);
  std::vector<std::int64_t>* own;  // where exclusive times go, by index into `rows`
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> place_of(std::size_t i, const DenseDevices& devices) const {
    return {step_of[rows[i]], static_cast<std::uint32_t>(devices.of(stream[rows[i]]))};
  }
};

// Calls `visit` with step, device and the bounds of every stretch of rows that are of the same ones.
template <class Visit>
void for_each_stretch(const Rows& of, const DenseDevices& devices, Visit visit) {
  for (std::size_t begin = 0; begin < of.rows.size();) {
    const auto place = of.place_of(begin, devices);
    std::size_t end = begin + 1;
    while (end < of.rows.size() && of.place_of(end, devices) == place) ++end;
    visit(place, begin, end);
    begin = end;
  }
}

class StepMeter {
 public:
  StepMeter(const Rows& kernels, const Rows& memory) : kernels_(kernels), memory_(memory) {}

  void measure(DeviceStep& step) {
    intervals_.clear();
    slots_.clear();
    step.kernel_time = 0;
    // Kernels and memory operations are each in order of time.
    for (std::size_t i = step.begin, m = step.memory_begin; i < step.end || m < step.memory_end;) {
      const bool memory =
          i == step.end || (m < step.memory_end && memory_.ts[memory_.rows[m]] < kernels_.ts[kernels_.rows[i]]);
      if (memory) {
        add(memory_, m++);
      } else {
        step.kernel_time = saturating_add(step.kernel_time, add(kernels_, i++));
      }
    }
    exclusive_times(intervals_, times_);
    std::int64_t last = 0;
    std::int64_t by_work[3] = {};
    for (std::size_t i = 0; i < intervals_.size(); ++i) {
      last = std::max(last, intervals_[i].end);
      by_work[static_cast<std::size_t>(intervals_[i].work)] += times_[i];
      *slots_[i] = times_[i];
    }
    step.first = intervals_.empty() ? 0 : intervals_.front().begin;
    step.span = intervals_.empty() ? 0 : last - step.first;
    step.computation = by_work[static_cast<std::size_t>(Work::kCompute)];
    step.exposed_comm = by_work[static_cast<std::size_t>(Work::kComm)];
    step.exposed_copy = by_work[static_cast<std::size_t>(Work::kCopy)];
    step.idle = step.span - step.computation - step.exposed_comm - step.exposed_copy;
  }

 private:
  // Returns its duration.
  std::int64_t add(const Rows& of, std::size_t i) {
    const std::uint32_t row = of.rows[i];
    const std::int64_t begin = std::max<std::int64_t>(of.ts[row], 0);
    const std::int64_t time = duration_or_zero(of.dur[row]);
    intervals_.push_back({begin, saturating_add(begin, time), of.work_of(of.kind[row])});
    slots_.push_back(&(*of.own)[i]);
    return time;
  }

  const Rows& kernels_;
  const Rows& memory_;
  std::vector<WorkInterval> intervals_;
  std::vector<std::int64_t*> slots_;  // where the time of each interval goes
  std::vector<std::int64_t> times_;
};

std::vector<std::uint32_t> memory_by_step(const EventTables& events, const StepSet& steps,
                                          const DenseDevices& devices) {
  const auto stream = events.memory.ids("stream_id");
  std::vector<std::uint32_t> rows(events.memory.size());
  std::iota(rows.begin(), rows.end(), 0U);
  std::stable_sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto key = [&](std::uint32_t row) { return std::pair(steps.of_memory[row], devices.of(stream[row])); };
    return key(a) < key(b);
  });
  return rows;
}

}  // namespace

StepWork make_step_work(const EventTables& events, const StepSet& steps, LargeVector<std::uint32_t> kernel_rows) {
  const DenseDevices devices(events.device_of_stream);
  const bool whole = steps.steps.empty();
  StepWork out;
  out.kernel_rows = std::move(kernel_rows);
  out.memory_rows = memory_by_step(events, steps, devices);
  out.kernel_own.assign(out.kernel_rows.size(), 0);
  out.memory_own.assign(out.memory_rows.size(), 0);
  const EventColumns& kernel = events.kernels;
  const EventColumns& memory = events.memory;
  const Rows kernels = {out.kernel_rows,     steps.of_kernel,      kernel.ids("stream_id"), kernel.ids("kind"),
                        kernel.int64s("ts"), kernel.int64s("dur"), work_of_kernel,          &out.kernel_own};
  const Rows operations = {out.memory_rows,     steps.of_memory,      memory.ids("stream_id"), memory.ids("kind"),
                           memory.int64s("ts"), memory.int64s("dur"), work_of_memory,          &out.memory_own};

  std::map<std::pair<std::uint32_t, std::uint32_t>, DeviceStep> found;
  for_each_stretch(kernels, devices, [&](const auto& place, std::size_t begin, std::size_t end) {
    std::int64_t time = 0;
    for (std::size_t i = begin; i < end; ++i)
      time = saturating_add(time, duration_or_zero(kernels.dur[kernels.rows[i]]));
    out.kernel_time = saturating_add(out.kernel_time, time);
    if (place.first == 0 && !whole) {
      out.outside_time = saturating_add(out.outside_time, time);
      out.outside_kernels += end - begin;
    } else {
      DeviceStep& step = found[place];
      std::tie(step.step, step.device) = place;
      step.begin = begin;
      step.end = end;
    }
  });
  for_each_stretch(operations, devices, [&](const auto& place, std::size_t begin, std::size_t end) {
    const auto step = found.find(place);
    if (step == found.end()) return;  // copies alone make no step
    step->second.memory_begin = begin;
    step->second.memory_end = end;
  });
  StepMeter meter(kernels, operations);
  for (auto& [place, step] : found) {
    meter.measure(step);
    out.steps.push_back(step);
  }
  return out;
}

}  // namespace tracedb
