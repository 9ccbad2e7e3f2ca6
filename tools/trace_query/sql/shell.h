// The interactive shell of trace-query sql: statements over several lines, up to a semicolon, and commands that begin
// with a point.
#pragma once

#include "trace_query/options.h"
#include "trace_query/output.h"
#include "trace_query/sql/answers.h"
#include "trace_query/sql/index_set.h"

namespace tracedb {

// Until .quit or Ctrl-D. What is wrong with a statement is printed; Ctrl-C cancels it. `options` are those of the first
// statement; commands change them.
void run_shell(IndexSet& indexes, AnswerOptions options, const SqlParameters& values, Output& output);

}  // namespace tracedb
