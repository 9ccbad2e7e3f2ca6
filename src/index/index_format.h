// What marks a file as an index of ours. An index of another schema version is never migrated: the trace is ingested
// again.
#pragma once

#include <cstdint>

namespace tracedb {

inline constexpr std::int32_t kApplicationId = 0x54724462;  // "TrDb" in PRAGMA application_id
inline constexpr std::int32_t kSchemaVersion = 5;           // PRAGMA user_version

}  // namespace tracedb
