// Does an index still describe its trace? Three tiers, cheapest first:
//   1  size, modification time and inode as stored, and the stored stat may be trusted -> valid; another size -> stale
//   2  the sampled hash differs -> stale
//   3  the full XXH3-128 differs -> stale; equal -> valid, and the stored stat is refreshed
//
// A stat is trusted only if the trace had been at rest for 2 s when it was taken: a write within the same clock tick
// would leave the modification time unchanged. At rest means that its inode was not touched either (ctime), which
// nobody can set back: a modification time that was put back after an edit, or one in the future, is not believed.
// When it was taken is the modification time of the index file, so that
// the content of an index depends on nothing but its trace.
#pragma once

#include <atomic>
#include <ctime>
#include <filesystem>
#include <string>

#include "base/files/file_identity.h"
#include "index/index.h"

namespace tracedb {

enum class Validity {
  kValid,
  kStale,          // the trace has other bytes now
  kSourceMissing,  // nothing to compare with: the index can still be queried
  kUnknown,        // the source cannot be read, or the index does not say what it was made from
};

enum class Effort {
  kQuick,
  kFullHash,  // tier 3 whatever the stat says
  kReadOnly,  // as kQuick, but writes nothing
};

struct ValidityResult {
  Validity validity = Validity::kUnknown;
  int tier = 0;        // that decided; 0: none
  std::string reason;  // one line for people
};

// Error{kInterrupted} once `cancel` (may be null) is true.
ValidityResult check_validity(const Index& index, const std::filesystem::path& source, Effort effort,
                              const std::atomic<bool>* cancel = nullptr);

// The trace an index was made from: the file it lies beside ("x.json.tracedb" -> "x.json"), else meta.source_path.
// Empty when neither names a file.
std::filesystem::path source_of(const Index& index);

// The one change that is ever made to a published index: the stat of its trace is noted anew after the full hash has
// shown that only the stat differs. A changed copy takes the place of the index by a rename, so that at no moment, and
// whatever is killed, the index is half-changed or needs a journal to be read.
// `source`: its trace, as it was at `looked_at`. Best effort, never throws: where the index cannot be replaced, its
// trace is hashed again next time. Not done while another process builds the index, nor for an index of another user or
// behind a link. False: not done.
bool refresh_stat(const Index& index, const FileIdentity& source, timespec looked_at);

}  // namespace tracedb
