// Finds defects in a set of rules: rules that can never decide because an earlier one always does and, given the names
// of traces, rules that nothing needs.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "passes/classify/classifier.h"

namespace tracedb {

enum class RuleState {
  kNeverReached,  // an earlier rule holds whenever this one does
  kShadowed,      // holds for names seen, but an earlier rule decided all of them
  kUnused,        // holds for no name seen
  kUsed,
};
std::string_view to_string(RuleState state);

struct RuleFinding {
  RuleId rule = 0;
  RuleState state = RuleState::kUnused;
  RuleId by = kNoRule;      // the earlier rule: of kNeverReached, and the first one of kShadowed
  std::size_t decided = 0;  // names
  std::size_t held = 0;     // names
};

// One finding a rule, in the order of the rules.
std::vector<RuleFinding> check_rules(Classifier& classifier, const std::vector<std::string>& names);

}  // namespace tracedb
