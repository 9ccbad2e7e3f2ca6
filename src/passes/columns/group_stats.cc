#include "passes/columns/group_stats.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/statistics.h"
#include "base/unknown.h"
#include "sql/file/column_scan.h"

namespace tracedb {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

// How far the intervals of a group on a device reach so far.
class GroupCover {
 public:
  GroupCover(std::size_t groups, std::span<const std::uint32_t> device_of_stream)
      : device_of_stream_(device_of_stream),
        devices_(1 + std::accumulate(device_of_stream.begin(), device_of_stream.end(), std::size_t{0},
                                     [](std::size_t a, std::size_t b) { return std::max(a, b); })),
        until_(groups * devices_, kUnknownValue) {}

  // How much [ts, ts + dur) adds. Events come in order of ts.
  std::int64_t add(GroupId group, std::uint32_t stream, std::int64_t ts, std::int64_t dur) {
    const std::size_t device = stream < device_of_stream_.size() ? device_of_stream_[stream] : 0;
    std::int64_t& until = until_[group * devices_ + device];
    const std::int64_t end = saturating_add(ts, dur);
    const std::int64_t begin = std::max(ts, until);
    if (end <= begin) return 0;
    until = end;
    return end - begin;
  }

 private:
  std::span<const std::uint32_t> device_of_stream_;
  std::size_t devices_;
  std::vector<std::int64_t> until_;
};

// The value at place `rank` of all, where those from `sorted_to` on are not below those before.
std::int64_t select(std::span<std::int64_t> values, std::size_t sorted_to, std::size_t rank) {
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(rank);
  if (rank >= sorted_to) std::nth_element(values.begin() + static_cast<std::ptrdiff_t>(sorted_to), place, values.end());
  return *place;
}

// From the mean, not from a sum of squares: durations that differ little would cancel out there.
double sample_stddev(std::span<const std::int64_t> values, double mean) {
  if (values.size() < 2) return 0;
  double squares = 0;
  for (const std::int64_t value : values) {
    const double difference = static_cast<double>(value) - mean;
    squares += difference * difference;
  }
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

// Each selection leaves what is above its place behind it: the next one need not look at the rest.
void describe(std::span<std::int64_t> durations, GroupStats& stats) {
  if (durations.empty()) return;
  const std::size_t count = durations.size();
  double sum = static_cast<double>(stats.total);
  if (stats.total == kMost) sum = std::accumulate(durations.begin(), durations.end(), 0.0);
  stats.stddev = sample_stddev(durations, sum / static_cast<double>(count));
  const std::size_t middle = count / 2, rank90 = nearest_rank(count, 90), rank99 = nearest_rank(count, 99);
  const std::int64_t upper = select(durations, 0, middle);
  stats.p90 = select(durations, middle + 1, rank90);
  stats.p99 = select(durations, rank90 + 1, rank99);
  stats.max = *std::max_element(durations.begin() + static_cast<std::ptrdiff_t>(rank99), durations.end());
  const auto below = durations.first(std::max<std::size_t>(middle, 1));
  const auto [min, lower] = std::ranges::minmax_element(below);
  stats.min = *min;
  const auto mean = [](std::int64_t a, std::int64_t b) {
    return (static_cast<double>(a) + static_cast<double>(b)) / 2;
  };
  stats.median = count % 2 == 1 ? static_cast<double>(upper) : mean(*lower, upper);
}

// What takes all values of a group together; `stats` says how many there are.
void describe(std::span<const std::int64_t> values, std::span<const GroupId> group, std::vector<GroupStats>& stats) {
  std::vector<std::size_t> end(1, 0);
  for (const GroupStats& own : stats) end.push_back(end.back() + static_cast<std::size_t>(own.known));
  ColumnArray<std::int64_t> memory(end.back());
  const std::span<std::int64_t> sorted = memory.values();
  std::vector<std::size_t> next(end.begin(), end.end() - 1);
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (group[i] != kNoGroup && values[i] != kUnknownValue) sorted[next[group[i]]++] = values[i];
  }
  for (std::size_t g = 0; g < stats.size(); ++g) describe(sorted.subspan(end[g], end[g + 1] - end[g]), stats[g]);
}

}  // namespace

std::int64_t busy_time(const GroupedEvents& events) {
  GroupCover cover(1, events.device_of_stream);
  std::int64_t busy = 0;
  for (std::size_t i = 0; i < events.group.size(); ++i) {
    if (events.group[i] == kNoGroup || events.dur[i] == kUnknownValue) continue;
    busy = saturating_add(busy, cover.add(0, events.stream[i], events.ts[i], events.dur[i]));
  }
  return busy;
}

std::vector<GroupStats> group_totals(const GroupedEvents& events, std::size_t groups) {
  std::vector<GroupStats> stats(groups);
  GroupCover cover(groups, events.device_of_stream);
  for (std::size_t i = 0; i < events.group.size(); ++i) {
    const GroupId group = events.group[i];
    if (group == kNoGroup) continue;
    GroupStats& own = stats[group];
    ++own.count;
    if (events.dur[i] == kUnknownValue) continue;
    ++own.known;
    own.total = saturating_add(own.total, events.dur[i]);
    own.busy = saturating_add(own.busy, cover.add(group, events.stream[i], events.ts[i], events.dur[i]));
  }
  return stats;
}

std::vector<GroupStats> group_stats(const GroupedEvents& events, std::size_t groups) {
  std::vector<GroupStats> stats = group_totals(events, groups);
  describe(events.dur, events.group, stats);
  return stats;
}

std::vector<GroupStats> value_stats(std::span<const std::int64_t> values, std::span<const GroupId> group,
                                    std::size_t groups) {
  std::vector<GroupStats> stats(groups);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (group[i] == kNoGroup) continue;
    GroupStats& own = stats[group[i]];
    own.known = ++own.count;
    own.total = saturating_add(own.total, values[i]);
  }
  describe(values, group, stats);
  return stats;
}

}  // namespace tracedb
