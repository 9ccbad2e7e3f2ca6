// Runs compare, align and fusion: opens and loads the traces, prints the requested sections.
#pragma once

#include "trace_query/options.h"

namespace tracedb {

// Two folders of several traces each: jobs, whose ranks are compared.
bool names_jobs(const CommandLine& line);

// The exit code: 1 beyond --gate. Throws Error.
int run_comparison(const CommandLine& line);

}  // namespace tracedb
