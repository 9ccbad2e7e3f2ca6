#include "compare/wafer/phases.h"

#include "base/text/decimal.h"

namespace tracedb::wafer {
namespace {

std::int64_t number_in_parentheses(std::string_view part) {
  const std::size_t open = part.find('(');
  const std::size_t close = part.find(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return 0;
  return parse_int64(part.substr(open + 1, close - open - 1)).value_or(0);
}

}  // namespace

std::int64_t token_count(std::string_view annotation) {
  bool behind_context = false;
  while (true) {
    const std::size_t end = annotation.find('_');
    const std::string_view part = annotation.substr(0, end);
    if (behind_context) return number_in_parentheses(part);
    behind_context = part == "context";
    if (end == std::string_view::npos) return 0;
    annotation.remove_prefix(end + 1);
  }
}

Phase phase_of(std::string_view annotation) {
  const bool no_generation = annotation.find("generation_0") != std::string_view::npos;
  return no_generation && token_count(annotation) > 0 ? Phase::kPrefill : Phase::kDecode;
}

void assign_phases(Trace& trace) {
  std::size_t begun = 0;
  for (Kernel& kernel : trace.kernels) {
    while (begun < trace.passes.size() && trace.passes[begun].begin <= kernel.ts) ++begun;
    const bool inside = begun > 0 && kernel.ts <= trace.passes[begun - 1].end;
    kernel.phase = inside ? trace.passes[begun - 1].phase : Phase::kDecode;
  }
}

std::string_view to_string(Phase phase) { return phase == Phase::kPrefill ? "prefill" : "decode"; }

}  // namespace tracedb::wafer
