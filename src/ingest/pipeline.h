// Reading and parsing: chunks are cut under a lock, parsed by several workers at once and taken into the store in file
// order, so that the store is the same for any number of workers.
#pragma once

#include "base/byte_source.h"
#include "ingest/ingest.h"
#include "ingest/read/json_chunks.h"
#include "ingest/store/trace_store.h"

namespace tracedb {

// Reads `chunks` to the end into `store`. `source` is what the chunks come from, for progress.
void read_trace(JsonChunks& chunks, const ByteSource& source, std::uint64_t file_size, const IngestOptions& options,
                TraceStore& store);

unsigned worker_count(const IngestOptions& options);

}  // namespace tracedb
