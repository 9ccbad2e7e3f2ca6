// The framework operators of two traces, by name: which one side adds or lacks, which run more often, or longer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "index/index.h"

namespace tracedb {

struct OperatorSums {
  std::int64_t calls = 0;
  std::int64_t host = 0;    // ns: of the calls themselves, without the operators in them
  std::int64_t device = 0;  // ns: of the kernels they launch themselves; concurrent ones count twice
};

enum class OperatorStatus { kNew, kGone, kMore, kFewer, kSlower, kFaster, kSame };
std::string_view to_string(OperatorStatus status);

struct OperatorChange {
  std::string name;
  OperatorSums baseline, candidate;
  double host_change = 0, device_change = 0;  // per unit
  OperatorStatus status = OperatorStatus::kSame;
  std::string under;  // of one that is new or gone: the nearest operator around most of its calls that both sides have
};

// Units: steps, or 1 of whole traces. Largest change of host and device first. Linear in the operators and kernels.
std::vector<OperatorChange> operator_changes(const Index& baseline, const Index& candidate, double baseline_units,
                                             double candidate_units);

}  // namespace tracedb
