// `trace-query compare --method wafer`: reproduces the comparison of wafer 0.1.28 (src/compare/wafer).
#pragma once

#include "trace_query/options.h"

namespace tracedb {

// Prints the sections asked for and returns the exit code. Of the command line it reads two inputs; --phase (all,
// prefill, decode); --section, a list (none: all); --limit, where it is known; and what OptionGroup::kOutput has.
// Error{kUsage} for other values, and unless there are two inputs.
int run_wafer_comparison(const CommandLine& line);

}  // namespace tracedb
