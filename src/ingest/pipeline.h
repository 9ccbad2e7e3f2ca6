// Reading and parsing: chunks are cut under a lock, parsed by several workers at once and taken into the store in file
// order, so that the store is the same for any number of workers.
#pragma once

#include "ingest/formats.h"

namespace tracedb {

// As ReadTrace says.
void read_kineto(const TraceInput& input, const IngestOptions& options, TraceStore& store, TraceFacts& facts);
// The same for traces of AI Engine tiles: an array of B and E events whose times are cycles.
void read_aie(const TraceInput& input, const IngestOptions& options, TraceStore& store, TraceFacts& facts);

}  // namespace tracedb
