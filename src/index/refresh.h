// The one change that is ever made to a published index: the stat of its trace is noted anew after the full hash has
// shown that only the stat differs. A changed copy takes the place of the index by a rename, so that at no moment, and
// whatever is killed, the index is half-changed or needs a journal to be read.
#pragma once

#include <cstdint>
#include <ctime>

#include "index/index.h"

namespace tracedb {

struct RefreshedStat {
  std::int64_t mtime_ns, inode;
  timespec looked_at;  // when that was so
};

// Best effort, never throws: where the index cannot be replaced, its trace is hashed again next time. Not done while
// another process builds the index, nor for an index of another user or behind a link. False: not done.
bool refresh_stat(const Index& index, const RefreshedStat& stat);

}  // namespace tracedb
