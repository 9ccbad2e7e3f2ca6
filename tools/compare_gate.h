// --gate: whether a kind of steps is slower than it may be.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "compare/step_metrics.h"

namespace tracedb {

struct Gate {
  double percent = 0;                // most that a candidate may be slower
  std::optional<StepMetric> metric;  // nullopt: the worse of period and span
};

// What changed of one kind of steps: by measure, null where that was not compared.
using MetricChanges = std::function<const Change*(StepMetric)>;

// Whether it is significantly slower by more than `gate`; says so, and what keeps it from being judged, through `note`.
bool beyond_gate(const Gate& gate, const std::string& phase, const MetricChanges& changes,
                 const std::function<void(const std::string&)>& note);

}  // namespace tracedb
