#include "trace_query/capture.h"

#include <fmt/format.h>

#include "base/input_file.h"

namespace tracedb {

CaptureInForce::CaptureInForce(const CommandLine& line, const RulesInForce& rules) {
  const auto path = line.text("capture");
  if (!path) return;
  name_ = printable_path(*path);
  trace_.emplace(open_trace(*path, line));
  capture_ = read_capture(trace_->index, {line.text("step-regex")}, rules.traits(trace_->index));
}

LentLaunches CaptureInForce::lend(const Index& index, const EventTables& events, const StepSet& steps) const {
  LentLaunches lent = tracedb::lend(capture_, index, events, steps);
  lent.notes.insert(lent.notes.begin(), trace_->notes.begin(), trace_->notes.end());
  for (std::string& note : lent.notes) note = fmt::format("--capture {}: {}", name_, note);
  return lent;
}

}  // namespace tracedb
