// Periods and loads of the runs of a trend.
#pragma once

#include <span>
#include <string>

#include "fleet/trend.h"
#include "passes/classify/kernel_classes.h"

namespace tracedb {

// Loads of runs, and, of periods, the levels that `compare` of sets has, at equal load where steps have several: of the
// steps of the phase, and of those before another kind, or of another kind before them.
TrendLevels levels_of(const std::string& phase, std::span<const TrendRun> runs, const ActiveRules& rules,
                      bool of_periods);

}  // namespace tracedb
