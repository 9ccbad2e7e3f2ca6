// Facts about a whole trace that its reader finds besides the events.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ingest/read/trace_header.h"

namespace tracedb {

struct TraceFacts {
  std::string format;     // where only the whole of the trace tells its name in the table of formats; else empty
  std::string time_unit;  // what times count, where they are no nanoseconds: "cycle"
  TraceHeader header;
  std::uint64_t bytes = 0;  // of the trace, decompressed
  bool complete = true;     // false: the end is missing
  std::string vendor;       // as device.vendor, where the format says it; empty: by names and the header
  // Absolute time of the trace's time 0, in ns since 1970, where the format says it; else the header's
  // baseTimeNanoseconds tells.
  std::optional<std::int64_t> time_zero_ns;
  std::optional<std::int64_t> rank;  // of the distributed job; else the header or the file's name tells
  std::string rank_source;           // where that is said
};

}  // namespace tracedb
