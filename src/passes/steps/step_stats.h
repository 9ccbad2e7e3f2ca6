// Figures of each step: schema/METRICS.md 7. Pure functions on columns.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/unknown.h"

namespace tracedb {

// Events of one table in time order; unknown durations are kUnknownValue. `step`: place + 1; 0: in none.
struct SteppedEvents {
  std::span<const std::int64_t> ts, dur;
  std::span<const std::uint32_t> stream, step;
};

// All times in ns. Spans and busy times are those of the device where they are longest: devices work at the same time.
struct StepStats {
  std::int64_t kernels = 0;
  std::int64_t known = 0;                 // kernels whose duration is known
  std::int64_t kernel_time = 0;           // sum of their durations, at most 2^63 - 1
  std::int64_t first = kUnknownValue;     // start of its first kernel, copy or fill; kUnknownValue: there is none
  std::int64_t gpu_span = kUnknownValue;  // from the start of the first to the end of the last on a device
  std::int64_t gpu_busy = kUnknownValue;  // union of kernels, copies and fills on a device
};

// By id of stream (from 1): a number for its device, counted from 0 without gaps. Unknown streams count for the first.
struct DenseDevices {
  std::vector<std::uint32_t> of_stream;
  std::size_t count = 1;

  explicit DenseDevices(std::span<const std::uint32_t> device_of_stream);
  [[nodiscard]] std::size_t of(std::uint32_t stream) const { return stream < of_stream.size() ? of_stream[stream] : 0; }
};

// Element 0 is of what is in no step, element i + 1 of step i; `steps` of them.
std::vector<StepStats> step_stats(const SteppedEvents& kernels, const SteppedEvents& memory,
                                  std::span<const std::uint32_t> device_of_stream, std::size_t steps);

// Of each step: the start of the next one on its track less its own; kUnknownValue for the last, and where a start is
// unknown. Steps are in time order.
std::vector<std::int64_t> periods(std::span<const std::int64_t> start, std::span<const std::uint32_t> track);

// The longest run of steps, [first, last), whose requests in decode are at least 95 % of the most of any step: without
// the ramps at both ends. Empty where no step decodes; -1: not known.
struct StepRange {
  std::size_t first = 0, last = 0;
};
StepRange steady_steps(std::span<const std::int64_t> generation_requests);

// The mean of the middle one or two; nullopt for none.
std::optional<double> median_of(std::vector<std::int64_t> values);

}  // namespace tracedb
