// Pages of tables in SQLite's files: the byte that tells their kind, and the size of their headers
// (sqlite.org/fileformat2.html, "B-tree Pages").
#pragma once

#include <cstddef>

namespace tracedb {

inline constexpr std::byte kLeafPage{0x0d}, kInteriorPage{0x05};
inline constexpr std::size_t kLeafHeader = 8, kInteriorHeader = 12;

}  // namespace tracedb
