#include "passes/steps/step_stats.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "base/statistics.h"

namespace tracedb {
namespace {

// Devices beyond these, of which no trace of one machine has as many, count for the last of them.
constexpr std::size_t kMostDevices = 1024;

// Tokens or requests in prefill or decode, and the other of these.
struct Load {
  std::optional<std::int64_t> own, other;
};

// What is not said is 0, but of a step that has some of it.
std::optional<std::int64_t> sum_of(StepKind kind, const Load& context, const Load& generation) {
  const auto lacks = [kind](const Load& load, StepKind of) {
    return !load.own && (kind == of || load.other.value_or(0) > 0);
  };
  if (lacks(context, StepKind::kPrefill) || lacks(generation, StepKind::kDecode)) return std::nullopt;
  if (!context.own && !generation.own) return std::nullopt;
  return saturating_add(std::max<std::int64_t>(context.own.value_or(0), 0),
                        std::max<std::int64_t>(generation.own.value_or(0), 0));
}

StepKind kind_of(const StepSet& set, const StepStart& start) { return set.steps[start.step - 1].info.kind; }

// Steps of several devices are marked on the one that began first: those that follow each other are of one track.
bool follow_each_other_on_devices(const StepSet& set) {
  std::int64_t end = std::numeric_limits<std::int64_t>::min();
  for (const StepFacts& step : set.steps) {
    if (!step.on_device || step.ts == kUnknownValue) continue;
    if (step.ts < end) return false;
    end = saturating_add(step.ts, duration_or_zero(step.dur));
  }
  return true;
}

}  // namespace

DenseDevices::DenseDevices(std::span<const std::uint32_t> device_of_stream) : of_stream(device_of_stream.size(), 0) {
  std::map<std::uint32_t, std::uint32_t> numbers;
  for (std::size_t stream = 1; stream < device_of_stream.size(); ++stream) {
    const auto next = static_cast<std::uint32_t>(std::min(numbers.size(), kMostDevices - 1));
    of_stream[stream] = numbers.try_emplace(device_of_stream[stream], next).first->second;
  }
  count = std::clamp<std::size_t>(numbers.size(), 1, kMostDevices);
}

std::vector<StepStats> step_stats(const SteppedEvents& kernels, const SteppedEvents& memory,
                                  std::span<const std::uint32_t> device_of_stream, std::size_t steps) {
  struct OnDevice {
    std::int64_t first = kUnknownValue, until = kUnknownValue, busy = 0;
  };
  const DenseDevices devices(device_of_stream);
  std::vector<StepStats> out(steps + 1);
  std::vector<OnDevice> extents(out.size() * devices.count);  // by step, then device
  const auto add = [&](const SteppedEvents& events, std::size_t i, bool is_kernel) {
    const std::size_t step = events.step[i] < out.size() ? events.step[i] : 0;
    StepStats& own = out[step];
    const std::int64_t dur = events.dur[i];
    if (is_kernel) {
      own.last_kernel = static_cast<std::uint32_t>(i + 1);
      if (own.kernels++ == 0) own.first_kernel = own.last_kernel, own.kernels_begin = events.ts[i];
      if (dur != kUnknownValue) {
        ++own.known;
        own.kernel_time = saturating_add(own.kernel_time, dur);
        own.kernels_end = std::max(own.kernels_end, saturating_add(events.ts[i], dur));
      }
    }
    if (own.first == kUnknownValue) own.first = events.ts[i];
    if (dur == kUnknownValue) return;
    OnDevice& extent = extents[step * devices.count + devices.of(events.stream[i])];
    const std::int64_t ts = std::max<std::int64_t>(events.ts[i], 0);  // so that differences do not overflow
    if (extent.first == kUnknownValue) extent.first = extent.until = ts;
    const std::int64_t end = saturating_add(ts, std::max<std::int64_t>(dur, 0));
    extent.busy += std::max<std::int64_t>(end - std::max(ts, extent.until), 0);
    extent.until = std::max(extent.until, end);
  };
  std::size_t copy = 0;
  for (std::size_t i = 0; i < kernels.ts.size(); ++i) {
    while (copy < memory.ts.size() && memory.ts[copy] < kernels.ts[i]) add(memory, copy++, false);
    add(kernels, i, true);
  }
  while (copy < memory.ts.size()) add(memory, copy++, false);
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const OnDevice& extent = extents[i];
    if (extent.first == kUnknownValue) continue;
    StepStats& own = out[i / devices.count];
    own.gpu_span = std::max(own.gpu_span, extent.until - extent.first);
    own.gpu_busy = std::max(own.gpu_busy, extent.busy);
  }
  return out;
}

