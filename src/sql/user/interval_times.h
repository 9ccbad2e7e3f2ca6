// Time covered by intervals, and time in which two or more of them run at once: integers without a unit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace tracedb {

struct TimeInterval {
  std::int64_t begin = 0, end = 0;  // [begin, end)
};

class IntervalTimes {
 public:
  // Intervals must come in the order of their begin: false for one that does not, which is left out.
  bool add(TimeInterval interval) {
    if (interval.begin < begin_) return false;
    begin_ = interval.begin;
    covered_ += length(std::max(interval.begin, end_), interval.end);
    const std::int64_t shared_end = std::min(interval.end, end_);
    shared_ += length(std::max(interval.begin, shared_end_), shared_end);
    shared_end_ = std::max(shared_end_, shared_end);
    end_ = std::max(end_, interval.end);
    return true;
  }
  [[nodiscard]] std::int64_t covered() const { return cut(covered_); }
  [[nodiscard]] std::int64_t shared() const { return cut(shared_); }

 private:
  static std::uint64_t length(std::int64_t begin, std::int64_t end) {
    return end > begin ? static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(begin) : 0;
  }
  static std::int64_t cut(std::uint64_t time) {
    return static_cast<std::int64_t>(std::min<std::uint64_t>(time, std::numeric_limits<std::int64_t>::max()));
  }

  static constexpr std::int64_t kBefore = std::numeric_limits<std::int64_t>::min();
  std::int64_t begin_ = kBefore;            // of the last interval
  std::int64_t end_ = kBefore;              // of the one that ends last
  std::int64_t shared_end_ = kBefore;       // of the last time that two share
  std::uint64_t covered_ = 0, shared_ = 0;  // all integers together are 2^64
};

// Of intervals in any order. Few that come late, such as copies behind kernels, cost little.
inline IntervalTimes times_of(std::vector<TimeInterval> intervals) {
  const auto before = [](TimeInterval a, TimeInterval b) { return a.begin < b.begin; };
  const auto late = std::is_sorted_until(intervals.begin(), intervals.end(), before);
  std::sort(late, intervals.end(), before);
  std::inplace_merge(intervals.begin(), late, intervals.end(), before);
  IntervalTimes times;
  for (const TimeInterval interval : intervals) times.add(interval);
  return times;
}

}  // namespace tracedb
