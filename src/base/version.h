// The version of the programs and of what they write into an index (meta.tool_version).
#pragma once

#include <string_view>

namespace tracedb {

inline constexpr std::string_view kVersion = TRACEDB_VERSION;

}  // namespace tracedb
