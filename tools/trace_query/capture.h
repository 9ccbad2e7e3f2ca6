// --capture: a second trace, opened once for all inputs of a run, that lends operators, stacks and layers to their
// graph replays (passes/capture.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "passes/capture/capture.h"
#include "trace_query/open.h"
#include "trace_query/options.h"
#include "trace_query/rules.h"

namespace tracedb {

class CaptureInForce {
 public:
  CaptureInForce() = default;                                          // none
  CaptureInForce(const CommandLine& line, const RulesInForce& rules);  // Error as of open_trace()

  [[nodiscard]] bool given() const { return trace_.has_value(); }
  // The rest only where one is given.
  [[nodiscard]] const Index& index() const { return trace_->index; }
  [[nodiscard]] const Capture& capture() const { return capture_; }
  // Its notes say which file they are about, and what is wrong with it.
  [[nodiscard]] LentLaunches lend(const Index& index, const EventTables& events, const StepSet& steps) const;

 private:
  std::string name_;
  std::optional<OpenedTrace> trace_;
  Capture capture_;
};

}  // namespace tracedb
