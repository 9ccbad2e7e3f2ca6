#include "compare/trace/device_steps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/time_cover.h"
#include "base/unknown.h"
#include "passes/time/timeline.h"

namespace tracedb {
namespace {

// The rows of one table: their order, and what they are.
struct Rows {
  std::span<const std::uint32_t> rows, step_of, stream, kind;
  std::span<const std::int64_t> ts, dur;
  Work (*work_of)(std::uint32_t kind);
  LargeVector<std::int64_t>* own;  // where exclusive times go, by row
  [[nodiscard]] WorkInterval interval(std::uint32_t row) const {
    const std::int64_t begin = std::max<std::int64_t>(ts[row], 0);
    return {begin, saturating_add(begin, duration_or_zero(dur[row])), work_of(kind[row])};
  }
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

// The time that intervals in order of begin cover, by the segments between given moments.
class CoveredTime {
 public:
  explicit CoveredTime(const std::vector<std::int64_t>& cuts) : cuts_(cuts), sums_(cuts.size()) {}

  void add(std::int64_t begin, std::int64_t end) {
    begin = std::max(begin, until_);
    if (begin >= end) return;
    until_ = end;
    while (next_ < cuts_.size() && cuts_[next_] <= begin) ++next_;
    for (std::size_t i = next_; begin < end; ++i) {
      const std::int64_t stop = i < cuts_.size() ? std::min(cuts_[i], end) : end;
      if (i > 0) sums_[i - 1] += stop - begin;
      begin = stop;
    }
  }
  // From a moment to the next.
  [[nodiscard]] std::int64_t of(std::size_t segment) const { return sums_[segment]; }

 private:
  const std::vector<std::int64_t>& cuts_;
  std::vector<std::int64_t> sums_;
  std::int64_t until_ = 0;
  std::size_t next_ = 0;  // first moment after `until_`
};

// All that one device runs, in order of start, and its steps.
struct DeviceTimes {
  LargeVector<WorkInterval> intervals;
  LargeVector<std::int64_t*> own;  // where the exclusive time of each goes
  std::vector<bool> in_step;
  std::vector<DeviceStep*> steps;
};

// A step on all of its devices. Steps limit each other where they share a device, or have one with another that does.
struct WholeStep {
  std::size_t group;
  Extent time;
};

// Of each step when it begins on a device that waits for others: with its first work on any, and not before those that
// began earlier end. What came before the first step is taken to reach into it as far as that into the second.
std::vector<std::int64_t> earliest_begins(const std::vector<WholeStep>& steps) {
  std::vector<std::size_t> order(steps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(steps[i].group, steps[i].time.begin); });
  std::vector<std::int64_t> out(steps.size());
  std::int64_t latest = 0;
  for (std::size_t place = 0; place < order.size(); ++place) {
    const WholeStep& step = steps[order[place]];
    const auto is_of_group = [&](std::size_t other) { return steps[order[other]].group == step.group; };
    if (place == 0 || !is_of_group(place - 1)) {
      const bool is_only = place + 1 == order.size() || !is_of_group(place + 1);
      const std::int64_t next = is_only ? step.time.end : steps[order[place + 1]].time.begin;
      latest = step.time.begin + std::max<std::int64_t>(step.time.end - next, 0);
    }
    out[order[place]] = std::max(step.time.begin, latest);
    latest = std::max(latest, step.time.end);
  }
  return out;
}

// By device: which of them run steps together.
std::vector<std::size_t> device_groups(const std::vector<DeviceStep>& steps, std::size_t devices) {
  std::vector<std::size_t> group(devices);
  std::iota(group.begin(), group.end(), std::size_t{0});
  for (std::size_t i = 1; i < steps.size(); ++i) {
    const std::size_t from = group[steps[i].device], to = group[steps[i - 1].device];
    if (steps[i].step == steps[i - 1].step && from != to) std::ranges::replace(group, from, to);
  }
  return group;
}

// Steps in order of StepWork to what they are on each device (DeviceStep::first). Returns what part of that they were.
double widen(std::vector<DeviceStep>& steps, std::size_t devices) {
  const std::vector<std::size_t> groups = device_groups(steps, devices);
  std::vector<WholeStep> wholes, mirrored;
  std::vector<std::size_t> whole_of;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Extent time = {steps[i].first, saturating_add(steps[i].first, steps[i].span)};
    if (i == 0 || steps[i].step != steps[i - 1].step) wholes.push_back({groups[steps[i].device], time});
    Extent& whole = wholes.back().time;
    whole = {std::min(whole.begin, time.begin), std::max(whole.end, time.end)};
    whole_of.push_back(wholes.size() - 1);
  }
  if (wholes.size() == steps.size()) return 1;  // one device, or none
  for (const auto& [group, time] : wholes) mirrored.push_back({group, {-time.end, -time.begin}});
  const std::vector<std::int64_t> begins = earliest_begins(wholes), ends = earliest_begins(mirrored);
  double before = 0, after = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    DeviceStep& step = steps[i];
    const std::int64_t end = std::max(saturating_add(step.first, step.span), -ends[whole_of[i]]);
    before += static_cast<double>(step.span);
    const std::int64_t own = std::exchange(step.first, std::min(step.first, begins[whole_of[i]]));
    step.wait = own - step.first;
    step.span = end - step.first;
    after += static_cast<double>(step.span);
  }
  return after > 0 ? before / after : 1;
}

