// The one value that stands for "unknown" in whatever has 64 bits: times, durations, numbers of the profiler. In an
// index it is NULL.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace tracedb {

inline constexpr std::int64_t kUnknownValue = std::numeric_limits<std::int64_t>::min();

// Values below this are no numbers, but kUnknownValue or kUnknownValue + the id of a text: of numbers that 64 bits
// cannot hold.
inline constexpr std::int64_t kLeastNumber = kUnknownValue + (std::int64_t{1} << 32U);

// What an event adds to a sum: nothing where its duration is unknown. Ingest stores no negative ones.
inline std::int64_t duration_or_zero(std::int64_t dur) { return std::max<std::int64_t>(dur, 0); }

// An id of a record as an index holds it; 0: none.
inline std::int64_t id_cell(std::uint32_t id) { return id == 0 ? kUnknownValue : std::int64_t{id}; }

// Sums that stay at the largest value instead of overflowing: whoever wrote a trace chose its numbers.

// a + b, at most 2^63 - 1. Neither may be negative by more than the other makes up for.
inline std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

}  // namespace tracedb
