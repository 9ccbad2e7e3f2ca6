// A user's own step marks: a regular expression over the names of annotations.
//
// What a match says comes from its groups: by name, (?<kind>...), (?<context_requests>...), (?<context_tokens>...),
// (?<generation_requests>...), (?<generation_tokens>...), where context and generation are short for the tokens; or,
// when none has a name, by place: kind, context tokens, generation tokens. A kind is one of the words of the step
// table, in any case; without one it follows from the numbers. A pattern without groups marks steps of unknown kind.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/text/regular_expression.h"
#include "passes/steps/step_set.h"
#include "trace/step_grammar.h"

namespace tracedb {

// What a group says.
struct StepField {
  std::string_view name;
  std::optional<std::int64_t> StepInfo::*number;  // null: the kind
};

class StepPattern {
 public:
  explicit StepPattern(std::string_view pattern);  // Error{kUsage} for what is no expression or has an unknown group

  // nullopt: the name is no step.
  [[nodiscard]] std::optional<StepInfo> match(std::string_view name) const;

 private:
  RegularExpression expression_;
  std::vector<const StepField*> fields_;  // by group; null: nothing
};

// Steps from a user's pattern over names of annotations, computed for each query. A kernel is in the outermost matching
// annotation around its launch; if its thread has none there, in the annotation of another thread that covers it
// (trace/process_marks.h); if no annotation on a thread has that name, in the one on its stream around its start.
StepSet steps_by_pattern(const Index& index, std::string_view pattern, const EventTables& events);

}  // namespace tracedb
