// Statistics of device time by group (a kernel name, a class, a phase ...): schema/METRICS.md 3. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace tracedb {

using GroupId = std::uint32_t;
inline constexpr GroupId kNoGroup = std::numeric_limits<GroupId>::max();

// All times in ns. What has no known duration counts in `count` and in nothing else.
struct GroupStats {
  std::int64_t count = 0;
  std::int64_t known = 0;  // those whose duration is known: what all figures below are of
  std::int64_t total = 0;  // at most 2^63 - 1
  std::int64_t busy = 0;   // union of the intervals, taken per device and added up over devices
  std::int64_t min = 0, max = 0;
  double median = 0;              // mean of the middle one or two
  std::int64_t p90 = 0, p99 = 0;  // nearest rank
  double stddev = 0;              // of the sample (n - 1); 0 for one
};

// One element for each event in time order. Unknown durations are kUnknownValue.
struct GroupedEvents {
  std::span<const std::int64_t> ts, dur;
  std::span<const std::uint32_t> stream;  // an id into `device_of_stream`; others are on device 0
  std::span<const std::uint32_t> device_of_stream;
  std::span<const GroupId> group;  // kNoGroup: left out
};

// By group id, `groups` of them. Two passes over the events and a selection in each group: linear.
std::vector<GroupStats> group_stats(const GroupedEvents& events, std::size_t groups);

// The same of values that are no events, none of which is unknown: without busy.
std::vector<GroupStats> value_stats(std::span<const std::int64_t> values, std::span<const GroupId> group,
                                    std::size_t groups);

// The same without what takes the second pass: count, known, total and busy.
std::vector<GroupStats> group_totals(const GroupedEvents& events, std::size_t groups);

// Union of the intervals of all events that are in a group, per device, added up over devices.
std::int64_t busy_time(const GroupedEvents& events);

}  // namespace tracedb
