// Where the index of a trace is, or would be: next to the trace with ".tracedb" appended to its full name, else in the
// cache directory under the hash of its content.
#pragma once

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/stream/content_hash.h"

namespace tracedb {

inline constexpr const char* kIndexSuffix = ".tracedb";

std::filesystem::path sidecar_path(const std::filesystem::path& trace);

// The trace that an index with such a name is beside; nullopt: it is not there.
std::optional<std::filesystem::path> trace_beside(const std::filesystem::path& index);

// $TRACEDB_CACHE_DIR, else $XDG_CACHE_HOME/tracedb, else ~/.cache/tracedb; empty when none of them is set.
std::filesystem::path cache_directory();

// Declares a directory to be a cache, so that backups pass it over; not one that holds anything: backups would leave
// that out too.
void mark_as_cache(const std::filesystem::path& directory);

// "<32 hex digits>-<base name>.tracedb"; a base name that is too long for that is cut.
std::filesystem::path cache_path(const std::filesystem::path& directory, const ContentHash& hash,
                                 const std::filesystem::path& trace);

// Existing files that may be the index of `trace`, in look-up order: the sidecar, then those of the cache directory
// with its base name. Which of them is valid is for check_validity to say.
std::vector<std::filesystem::path> index_candidates(const std::filesystem::path& trace,
                                                    const std::filesystem::path& cache);

// Where a new index of `trace` goes: `directory` if one is given, else beside the trace, else (where that cannot be
// written, an index of another user may not be replaced, or the name would be too long) the cache directory. A
// directory is made if need be, and one that was empty is marked with a CACHEDIR.TAG, so that backups pass it over.
// Reads the whole trace for its hash unless the place is beside it. Throws Error: kResource where there is no place,
// kInput where the trace cannot be read, kUsage for a pipe whose index would have to be named by content, kInterrupted
// once `cancel` (may be null) is true.
std::filesystem::path new_index_path(const std::filesystem::path& trace, const std::filesystem::path& directory,
                                     const std::atomic<bool>* cancel = nullptr);

// How an index records the path of its trace (meta.source_path). A path is any bytes, but text in an index is UTF-8,
// which every client can read.

// Bytes that are no UTF-8 and control characters appear as \xNN; a backslash that would read as one of them as \x5c.
std::string source_path_text(const std::filesystem::path& path);

std::filesystem::path source_path(std::string_view text);

}  // namespace tracedb
