// `compare` of sets of runs: --baseline X... --candidate Y..., or two folders.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "trace_query/options.h"
#include "trace_query/report_shapes.h"

namespace tracedb {

void add_set_options(CommandLine& line);
std::vector<ReportShape> shapes_of_sets();

// Error{kUsage} for words on both sides of "--", which are no sets.
void refuse_separator(const CommandLine& line, std::span<const std::string> args);

// --baseline or --candidate, or two folders, one of them of several traces.
bool names_sets(const CommandLine& line);

// One trace a side is compared as ever, one job a side rank by rank. The exit code: 1 beyond --gate.
int run_sets(const Command& command, const CommandLine& line, std::span<const std::string> args);

}  // namespace tracedb
