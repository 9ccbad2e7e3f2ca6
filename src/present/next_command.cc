#include <fmt/format.h>

#include "present/reason_words.h"

namespace tracedb {
namespace {

// " --phase decode"; "" where a trace has no steps, or none of a known kind.
std::string phase_option(const GroupComparison& group, const SectionInput& in, bool of_candidate) {
  if (group.group.whole_trace || only_unknown((of_candidate ? in.candidate : in.baseline).steps)) return "";
  return fmt::format(" --phase {}", to_string((of_candidate ? group.group.candidate : group.group.baseline).kind));
}

}  // namespace

bool only_unknown(const StepSet& steps) {
  return std::all_of(steps.steps.begin(), steps.steps.end(),
                     [](const StepFacts& step) { return step.info.kind == StepKind::kUnknown; });
}

std::string next_command(const GroupReasons& group, const Reason& reason, const SectionInput& in,
                         const std::string& baseline, const std::string& candidate) {
  const bool of_candidate = reason.change.change > 0;  // the side that takes longer
  const std::string& side = of_candidate ? candidate : baseline;
  const std::string phase = phase_option(*group.group, in, of_candidate);
  const std::string both = phase_option(*group.group, in, group.group->group.baseline.kind == StepKind::kUnknown);
  const auto one = [&](std::string_view report) { return fmt::format("trace-query {} {}{}", report, side, phase); };
  const auto pair = [&](std::string_view section) {
    return fmt::format("trace-query compare {} {} --section {}{}", baseline, candidate, section, both);
  };
  switch (reason.cause) {
    case Cause::kBetweenSteps:
    case Cause::kRecording:
    case Cause::kTransition:
    case Cause::kIdle:
      return one("gaps");
    case Cause::kCommunication:
      return one("comms");
    case Cause::kCopies:
      return one("memcpys");
    case Cause::kOperation:
      return pair(reason.place.kind == PlaceKind::kLayers && !reason.place.layers.empty() ? "ledger --by layer,op"
                                                                                          : "kernels");
    case Cause::kFusion:
      return pair("fusion");
    case Cause::kRareSteps:
    case Cause::kNoStep:
    case Cause::kOtherSteps:
      return one("steps");
    case Cause::kConcurrency:
      return one("timeline");
    case Cause::kClocks:
      return pair("same-kernels");
    case Cause::kLoad:
      return pair(
          fmt::format("ledger --normalise {}", in.comparison.normalise == Normalise::kToken ? "step" : "token"));
  }
  return "";
}

}  // namespace tracedb