// Divides the device's time among its steps. The earliest step still running has an instant, so that one interval after
// another is cut at the starts of steps, and where none runs any more.
void divide_time(DeviceTimes& device) {
  std::vector<DeviceStep*>& steps = device.steps;
  std::ranges::stable_sort(steps, [](const DeviceStep* a, const DeviceStep* b) { return a->first < b->first; });
  std::vector<std::int64_t> cuts;
  std::int64_t running = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    DeviceStep& step = *steps[i];
    step.overlap = std::clamp<std::int64_t>(running - step.first, 0, step.span);
    running = std::max(running, saturating_add(step.first, step.span));
    cuts.push_back(step.first);
    cuts.push_back(i + 1 < steps.size() ? std::min(running, steps[i + 1]->first) : running);
  }
  CoveredTime all(cuts), of_steps(cuts);
  for (std::size_t i = 0; i < device.intervals.size(); ++i) {
    const WorkInterval& interval = device.intervals[i];
    all.add(interval.begin, interval.end);
    if (device.in_step[i]) of_steps.add(interval.begin, interval.end);
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    DeviceStep& step = *steps[i];
    step.taken = cuts[2 * i + 1] - cuts[2 * i];
    step.idle = step.taken - all.of(2 * i);
    step.other = all.of(2 * i) - of_steps.of(2 * i);
    if (i + 1 == steps.size()) continue;
    step.between_other = all.of(2 * i + 1);
    step.between = cuts[2 * i + 2] - cuts[2 * i + 1] - step.between_other + steps[i + 1]->wait - step.wait;
    if (step.between >= 0) continue;
    // What it waited more at its start than the next one does is more than lies between them: the rest was in the step.
    step.idle += step.between;
    step.taken += std::exchange(step.between, 0);
  }
}

// Start, end and busy time of a step, from its events in order of time.
void measure(const Rows& kernels, const Rows& memory, DeviceStep& step) {
  std::int64_t covered = 0, computed = 0;
  bool is_first = true;
  const auto add = [&](const Rows& of, std::size_t i) {
    const WorkInterval event = of.interval(of.rows[i]);
    if (is_first) step.first = covered = event.begin;
    is_first = false;
    step.busy += std::max<std::int64_t>(event.end - std::max(event.begin, covered), 0);
    covered = std::max(covered, event.end);
    if (event.work == Work::kCompute) {
      const std::int64_t alone = std::max<std::int64_t>(event.end - std::max(event.begin, computed), 0);
      step.computing += alone;
      step.at_once = saturating_add(step.at_once, alone - (event.end - event.begin));
      computed = std::max(computed, event.end);
    }
    return event.end - event.begin;
  };
  for (std::size_t i = step.begin, m = step.memory_begin; i < step.end || m < step.memory_end;) {
    const bool is_memory =
        i == step.end || (m < step.memory_end && memory.ts[memory.rows[m]] < kernels.ts[kernels.rows[i]]);
    if (is_memory) {
      add(memory, m++);
    } else {
      step.kernel_time = saturating_add(step.kernel_time, add(kernels, i++));
    }
  }
  step.span = covered - step.first;
}

