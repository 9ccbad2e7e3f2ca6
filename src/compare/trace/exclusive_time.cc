#include "compare/trace/exclusive_time.h"

#include <algorithm>
#include <initializer_list>

namespace tracedb {
namespace {

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

void exclusive_times(std::span<const WorkInterval> intervals, std::vector<std::int64_t>& out) {
  out.assign(intervals.size(), 0);
  share_out(intervals, Work::kCompute, {}, out);
  share_out(intervals, Work::kComm, {Work::kCompute}, out);
  share_out(intervals, Work::kCopy, {Work::kCompute, Work::kComm}, out);
}

}  // namespace tracedb
