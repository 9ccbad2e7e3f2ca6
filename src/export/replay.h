// A Python program that runs an operator by itself, with the arguments that it had in a trace: to look at one operator
// on another machine, with another version of PyTorch, under another profiler.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>

#include "sql/database.h"

namespace tracedb {

// Sets of arguments that the program has, the most frequent first, and those that it has not: no shapes or types, or no
// JSON.
struct ReplaySets {
  std::int64_t written = 0, left_out = 0;
};

// Texts of the trace are in it as data alone. Throws Error{kUsage} where the trace has no such operator, or not its
// arguments; nothing is written then.
ReplaySets write_replay(std::ostream& out, Database& database, const std::string& op);

}  // namespace tracedb
