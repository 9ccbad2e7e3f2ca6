// Pairs models with profiles for `trace-query model`, as the command line or a table says.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trace_query/options.h"

namespace tracedb {

struct ScenarioRequest {
  std::string name, model, profile;
  std::optional<double> passes;
  std::string m6;     // a JSON file that may have n_forward_passes; empty: none
  std::string error;  // one line: what is wrong with the request; empty: nothing
};

void add_scenario_options(CommandLine& line);

// From --scenario, --scenarios, --model with --profile, or two positional arguments. A request with a fault keeps it,
// so that the others go on. Throws Error{kUsage} where there is none at all, Error{kInput} where the table cannot be
// read.
std::vector<ScenarioRequest> requested_scenarios(const CommandLine& line);

// The passes of a scenario: its own, those of its m6 file, or --passes; else 1. Throws Error.
double passes_of(const ScenarioRequest& request, const CommandLine& line);

}  // namespace tracedb
