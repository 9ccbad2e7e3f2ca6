// From a trace file to an index file: the whole of ingest behind one call.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "base/files/file_identity.h"
#include "ingest/kineto/kineto_events.h"
#include "trace/issue.h"

namespace tracedb {

struct IngestProgress {
  std::uint64_t file_bytes = 0;   // bytes of the file read so far
  std::uint64_t total_bytes = 0;  // size of the file; 0 where unknown (pipes)
  std::uint64_t events = 0;
  bool linking = false;  // all bytes are read
};

// Every switch of an ingest, of one trace or many.
struct IngestOptions {
  EventOptions events;
  unsigned threads = 0;                               // parse workers; 0: by the machine's cores, at most 3
  std::size_t chunk_size = std::size_t{1} << 20U;     // bytes; the index does not depend on it
  std::size_t memory_bytes = std::size_t{64} << 20U;  // for sorting; beyond it data is spilled beside the index
  const std::atomic<bool>* cancel = nullptr;          // once true, ingest ends with Error{kInterrupted}
  // Given the finished index before it has its name: what becomes its meta.summary; "": it has none. Called on the
  // thread of an ingest, which may read that file and the folder of the trace, and which ends with what it throws.
  std::function<std::string(const std::filesystem::path& index)> summary;
  bool sandbox = true;  // ensure_index(), run_batch(): read the trace with as few rights as it takes

  // ensure_index() and run_batch(): what becomes of an index that already exists.
  bool force = false;              // rebuild it even if it is valid, and replace a file that is neither index nor trace
  bool full_check = false;         // it is valid only if the full hash, the structure and the sums are right
  bool accept_any_events = false;  // it is valid even if it was made with other `events`

  // run_batch() only. There memory_bytes is for the whole run, and the jobs share the cores.
  std::filesystem::path output;           // of a single trace; empty: beside the trace
  std::filesystem::path index_directory;  // empty: beside each trace
  unsigned jobs = 0;                      // traces at once; 0: one a core
  bool fail_fast = false;                 // start no other trace after the first failure
  std::chrono::nanoseconds timeout{0};    // for one trace, which then fails with kResource; 0: none
};

// Follows one ingest, on the thread that called it.
class IngestObserver {
 public:
  virtual ~IngestObserver() = default;
  virtual void progress(const IngestProgress&) const {}  // now and then
  virtual void waiting() const {}                        // for another process that builds this index
  virtual void syncing() const {}                        // all is computed: from here on it only waits for the disk
};

// Identity of the trace's regular file, with links followed; nullopt: the trace is a pipe or standard input ("-").
std::optional<FileIdentity> trace_identity(const std::filesystem::path& trace);

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
  std::uint64_t events_used = 0;  // of the skipped ones, in other rows: matched flow ends, metadata, ends of slices
  bool complete = true;
  std::uint64_t kernels = 0;
  IssueLog issues;
  std::string unconfined = {};  // why the trace was read with more rights than it takes (base/files/sandbox.h)
};

// Writes the index of `trace` to `index`, atomically: whatever happens, `index` is the old file, the new complete one,
// or absent. Errors: kInput (the trace cannot be read or is no trace), kResource (the index cannot be written),
// kTransient (the trace changed meanwhile), kInterrupted. Any thread; uses threads of its own. Builds of one index
// should exclude each other: see ensure_index.h.
IngestResult ingest_trace(const std::filesystem::path& trace, const std::filesystem::path& index,
                          const IngestOptions& options, const IngestObserver& observer = {});

}  // namespace tracedb
