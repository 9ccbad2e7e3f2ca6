// From a trace file to an index file: the whole of ingest behind one call.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "ingest/kineto/kineto_events.h"
#include "trace/issue.h"

namespace tracedb {

struct IngestProgress {
  std::uint64_t file_bytes = 0;   // bytes of the file read so far
  std::uint64_t total_bytes = 0;  // size of the file; 0 where unknown (pipes)
  std::uint64_t events = 0;
  bool linking = false;  // all bytes are read
};

struct IngestOptions {
  EventOptions events;
  unsigned threads = 0;                                      // parse workers; 0: by the machine's cores, at most 3
  std::size_t chunk_size = std::size_t{1} << 20U;            // bytes; the index does not depend on it
  std::size_t memory_bytes = std::size_t{64} << 20U;         // for sorting; beyond it data is spilled beside the index
  std::function<void(const IngestProgress&)> progress = {};  // called now and then on the calling thread
  std::function<void()> before_sync = {};                    // only waiting for the disk is left; on the calling thread
  const std::atomic<bool>* cancel = nullptr;                 // once true, ingest ends with Error{kInterrupted}
};

// Those options the content of an index depends on, as stored in meta.ingest_options.
std::string options_text(const IngestOptions& options);

// Throws Error{kInterrupted} once options.cancel says so.
void check_cancelled(const IngestOptions& options);

struct IngestResult {
  std::filesystem::path index;
  std::uint64_t file_bytes = 0;
  std::uint64_t trace_bytes = 0;  // decompressed
  std::uint64_t index_bytes = 0;
  std::uint64_t events_read = 0, events_stored = 0, events_skipped = 0;
  std::uint64_t matched_flows = 0, metadata_events = 0;  // of the skipped ones: those that lose nothing
  bool complete = true;
  std::uint64_t kernels = 0;
  IssueLog issues;
};

// Writes the index of `trace` to `index`, atomically: whatever happens, `index` is the old file, the new complete one,
// or absent. Errors: kInput (the trace cannot be read or is none), kResource (the index cannot be written), kTransient
// (the trace changed meanwhile), kInterrupted. Any thread; uses threads of its own. Builds of one index should exclude
// each other: see ensure_index.h.
IngestResult ingest_trace(const std::filesystem::path& trace, const std::filesystem::path& index,
                          const IngestOptions& options);

}  // namespace tracedb
