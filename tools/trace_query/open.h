// From a path on the command line to a valid index: an index is opened and compared with its trace, a trace gets the
// index that lies beside it or in the cache, or a new one.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "index/index.h"
#include "trace_query/options.h"

namespace tracedb {

struct OpenedTrace {
  Index index;
  std::vector<std::string> notes;  // for people: source missing, trace cut short, ...
};

// An index whose trace has changed is rebuilt where the trace was given, and refused where the index was.
OpenedTrace open_trace(const std::filesystem::path& given, const CommandLine& line);

}  // namespace tracedb