std::vector<Extent> extents_of_steps(const StepSet& set, const EventTables& events) {
  std::vector<Extent> out(set.steps.size(), {std::numeric_limits<std::int64_t>::max(), 0});
  const auto add = [&](const EventColumns& table, std::span<const std::uint32_t> of) {
    const auto ts = table.int64s("ts"), dur = table.int64s("dur");
    for (std::size_t i = 0; i < of.size(); ++i) {
      if (of[i] == 0 || of[i] > out.size()) continue;
      Extent& own = out[of[i] - 1];
      own = {std::min(own.begin, ts[i]), std::max(own.end, saturating_add(ts[i], duration_or_zero(dur[i])))};
    }
  };
  add(events.kernels, set.of_kernel);
  add(events.memory, set.of_memory);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const StepFacts& step = set.steps[i];
    if (step.ts == kUnknownValue) continue;
    out[i] = {step.ts, std::max(out[i].end, saturating_add(step.ts, duration_or_zero(step.dur)))};
  }
  return out;
}

StepRange steady_steps(std::span<const std::int64_t> generation_requests) {
  StepRange best;
  if (generation_requests.empty()) return best;
  const std::int64_t most = *std::ranges::max_element(generation_requests);
  if (most <= 0) return best;
  for (std::size_t i = 0; i < generation_requests.size();) {
    std::size_t end = i;
    while (end < generation_requests.size() &&
           static_cast<double>(generation_requests[end]) >= 0.95 * static_cast<double>(most)) {
      ++end;
    }
    if (end - i > best.last - best.first) best = {i, end};
    i = end + 1;
  }
  return best;
}

std::optional<double> median_of(std::vector<std::int64_t> values) {
  return values.empty() ? std::nullopt : std::optional(median(std::span(values)));
}

std::vector<StepMean> means_of_steps(std::span<const std::uint32_t> steps, std::span<const std::int64_t> values) {
  std::vector<StepMean> out;
  std::int64_t devices = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == kUnknownValue) continue;
    const bool is_next = out.empty() || out.back().step != steps[i];
    devices = is_next ? 1 : devices + 1;
    if (is_next) out.push_back({steps[i], 0});
    out.back().mean += (values[i] - out.back().mean) / devices;
  }
  return out;
}

std::vector<std::uint32_t> earlier_on_track(const StepSet& set) {
  const bool is_one = follow_each_other_on_devices(set);
  std::vector<std::uint32_t> out;
  std::map<std::pair<bool, std::uint32_t>, std::uint32_t> latest;
  for (const StepFacts& step : set.steps) {
    std::uint32_t& last = latest[{step.on_device, step.on_device && is_one ? 0 : step.track}];
    out.push_back(last);
    last = static_cast<std::uint32_t>(out.size());
  }
  return out;
}

std::optional<std::int64_t> tokens_of(const StepInfo& info) {
  return sum_of(info.kind, {info.context_tokens, info.context_requests},
                {info.generation_tokens, info.generation_requests});
}

std::optional<std::int64_t> requests_of(const StepInfo& info) {
  return sum_of(info.kind, {info.context_requests, info.context_tokens},
                {info.generation_requests, info.generation_tokens});
}

std::vector<StepStart> step_starts(const SteppedEvents& kernels, const SteppedEvents& memory,
                                   std::span<const std::uint32_t> device_of_stream, std::size_t steps) {
  const DenseDevices devices(device_of_stream);
  std::vector<std::int64_t> first((steps + 1) * devices.count, kUnknownValue);
  const auto first_of = [&](const SteppedEvents& events, std::size_t i) -> std::int64_t& {
    return first[(events.step[i] <= steps ? events.step[i] : 0) * devices.count + devices.of(events.stream[i])];
  };
  for (std::size_t i = 0; i < kernels.ts.size(); ++i) {
    std::int64_t& own = first_of(kernels, i);
    if (own == kUnknownValue) own = std::max<std::int64_t>(kernels.ts[i], 0);
  }
  for (std::size_t i = 0; i < memory.ts.size(); ++i) {
    std::int64_t& own = first_of(memory, i);
    if (own != kUnknownValue) own = std::min(own, std::max<std::int64_t>(memory.ts[i], 0));
  }
  std::vector<StepStart> out;
  for (std::size_t i = devices.count; i < first.size(); ++i) {
    if (first[i] == kUnknownValue) continue;
    out.push_back(
        {static_cast<std::uint32_t>(i / devices.count), static_cast<std::uint32_t>(i % devices.count), first[i]});
  }
  return out;
}

StepPeriods device_periods(const StepSet& set, std::span<const StepStart> starts) {
  StepPeriods out{std::vector<std::int64_t>(starts.size(), kUnknownValue), std::vector<Transition>(starts.size())};
  const std::vector<std::uint32_t> earlier = earlier_on_track(set);
  std::map<std::uint32_t, std::size_t> last;  // by device
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const StepStart& start = starts[i];
    if (start.step == 0) continue;
    const auto [before, is_first] = last.try_emplace(start.device, i);
    if (is_first) continue;
    const std::size_t previous = std::exchange(before->second, i);
    const std::int64_t period = start.first - starts[previous].first;
    if (earlier[start.step - 1] != starts[previous].step || period <= 0) continue;
    const StepKind kind = kind_of(set, start);
    if (kind == kind_of(set, starts[previous])) {
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

}  // namespace tracedb
