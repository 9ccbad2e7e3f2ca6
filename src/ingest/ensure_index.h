// A valid index for a trace, built only if there is none: the one way in which programs build indexes.
//
// Writers of one index exclude each other by "<index>.lock" (base/files/file_lock.h): the second waits and then finds
// the index valid. The lock file exists from before the first byte of a build until after the last, so a lock file that
// nobody holds means that a build was killed; what such builds left ("<index>.XXXXXX.partial") is removed by the next
// process that gets the lock (index/leftovers.h). Unfinished files have names of their own: without working locks two
// builds cost time, never a wrong index.
//
// Any thread. Errors: those of ingest_trace; kResource where another kind of file has the name of the index.
#pragma once

#include <filesystem>
#include <optional>
#include <variant>

#include "index/index.h"
#include "ingest/ingest.h"

namespace tracedb {

// Waits for the lock, then builds unless `index` is valid by now. Returns the valid index, or the result of the build.
std::variant<Index, IngestResult> ensure_index(const std::filesystem::path& trace, const std::filesystem::path& index,
                                               const IngestOptions& options, const IngestObserver& observer = {});

// Opens `index` if it is valid; one that is damaged or cannot be read is not. Takes no lock, but clears away what a
// killed build left. Only Error{kInterrupted} is thrown.
std::optional<Index> open_valid_index(const std::filesystem::path& trace, const std::filesystem::path& index,
                                      const IngestOptions& options);

}  // namespace tracedb
