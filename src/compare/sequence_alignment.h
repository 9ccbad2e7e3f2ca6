// Two sequences of roles laid side by side at the least cost: a weighted edit distance. Pure.
//
// Leaving an element without partner costs its gap weight, pairing two costs what a table says. Only a band around the
// diagonal is computed, and widened until the path keeps clear of its edge (Ukkonen 1985), so that long sequences that
// resemble each other cost little. The result does not depend on which sequence comes first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tracedb {

inline constexpr std::uint32_t kNoPartner = UINT32_MAX;

// Places in the two sequences, in order; kNoPartner: the other stands alone.
struct AlignedPair {
  std::uint32_t a = kNoPartner, b = kNoPartner;
  bool operator==(const AlignedPair&) const = default;
};

// Costs of roles 0 .. roles - 1, those of pairing symmetric. Equal roles must cost nothing.
struct AlignmentCosts {
  std::size_t roles = 0;
  std::vector<std::uint16_t> pair;  // [role of a * roles + role of b]
  std::vector<std::uint16_t> gap;   // by role
};

// `a`, `b`: roles. A cost of pairing above both gaps never happens. Longer than kLongestAlignment: nothing is paired.
std::vector<AlignedPair> align_sequences(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b,
                                         const AlignmentCosts& costs);

inline constexpr std::size_t kLongestAlignment = 200'000;

}  // namespace tracedb
