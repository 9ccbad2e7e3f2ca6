#include "compare/trace/exclusive_time.h"

#include <algorithm>
#include <initializer_list>

#include "base/time_cover.h"

namespace tracedb {
namespace {

// What intervals of these kinds cover.
TimeCover cover_of(std::span<const WorkInterval> intervals, std::initializer_list<Work> kinds) {
  TimeCover out;
  for (const WorkInterval& one : intervals) {
    if (std::ranges::find(kinds, one.work) != kinds.end()) out.add(one.begin, one.end);
  }
  return out;
}

// Gives every interval of a kind the time that neither `above` nor an earlier one of its kind covers.
void share_out(std::span<const WorkInterval> intervals, Work work, const TimeCover& above,
               std::vector<std::int64_t>& out) {
  std::int64_t until = INT64_MIN;
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    if (intervals[i].work != work) continue;
    const std::int64_t begin = std::max(intervals[i].begin, until);
    if (begin >= intervals[i].end) continue;
    out[i] = intervals[i].end - begin - above.covered(begin, intervals[i].end);
    until = intervals[i].end;
  }
}

}  // namespace

void exclusive_times(std::span<const WorkInterval> intervals, std::vector<std::int64_t>& out) {
  out.assign(intervals.size(), 0);
  share_out(intervals, Work::kCompute, {}, out);
  share_out(intervals, Work::kComm, cover_of(intervals, {Work::kCompute}), out);
  share_out(intervals, Work::kCopy, cover_of(intervals, {Work::kCompute, Work::kComm}), out);
}

}  // namespace tracedb
