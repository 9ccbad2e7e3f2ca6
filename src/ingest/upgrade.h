// Brings an index of schema version 5 or 6 to the present one without its trace: fleets keep traces for days and
// indexes for months. What they did not keep stays unknown; meta.upgraded_from says so.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>

#include "index/packed_columns.h"
#include "sql/database.h"

namespace tracedb {

enum class UpgradeOutcome { kUpgraded, kCurrent };

// Replaces the index by the new one, whole or not at all, under the lock of its builders; it describes the trace as of
// when the old one did. kCurrent: there is nothing to do. Throws Error{kInput} for what is no whole index of these
// versions, Error{kResource}, Error{kInterrupted} once `cancel` (may be null) is true.
UpgradeOutcome upgrade_index(const std::filesystem::path& index, const std::atomic<bool>* cancel);

// The rows of a table of an old index that is packed alone now, as cells of its columns: some thousand rows a call.
// Error{kInput} where ids have holes.
void read_unpacked(Database& old, const PackedTable& table,
                   const std::function<void(std::span<const std::int64_t>)>& use);

}  // namespace tracedb
