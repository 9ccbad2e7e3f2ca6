// Garbage collection of indexes: decides which may be removed and why, and removes them without ever touching another
// file.
//
// Removed by default: stale indexes next to their traces, stale and orphaned ones in a cache directory, and leftovers
// of killed builds. With an age or a size limit, valid ones too, oldest first. An index whose trace is missing,
// replaced or unreadable cannot be rebuilt (outside of a cache directory) and is kept unless requested. The age of an
// index is its modification time: when it was built, or last found valid by its full hash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "index/inventory.h"

namespace tracedb {

struct GcOptions {
  std::optional<std::uint64_t> most_bytes;    // of all indexes of ours together
  std::optional<std::int64_t> older_than_ns;  // those not built or confirmed for so long
  std::int64_t now_ns = 0;                    // since the epoch
  bool orphans = false;                       // also what no trace can rebuild
};

struct PlannedRemoval {
  std::size_t index;  // position in IndexInventory::indexes
  std::string reason;
};

// Pure: decides by the inventory alone. In the order in which to remove.
std::vector<PlannedRemoval> plan_removals(const IndexInventory& inventory, const GcOptions& options);

enum class RemovalOutcome {
  kRemoved,
  kGone,     // removed by somebody else meanwhile
  kInUse,    // a run holds its lock
  kChanged,  // it is another file now than the one that was looked at
  kFailed,
};
std::string_view to_string(RemovalOutcome outcome);

struct RemovalResult {
  RemovalOutcome outcome = RemovalOutcome::kRemoved;
  std::string error = {};  // of kFailed
};

// Under the lock of the index, and only if the file is still the one listed, is no link, and has the header of an
// index. Never throws for a file that cannot be removed.
RemovalResult remove_index(const ListedIndex& index);

// Under the lock of its index; another run's live files are never touched.
RemovalResult remove_leftover(const ListedLeftover& leftover);

}  // namespace tracedb