// Communication and copies, where nothing of the device hides them, and what is left of the time of the step.
void expose(const Rows& kernels, const Rows& memory, DeviceStep& step) {
  const auto add = [&](const Rows& of, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t row = of.rows[i];
      const Work work = of.work_of(of.kind[row]);
      if (work == Work::kComm) step.exposed_comm += (*of.own)[row];
      if (work == Work::kCopy) step.exposed_copy += (*of.own)[row];
    }
  };
  add(kernels, step.begin, step.end);
  add(memory, step.memory_begin, step.memory_end);
  step.shared = step.taken - step.idle - step.other - step.computing - step.exposed_comm - step.exposed_copy;
}

// The events of each device; kernels that are not selected are left out.
std::vector<DeviceTimes> times_by_device(const Rows& kernels, const Rows& memory, const DenseDevices& devices,
                                         bool whole) {
  std::vector<bool> selected(kernels.ts.size(), kernels.rows.size() == kernels.ts.size());
  for (const std::uint32_t row : kernels.rows) selected[row] = true;
  std::vector<DeviceTimes> out(devices.count);
  for (DeviceTimes& device : out) {
    device.intervals.reserve((kernels.ts.size() + memory.ts.size()) / devices.count);
    device.own.reserve(device.intervals.capacity());
  }
  const auto add = [&](const Rows& of, std::uint32_t row) {
    DeviceTimes& device = out[devices.of(of.stream[row])];
    device.intervals.push_back(of.interval(row));
    device.own.push_back(&(*of.own)[row]);
    device.in_step.push_back(whole || of.step_of[row] != 0);
  };
  std::uint32_t m = 0;
  for (std::uint32_t row = 0; row < kernels.ts.size(); ++row) {
    for (; m < memory.ts.size() && memory.ts[m] < kernels.ts[row]; ++m) add(memory, m);
    if (selected[row]) add(kernels, row);
  }
  for (; m < memory.ts.size(); ++m) add(memory, m);
  return out;
}

std::vector<std::uint32_t> memory_by_step(const EventTables& events, const StepSet& steps,
                                          const DenseDevices& devices) {
  const auto stream = events.memory.ids("stream_id");
  std::vector<std::uint32_t> rows(events.memory.size());
  std::iota(rows.begin(), rows.end(), 0U);
  std::ranges::stable_sort(rows, {},
                           [&](std::uint32_t row) { return std::pair(steps.of_memory[row], devices.of(stream[row])); });
  return rows;
}

using StepsByDevice = std::map<std::pair<std::uint32_t, std::uint32_t>, DeviceStep>;

// Takes the steps of idle devices out, with a note. `outside`: by device, ns of kernels in no step.
void leave_out(const std::set<std::int64_t>& idle, const std::vector<std::int64_t>& numbers,
               const std::vector<std::int64_t>& outside, StepsByDevice& steps, std::vector<std::string>& notes) {
  std::set<std::int64_t> devices;
  std::erase_if(steps, [&](const auto& one) {
    const std::int64_t number = numbers[one.first.second];
    if (idle.contains(number)) devices.insert(number);
    return idle.contains(number);
  });
  if (devices.empty()) return;
  std::int64_t in_none = 0;
  for (std::size_t device = 0; device < numbers.size(); ++device) {
    if (devices.contains(numbers[device])) in_none = saturating_add(in_none, outside[device]);
  }
  notes.push_back(fmt::format(
      "left out of what steps take: device{} {}, with less than a tenth of another one's kernel time in steps{}",
      devices.size() == 1 ? "" : "s", fmt::join(devices, ", "),
      in_none > 0 ? fmt::format(" ({:.3g} ms in no step)", static_cast<double>(in_none) / 1e6) : ""));
}

