// Exclusive time of events, so that sums over events are elapsed time: an instant belongs to computation if anything
// computes, else to communication, else to a copy; among several events of a kind, to the one that started first. Pure,
// linear.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "passes/columns/device_events.h"

namespace tracedb {

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
