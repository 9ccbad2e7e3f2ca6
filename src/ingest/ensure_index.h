// A valid index for a trace, built only if there is none: the one way in which programs build indexes.
//
// Writers of one index exclude each other by "<index>.lock" (base/file_lock.h): the second waits and then finds the
// index valid. The lock file lies there from before the first byte of a build until after the last, so a lock file
// nobody holds says that a build was killed; what such builds left ("<index>.XXXXXX.partial") is removed by the next
// process that gets the lock (index/leftovers.h). Unfinished files have names of their own: without working locks two
// builds cost time, never a wrong index.
//
// Any thread. Errors: those of ingest_trace; kResource for a file in the index's place that is none of our indexes.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "ingest/ingest.h"

namespace tracedb {

struct EnsureOptions {
  IngestOptions ingest;
  bool rebuild = false;            // whatever is there
  bool overwrite_foreign = false;  // replace even a file that is no index
  bool full_check = false;         // valid only after the full hash, the structure and the sums were checked
  bool any_options = false;        // an index made with other ingest options is as good
  std::function<void()> on_wait = {};
};

// Waits for the lock, then builds unless `index` is valid by now. Returns the result of the build; nullopt: it was
// valid.
std::optional<IngestResult> ensure_index(const std::filesystem::path& trace, const std::filesystem::path& index,
                                         const EnsureOptions& options);

// The quick way out before ensure_index: no lock is taken, but one left by a killed build is cleared away.
// A damaged index is not valid.
bool is_valid_index(const std::filesystem::path& trace, const std::filesystem::path& index,
                    const EnsureOptions& options);

}  // namespace tracedb
