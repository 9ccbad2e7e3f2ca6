// --gate: whether a kind of steps is slower than it may be.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "compare/comparison.h"
#include "compare/step_samples.h"

namespace tracedb {

struct Gate {
  double percent = 0;                // most that a candidate may be slower
  std::optional<StepMetric> metric;  // nullopt: the worse of period and span
};

using Note = std::function<void(const std::string&)>;

// Whether a kind of steps is significantly slower by more than `gate`. `note` gets that, and why a kind is not judged.
// Periods count to the next step of whichever kind.
bool group_beyond_gate(const Gate& gate, const GroupComparison& group, const Note& note);

// The same of each kind that a baseline file and a trace have.
bool samples_beyond_gate(const Gate& gate, const SampleComparison& comparison, const Note& note);

}  // namespace tracedb
