// The rules of --rules, applied to the indexes of a run.
#pragma once

#include <string>
#include <vector>

#include "passes/classify/kernel_classes.h"
#include "passes/classify/kernel_traits.h"
#include "trace_query/options.h"

namespace tracedb {

// What --rules says, else the built-in rules.
std::string rules_asked(const CommandLine& line);

class RulesInForce {
 public:
  explicit RulesInForce(const CommandLine& line);  // Error{kUsage}, Error{kInput} for rules that cannot be read

  void apply(const Index& index) const;                                // makes temp.kernel_class
  [[nodiscard]] std::vector<Traits> traits(const Index& index) const;  // without a table
  [[nodiscard]] std::string provenance() const;                        // for --explain

 private:
  std::string name_;
  RuleSet rules_;
};

}  // namespace tracedb
