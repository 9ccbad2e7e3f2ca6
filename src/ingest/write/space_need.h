// Estimates the disk space that an index needs, for the message when there is not enough.
#pragma once

#include <cstdint>
#include <string>

#include "ingest/store/trace_store.h"

namespace tracedb {

struct SpaceNeed {
  std::uint64_t written = 0;  // bytes, when there was no more room
  std::uint64_t in_all = 0;   // about; with what is spilled while sorting
};

// `index_bytes` of the index are written, and `share` (0 to 1) of the trace is read into `store`.
SpaceNeed space_need(const TraceStore& store, std::uint64_t index_bytes, double share);

// "1.5 MB were written, about 12.0 MB are needed; ..." and what to do.
std::string space_advice(const SpaceNeed& need);

}  // namespace tracedb
