// A Python program that runs an operator by itself, with the arguments that it had in a trace: to look at one operator
// on another machine, with another version of PyTorch, under another profiler.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>

#include "sql/database.h"

namespace tracedb {

// Returns how many sets of arguments the program has, the most frequent first. Texts of the trace are in it as data
// alone. Throws Error{kUsage} where the trace has no such operator, or not its arguments; nothing is written then.
std::int64_t write_replay(std::ostream& out, Database& database, const std::string& op);

}  // namespace tracedb
