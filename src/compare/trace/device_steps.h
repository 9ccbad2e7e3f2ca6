// The device work of a trace, cut into device steps (compared_trace.h) and measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/large_vector.h"
#include "passes/columns/device_events.h"
#include "passes/steps/step_set.h"
#include "passes/steps/step_stats.h"

namespace tracedb {

// Times in ns. The device's time from the start of a step to that of the next on it (to the end of the last) is
// divided, so that no instant counts for two steps: taken + between + between_other is the period of a step that has
// one (between its first work on this device and that of the next; `between` has what they wait more or less for it).
struct DeviceStep {
  std::uint32_t step = 0;                        // index into StepSet::steps + 1; 0: the whole trace
  std::uint32_t device = 0;                      // counted from 0 in the order of the streams (DenseDevices)
  std::size_t begin = 0, end = 0;                // of StepWork::kernel_rows
  std::size_t memory_begin = 0, memory_end = 0;  // of StepWork::memory_rows
  // From its first start on any device to its last end, but not before those end that began earlier, nor after those
  // begin that end later: a device that waits for others does so in the step.
  std::int64_t first = 0, span = 0;
  std::int64_t wait = 0;     // from `first` to its first start on this device: periods are between these
  std::int64_t busy = 0;     // of that: some of its events runs
  std::int64_t overlap = 0;  // of that: an earlier step still runs
  // While it or an earlier step runs: all, nothing runs on the device, only events of no step do.
  std::int64_t taken = 0, idle = 0, other = 0;
  // After these, until the next begins: nothing runs, events of no step do.
  std::int64_t between = 0, between_other = 0;
  std::int64_t computing = 0;  // some of its kernels computes
  std::int64_t at_once = 0;    // at most 0: that, less the sum of their durations, in which concurrent ones count twice
  // What remains of `taken`: events of other steps that run in it, less its own that run in the time of others.
  std::int64_t shared = 0;
  std::int64_t exposed_comm = 0, exposed_copy = 0;  // of its events, whatever else the device runs
  std::int64_t kernel_time = 0;                     // sum of durations
};

struct StepWork {
  LargeVector<std::uint32_t> kernel_rows;  // those of each device step together, in time order
  std::vector<std::uint32_t> memory_rows;
  LargeVector<std::int64_t> kernel_own, memory_own;  // exclusive time on the device (exclusive_times()), by row
  std::vector<DeviceStep> steps;
  // Rows of a device step.
  [[nodiscard]] std::span<const std::uint32_t> kernels(const DeviceStep& step) const {
    return std::span(kernel_rows).subspan(step.begin, step.end - step.begin);
  }
  [[nodiscard]] std::span<const std::uint32_t> memory(const DeviceStep& step) const {
    return std::span(memory_rows).subspan(step.memory_begin, step.memory_end - step.memory_begin);
  }
  std::int64_t kernel_time = 0;   // of all kernels, in device steps or not
  std::int64_t outside_time = 0;  // of kernels in no step
  std::size_t outside_kernels = 0;
  bool in_turns = false;           // the devices wait for each other for much of the steps
  std::vector<std::string> notes;  // where the devices share the steps unequally: how they count
};

// Of each DeviceStep::device the profiler's number; 0: not known.
std::vector<std::int64_t> device_numbers(const EventTables& events);

// ns of kernels in steps, by the profiler's number of the device. Empty where numbers do not tell devices apart.
using DeviceKernelTimes = std::map<std::int64_t, std::int64_t>;
// `kernel_rows`: in order of step, device and time (LayerSet::by_step).
DeviceKernelTimes device_times(const EventTables& events, const StepSet& steps,
                               std::span<const std::uint32_t> kernel_rows);

// The devices that hardly work in each of these traces: a mean over devices would be of none of them.
std::vector<std::set<std::int64_t>> idle_devices(std::span<const DeviceKernelTimes> traces);

// `kernel_rows`: as above. `idle`: numbers of devices without steps. `copies`: whether copies and fills count.
StepWork make_step_work(const EventTables& events, const StepSet& steps, LargeVector<std::uint32_t> kernel_rows,
                        const std::set<std::int64_t>& idle, bool copies = true);

// The device step that follows each on its device; its own index: none does.
std::vector<std::size_t> next_steps(const StepWork& work);

// The kind of work of a row of table kernel, or of table memory_op.
inline Work work_of_kernel(std::uint32_t kind) {
  const auto stored = static_cast<KernelKind>(kind);
  if (stored == KernelKind::kComm || stored == KernelKind::kCommCompute) return Work::kComm;
  return stored == KernelKind::kCopyKernel ? Work::kCopy : Work::kCompute;
}
inline Work work_of_memory(std::uint32_t kind) {
  return kind == static_cast<std::uint32_t>(MemoryKind::kMemcpy) ? Work::kCopy : Work::kCompute;
}

// The periods of the device steps of a trace, sums of them, and tokens per second. Pure.
//
// Source: schema/METRICS.md 7 and 10; which device steps have a period: passes/steps/step_stats.h.

// By device step.
StepPeriods step_periods(const StepSet& set, std::span<const DeviceStep> steps);
// A note on devices that have no period in steps of a kind in which others have; "": there are none.
std::string without_periods(const EventTables& events, const StepSet& set, const StepWork& work,
                            const StepPeriods& periods);

// Sums over some device steps; times in ns.
struct PeriodSums {
  std::int64_t followed = 0;           // device steps that have a period
  std::int64_t periods = 0;            // sum over those
  std::optional<std::int64_t> tokens;  // of the steps that have a period, where the annotations of all say
  [[nodiscard]] std::optional<double> tokens_per_s() const;  // schema/METRICS.md 7: tokens over periods
};
// `group`: indices of device steps.
PeriodSums sum_periods(const StepSet& set, std::span<const DeviceStep> steps, std::span<const std::uint32_t> group,
                       std::span<const std::int64_t> periods);

// Exclusive time of events, so that sums over events are elapsed time: an instant belongs to computation if anything
// computes, else to communication, else to a copy; among several events of a kind, to the one that started first. Pure,
// linear.

// end >= begin; in order of begin.
struct WorkInterval {
  std::int64_t begin = 0, end = 0;
  Work work = Work::kCompute;
};

// By interval, in ns. The sums of those of kCompute, kComm and kCopy are computation, exposed_comm and exposed_copy.
void exclusive_times(std::span<const WorkInterval> intervals, std::vector<std::int64_t>& out);

// The time of an event in the account of a step, in ns: all of its duration if it computes, else its exclusive time,
// the part of it that is exposed. Which of two kernels that compute at once hides the other is chance; that a
// kernel takes longer is not.
inline std::int64_t accounted_time(Work work, std::int64_t duration, std::int64_t exclusive) {
  return work == Work::kCompute ? duration : exclusive;
}

}  // namespace tracedb
