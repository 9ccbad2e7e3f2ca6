// The steps of an index as the options of a command want them: --step-regex.
#pragma once

#include "passes/step_set.h"
#include "query_options.h"
#include "query_rules.h"

namespace tracedb {

struct LoadedSteps {
  EventTables events;
  std::vector<Traits> traits;  // empty unless asked for, or needed to infer steps
  StepSet set;
};

// `extra`: columns of table kernel to load besides. `traits`: those of the kernels are needed in any case; makes
// temp.kernel_class.
LoadedSteps load_steps(const Index& index, const CommandLine& line, const RulesInForce& rules,
                       std::vector<std::string_view> extra = {}, bool traits = false);

std::string steps_recipe(const CommandLine& line);  // for --explain

}  // namespace tracedb
