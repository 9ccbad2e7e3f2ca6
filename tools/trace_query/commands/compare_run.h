// Runs compare, align and fusion: opens the traces, loads the sides, prints the sections asked for.
#pragma once

#include "trace_query/options.h"

namespace tracedb {

// The exit code: 1 beyond --gate. Throws Error.
int run_comparison(const CommandLine& line);

}  // namespace tracedb
