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

namespace tracedb {

// A gap of a device, and the thread whose activity is in question.
struct HostGap {
  std::int64_t begin = 0, end = 0;  // ns, [begin, end)
  std::uint32_t thread = 0;         // id in thread; 0: unknown, nothing is known of it
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
  std::int64_t time = 0;     // ns, of the gap
  std::int64_t started = 0;  // events that start in the gap at this place, or at one inside it that is none
  bool operator==(const PlaceTime&) const = default;
};

// Of one gap after the other: those of gap i are [begin[i], begin[i + 1]) of `times`, in order of place, each once.
// What is missing to the length of the gap is the time in which no place was open.
struct HostTimes {
  std::vector<std::size_t> begin;
  std::vector<PlaceTime> times;
  [[nodiscard]] std::span<const PlaceTime> of(std::size_t gap) const {
    return std::span(times).subspan(begin[gap], begin[gap + 1] - begin[gap]);
  }
};

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