// Gives every interval of a kind the time that neither one of the kinds above nor an earlier one of its kind covers.
void share_out(std::span<const WorkInterval> intervals, Work work, std::initializer_list<Work> above,
               std::vector<std::int64_t>& out) {
  const auto is_above = [&](const WorkInterval& one) { return std::ranges::find(above, one.work) != above.end(); };
  auto next = intervals.begin();  // of those above, that which begins next
  std::int64_t until = INT64_MIN, covered = INT64_MIN;
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    const std::int64_t end = intervals[i].end;
    if (intervals[i].work != work || std::max(intervals[i].begin, until) >= end) continue;
    until = std::max(intervals[i].begin, until);
    while (until < end) {
      next = std::find_if(next, intervals.end(), is_above);
      const bool begins = next != intervals.end() && next->begin < end;
      const std::int64_t free = std::max(until, covered), stop = begins ? next->begin : end;
      out[i] += std::max<std::int64_t>(std::min(stop, end) - free, 0);
      until = std::max(until, stop);
      if (begins) covered = std::max(covered, next++->end);
    }
  }
}

}  // namespace

DeviceKernelTimes device_times(const EventTables& events, const StepSet& steps,
                               std::span<const std::uint32_t> kernel_rows) {
  const std::vector<std::int64_t> numbers = device_numbers(events);
  if (std::set(numbers.begin(), numbers.end()).size() < numbers.size()) return {};
  const DenseDevices dense(events.device_of_stream);
  const auto dur = events.kernels.int64s("dur");
  const auto stream = events.kernels.ids("stream_id");
  std::vector<std::int64_t> times(numbers.size());
  for (const std::uint32_t row : kernel_rows) {
    std::int64_t& time = times[dense.of(stream[row])];
    if (steps.steps.empty() || steps.of_kernel[row] != 0) time = saturating_add(time, duration_or_zero(dur[row]));
  }
  DeviceKernelTimes out;
  for (std::size_t i = 0; i < numbers.size(); ++i) out[numbers[i]] = times[i];
  return out;
}

std::vector<std::set<std::int64_t>> idle_devices(std::span<const DeviceKernelTimes> traces) {
  constexpr double kHardlyMore = 0.1;  // where it hardly works in another trace: near the limit the rule would differ
  std::set<std::int64_t> hardly;       // in any of them
  const auto add_below = [](double part, const DeviceKernelTimes& times, std::set<std::int64_t>& devices) {
    std::int64_t most = 0;
    for (const auto& one : times) most = std::max(most, one.second);
    for (const auto& one : times) {
      if (static_cast<double>(one.second) < part * static_cast<double>(most)) devices.insert(one.first);
    }
  };
  for (const DeviceKernelTimes& times : traces) add_below(kHardlyWorks, times, hardly);
  std::vector<std::set<std::int64_t>> out;
  for (const DeviceKernelTimes& times : traces) {
    add_below(kHardlyMore, times, out.emplace_back());
    std::erase_if(out.back(), [&](std::int64_t device) { return !hardly.contains(device); });
  }
  return out;
}

