// Sums that stay at the largest value instead of overflowing: whoever wrote a trace chose its numbers.
#pragma once

#include <cstdint>
#include <limits>

namespace tracedb {

// a + b, at most 2^63 - 1. Neither may be negative by more than the other makes up for.
inline std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

}  // namespace tracedb
