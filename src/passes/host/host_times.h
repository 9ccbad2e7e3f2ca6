// What the host did during given intervals of time, each looked at on one thread: the innermost of the open events of a
// kind, such as operators or python frames, as times that add up to the interval. One sweep over the events, which
// costs little for those between the intervals.
//
// Events of a thread nest by time. One that outlasts another that started before it counts from where that one ends, as
// with the paths of table python_call.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/dense_index.h"

namespace tracedb {

// A gap of a device, and the thread whose activity is in question.
struct HostGap {
  std::int64_t begin = 0, end = 0;  // ns, [begin, end)
  std::uint32_t thread = 0;         // id in thread; 0: unknown, nothing is known of it
  std::uint32_t tally = 0;          // gaps of one tally are added up; tallies are numbered from 0
};

// In order of start, the longer first. All columns are equally long.
struct HostEvents {
  std::span<const std::int64_t> ts, dur;          // ns; unknown durations are kUnknownValue: no time
  std::span<const std::uint32_t> thread, label;   // id in thread; what the event is
  std::span<const std::uint32_t> place_of_label;  // what is reported, kNoPlace: nothing; empty: the label
};
inline constexpr std::uint32_t kNoPlace = 0;

struct PlaceTime {
  std::uint32_t place = kNoPlace;
  std::uint32_t started = 0;  // events that start in the gaps at this place, or at one inside it that is none
  std::int64_t time = 0;      // ns, of the gaps
  bool operator==(const PlaceTime&) const = default;
};

// By tally, each place once; nothing where it has no gaps. What is missing to the length of its gaps is the time in
// which no place was open.
struct HostTimes {
  struct Range {
    std::uint32_t begin = 0, count = 0;
  };
  std::vector<Range> ranges;  // by tally: of `times`
  std::vector<PlaceTime> times;
  [[nodiscard]] std::span<const PlaceTime> of(std::size_t tally) const {
    return tally < ranges.size() ? std::span(times).subspan(ranges[tally].begin, ranges[tally].count)
                                 : std::span<const PlaceTime>();
  }
};

// Adds up by place. What comes next mostly is at the place of what came before.
class PlaceSums {
 public:
  void add(const PlaceTime& one);
  [[nodiscard]] const std::vector<PlaceTime>& sums() const { return sums_; }

 private:
  DenseIndex at_;
  std::vector<PlaceTime> sums_;
  std::size_t last_ = 0;
};

std::size_t tallies_of(std::span<const HostGap> gaps);  // one more than the largest
HostTimes host_times(const HostEvents& events, std::span<const HostGap> gaps);

// The same of events that come a part after the other, for one kind after the other: the gaps are put in order once.
class HostSweep {
 public:
  explicit HostSweep(std::span<const HostGap> gaps);
  ~HostSweep();
  HostSweep& operator=(HostSweep&&) = delete;

  void add(const HostEvents& events);  // those that start next
  HostTimes finish();                  // of all that was added since the last call

 private:
  struct Threads;
  std::unique_ptr<Threads> threads_;
};

}  // namespace tracedb