StepWork make_step_work(const EventTables& events, const StepSet& steps, LargeVector<std::uint32_t> kernel_rows,
                        const std::set<std::int64_t>& idle, bool copies) {
  const DenseDevices devices(events.device_of_stream);
  const bool whole = steps.steps.empty();
  StepWork out;
  out.kernel_rows = std::move(kernel_rows);
  if (copies) out.memory_rows = memory_by_step(events, steps, devices);
  out.kernel_own.assign(events.kernels.size(), 0);
  out.memory_own.assign(events.memory.size(), 0);
  const EventColumns& kernel = events.kernels;
  const EventColumns& memory = events.memory;
  const Rows kernels = {out.kernel_rows,     steps.of_kernel,    kernel.ids("stream_id"), kernel.ids("kind"),
                        kernel.int64s("ts"), kernel.busy_durs(), work_of_kernel,          &out.kernel_own};
  Rows operations = {out.memory_rows, {}, {}, {}, {}, {}, work_of_memory, &out.memory_own};
  if (copies) {
    operations = {out.memory_rows,     steps.of_memory,    memory.ids("stream_id"), memory.ids("kind"),
                  memory.int64s("ts"), memory.busy_durs(), work_of_memory,          &out.memory_own};
  }

  StepsByDevice found;
  std::vector<std::int64_t> outside_times(devices.count);
  for_each_stretch(kernels, devices, [&](const auto& place, std::size_t begin, std::size_t end) {
    std::int64_t time = 0;
    for (std::size_t i = begin; i < end; ++i)
      time = saturating_add(time, duration_or_zero(kernels.dur[kernels.rows[i]]));
    out.kernel_time = saturating_add(out.kernel_time, time);
    if (place.first == 0 && !whole) {
      out.outside_time = saturating_add(out.outside_time, time);
      std::int64_t& on_device = outside_times[place.second];
      on_device = saturating_add(on_device, time);
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
  leave_out(idle, device_numbers(events), outside_times, found, out.notes);
  std::vector<DeviceTimes> by_device = times_by_device(kernels, operations, devices, whole);
  out.steps.reserve(found.size());
  for (auto& [place, step] : found) {
    measure(kernels, operations, step);
    out.steps.push_back(step);
    by_device[place.second].steps.push_back(&out.steps.back());
  }
  constexpr double kMuch = 0.8;  // less of the steps is the devices' own work: it is said
  out.in_turns = widen(out.steps, devices.count) < kMuch;
  if (out.in_turns) {
    out.notes.emplace_back("devices take turns: on each, a step counts from its first work on any to its last");
  }
  std::vector<std::int64_t> times;
  for (DeviceTimes& device : by_device) {
    exclusive_times(device.intervals, times);
    for (std::size_t i = 0; i < times.size(); ++i) *device.own[i] = times[i];
    divide_time(device);
  }
  for (DeviceStep& step : out.steps) expose(kernels, operations, step);
  return out;
}

StepPeriods step_periods(const StepSet& set, std::span<const DeviceStep> steps) {
  std::vector<StepStart> starts;
  for (const DeviceStep& step : steps) starts.push_back({step.step, step.device, step.first + step.wait});
  return device_periods(set, starts);
}

std::string without_periods(const EventTables& events, const StepSet& set, const StepWork& work,
                            const StepPeriods& periods) {
  if (set.steps.empty()) return "";
  std::map<StepKind, std::map<std::uint32_t, bool>> kinds;  // by device: whether it has a period
  for (std::size_t i = 0; i < work.steps.size(); ++i) {
    const DeviceStep& step = work.steps[i];
    kinds[set.steps[step.step - 1].info.kind][step.device] |= periods.within_kind[i] != kUnknownValue;
  }
  const std::vector<std::int64_t> numbers = device_numbers(events);
  std::set<std::int64_t> without;
  for (const auto& [kind, devices] : kinds) {
    if (std::ranges::none_of(devices, [](const auto& one) { return one.second; })) continue;
    for (const auto& [device, has] : devices) {
      if (!has) without.insert(numbers[device]);
    }
  }
  if (without.empty()) return "";
  return fmt::format("left out where the time of a step is its period: device{} {}, which work{} in some steps only",
                     without.size() == 1 ? "" : "s", fmt::join(without, ", "), without.size() == 1 ? "s" : "");
}

std::vector<std::size_t> next_steps(const StepWork& work) {
  std::vector<std::size_t> next(work.steps.size());
  std::iota(next.begin(), next.end(), std::size_t{0});
  std::map<std::uint32_t, std::size_t> last;  // by device
  for (std::size_t i = 0; i < work.steps.size(); ++i) {
    const auto [before, is_first] = last.try_emplace(work.steps[i].device, i);
    if (!is_first) next[std::exchange(before->second, i)] = i;
  }
  return next;
}

std::vector<std::int64_t> device_numbers(const EventTables& events) {
  const DenseDevices dense(events.device_of_stream);
  std::vector<std::int64_t> out(dense.count, 0);
  for (std::size_t stream = 1; stream < events.device_of_stream.size(); ++stream) {
    const std::uint32_t device = events.device_of_stream[stream];
    if (device < events.device_ordinals.size()) out[dense.of_stream[stream]] = events.device_ordinals[device];
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

void exclusive_times(std::span<const WorkInterval> intervals, std::vector<std::int64_t>& out) {
  out.assign(intervals.size(), 0);
  share_out(intervals, Work::kCompute, {}, out);
  share_out(intervals, Work::kComm, {Work::kCompute}, out);
  share_out(intervals, Work::kCopy, {Work::kCompute, Work::kComm}, out);
}

}  // namespace tracedb
