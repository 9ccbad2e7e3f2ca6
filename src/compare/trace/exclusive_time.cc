#include "compare/trace/exclusive_time.h"

#include <algorithm>

namespace tracedb {
namespace {

struct Stretch {
  std::int64_t begin, end;
};

// Disjoint stretches in order, and how much of an interval they leave free. Queries come in order of begin.
class Cover {
 public:
  [[nodiscard]] std::int64_t free_time(std::int64_t begin, std::int64_t end) {
    while (next_ < stretches_.size() && stretches_[next_].end <= begin) ++next_;
    std::int64_t free = end - begin;
    for (std::size_t i = next_; i < stretches_.size() && stretches_[i].begin < end; ++i) {
      free -= std::min(stretches_[i].end, end) - std::max(stretches_[i].begin, begin);
    }
    return free;
  }
  // In order of begin; what is covered already is left out.
  void add(std::int64_t begin, std::int64_t end) {
    if (!stretches_.empty()) begin = std::max(begin, stretches_.back().end);
    if (begin >= end) return;
    if (!stretches_.empty() && stretches_.back().end == begin) {
      stretches_.back().end = end;
    } else {
      stretches_.push_back({begin, end});
    }
  }
  [[nodiscard]] const std::vector<Stretch>& stretches() const { return stretches_; }

 private:
  std::vector<Stretch> stretches_;
  std::size_t next_ = 0;
};

// Both in order of begin.
Cover united(const Cover& a, const Cover& b) {
  Cover out;
  const auto& first = a.stretches();
  const auto& second = b.stretches();
  for (std::size_t i = 0, j = 0; i < first.size() || j < second.size();) {
    const bool take_first = j == second.size() || (i < first.size() && first[i].begin <= second[j].begin);
    const Stretch& next = take_first ? first[i++] : second[j++];
    out.add(next.begin, next.end);
  }
  return out;
}

// Gives every interval of a kind the time that neither `above` nor an earlier one of its kind covers.
Cover share_out(std::span<const WorkInterval> intervals, Work work, Cover above, std::vector<std::int64_t>& out) {
  Cover own;
  std::int64_t until = INT64_MIN;
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    if (intervals[i].work != work) continue;
    const std::int64_t begin = std::max(intervals[i].begin, until);
    if (begin >= intervals[i].end) continue;
    out[i] = above.free_time(begin, intervals[i].end);
    own.add(begin, intervals[i].end);
    until = intervals[i].end;
  }
  return own;
}

}  // namespace

void exclusive_times(std::span<const WorkInterval> intervals, std::vector<std::int64_t>& out) {
  out.assign(intervals.size(), 0);
  const Cover compute = share_out(intervals, Work::kCompute, {}, out);
  const Cover comm = share_out(intervals, Work::kComm, compute, out);
  share_out(intervals, Work::kCopy, united(compute, comm), out);
}

}  // namespace tracedb
