// What reading a trace tells besides its events.
#pragma once

#include <cstdint>
#include <string>

#include "ingest/read/trace_header.h"

namespace tracedb {

struct TraceFacts {
  std::string time_unit;  // what times count, where they are no nanoseconds: "cycle"
  TraceHeader header;
  std::uint64_t bytes = 0;  // of the trace, decompressed
  bool complete = true;     // false: the end is missing
};

}  // namespace tracedb
