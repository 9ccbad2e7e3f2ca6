// Time that belongs to one event alone, so that sums over events are elapsed time: an instant belongs to computation if
// something computes, else to communication, else to a copy; among several of a kind to the one that started first.
// Pure, linear.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "passes/device_events.h"

namespace tracedb {

// end >= begin; in order of begin within one kind of work.
struct WorkInterval {
  std::int64_t begin = 0, end = 0;
  Work work = Work::kCompute;
};

// By interval, in ns. The sums of those of kCompute, kComm and kCopy are computation, exposed_comm and exposed_copy.
void exclusive_times(std::span<const WorkInterval> intervals, std::vector<std::int64_t>& out);

}  // namespace tracedb
