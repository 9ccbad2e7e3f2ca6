// A user's own step marks: a POSIX extended regular expression (with \d, \w, \s) over the names of annotations.
//
// What a match says comes from its groups: by name, (?<kind>...), (?<context_requests>...), (?<context_tokens>...),
// (?<generation_requests>...), (?<generation_tokens>...), where context and generation are short for the tokens; or,
// when none has a name, by place: kind, context tokens, generation tokens. A kind is one of the words of the step
// table, in any case; without one it follows from the numbers. A pattern without groups marks steps of unknown kind.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "trace/step_grammar.h"

namespace tracedb {

class StepPattern {
 public:
  explicit StepPattern(std::string_view pattern);  // Error{kUsage} for what is no expression or has an unknown group
  ~StepPattern();
  StepPattern(StepPattern&&) noexcept;
  StepPattern& operator=(StepPattern&&) = delete;
  StepPattern(const StepPattern&) = delete;
  StepPattern& operator=(const StepPattern&) = delete;

  // nullopt: the name is no step.
  [[nodiscard]] std::optional<StepInfo> match(std::string_view name) const;

 private:
  struct Compiled;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace tracedb
