// Which step a launch is in whose own thread has no mark around it: the rule for step marks that take in more than
// their own thread (StepScope in step_grammar.h). Ingest and the queries that find steps anew both ask here.
//
// The step is that of the innermost mark around the launch that covers it. Where marks of several threads do, and are
// not of one step, it cannot be told.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/step_grammar.h"

namespace tracedb {

// The marks of one process that are open at a point in time that only moves forward.
class ProcessMarks {
 public:
  // A mark of `thread`, over [now, end). Marks come in the order of their starts, the outer one first.
  void open(std::int64_t end, std::uint32_t thread, std::uint32_t step, StepScope scope) {
    if (scope != StepScope::kThread) marks_.push_back({end, thread, step, scope});
  }

  [[nodiscard]] bool empty() const { return marks_.empty(); }

  // The step of a launch at `t`; 0: none, or not to be told. `backward`: whether it is of the backward pass.
  std::uint32_t step_at(std::int64_t t, bool backward) {
    std::erase_if(marks_, [t](const Mark& mark) { return mark.end <= t; });
    std::uint32_t step = 0;
    seen_.clear();
    for (auto mark = marks_.rbegin(); mark != marks_.rend(); ++mark) {
      if (mark->scope != StepScope::kProcess && !backward) continue;
      bool inner_seen = false;
      for (const std::uint32_t thread : seen_) inner_seen |= thread == mark->thread;
      if (inner_seen) continue;
      seen_.push_back(mark->thread);
      if (step != 0 && mark->step != step) return 0;
      step = mark->step;
    }
    return step;
  }

 private:
  struct Mark {
    std::int64_t end;
    std::uint32_t thread, step;
    StepScope scope;
  };

  std::vector<Mark> marks_;
  std::vector<std::uint32_t> seen_;  // threads, kept for its memory
};

}  // namespace tracedb
