// Which step a launch is in whose own thread has no mark around it: the rule for step marks that take in more than
// their own thread (StepScope in step_grammar.h). Ingest and the queries that find steps anew both ask here.
//
// The step is that of the innermost mark around the launch that covers it. Where marks of several threads do, and are
// not of one step, it cannot be told.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/step_grammar.h"

namespace tracedb {

// Of the marks of several threads that are open at a point in time that only moves forward: the step that the innermost
// of every thread are of. Amortised O(log marks) a call, however many are open.
class InnermostMarks {
 public:
  // A mark of `thread`, over [now, end). Marks come in the order of their starts, the outer one first.
  void open(std::int64_t end, std::uint32_t thread, std::uint32_t step) {
    std::vector<Mark>& marks = threads_[thread];
    if (!marks.empty()) leave(marks.back().step);
    while (!marks.empty() && marks.back().end <= end) marks.pop_back();  // never seen again
    marks.push_back({end, step});
    ++steps_[step];
    ends_.emplace(end, thread);
  }

  // The one step of all innermost marks open at `t`; 0: none is, or they are not of one step.
  std::uint32_t step_at(std::int64_t t) {
    for (; !ends_.empty() && ends_.top().first <= t; ends_.pop()) end_marks(ends_.top().second, t);
    return steps_.size() == 1 ? steps_.begin()->first : 0;
  }

  [[nodiscard]] bool empty() const { return ends_.empty(); }

 private:
  struct Mark {
    std::int64_t end;
    std::uint32_t step;
  };
  using End = std::pair<std::int64_t, std::uint32_t>;  // when a mark of which thread ends

  void leave(std::uint32_t step) {
    const auto left = steps_.find(step);
    if (--left->second == 0) steps_.erase(left);
  }

  void end_marks(std::uint32_t thread, std::int64_t t) {
    const auto found = threads_.find(thread);
    if (found == threads_.end() || found->second.back().end > t) return;
    std::vector<Mark>& marks = found->second;
    leave(marks.back().step);
    while (!marks.empty() && marks.back().end <= t) marks.pop_back();
    if (marks.empty()) {
      threads_.erase(found);
    } else {
      ++steps_[marks.back().step];
    }
  }

  std::unordered_map<std::uint32_t, std::vector<Mark>> threads_;  // each ends before the one below it; none is empty
  std::unordered_map<std::uint32_t, std::uint32_t> steps_;        // how many threads' innermost marks are of each
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

// The marks of one process.
class ProcessMarks {
 public:
  // As InnermostMarks::open().
  void open(std::int64_t end, std::uint32_t thread, std::uint32_t step, StepScope scope) {
    if (scope == StepScope::kThread) return;
    backward_.open(end, thread, step);
    if (scope == StepScope::kProcess) process_.open(end, thread, step);
  }

  [[nodiscard]] bool empty() const { return backward_.empty(); }

  // The step of a launch at `t`; 0: none, or not to be told. `backward`: whether it is of the backward pass.
  std::uint32_t step_at(std::int64_t t, bool backward) {
    const std::uint32_t any = backward_.step_at(t);
    return backward ? any : process_.step_at(t);
  }

 private:
  InnermostMarks process_;   // those of a whole process
  InnermostMarks backward_;  // with those that take in the backward pass only
};

}  // namespace tracedb
