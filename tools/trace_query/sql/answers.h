// Runs the statements of a SQL text on the indexes of a run and prints their rows.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "report/renderers.h"
#include "trace_query/output.h"
#include "trace_query/sql/index_set.h"

namespace tracedb {

using SqlParameters = std::map<std::string, std::string>;  // by name without ':'

struct AnswerOptions {
  const Renderer* format;
  std::vector<std::string> inputs;  // as documents name them
  std::size_t max_rows = 0;         // of a statement, 0: all
  std::size_t limit = 0;            // of those printed, 0: all
  bool only_plan = false;
};

// All statements are prepared before the first runs. Error{kUsage} for wrong SQL, also where there is no statement or a
// parameter is of none.
void answer_sql(IndexSet& indexes, const std::string& text, const SqlParameters& values, const AnswerOptions& options,
                Output& output);

}  // namespace tracedb
