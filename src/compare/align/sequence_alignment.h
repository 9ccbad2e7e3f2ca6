// Aligns two sequences of symbols by minimum cost: a weighted edit distance. Pure.
//
// An unpaired element costs its gap weight, a pair the entry of a table. Only a band around the diagonal is
// computed, and widened until no path outside can cost less (Ukkonen 1985), so that long similar sequences are cheap;
// where that would take millions of cells, until the path keeps clear of the edge. The result does not depend on which
// sequence comes first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tracedb {

inline constexpr std::uint32_t kNoPartner = UINT32_MAX;

// Positions in the two sequences, in order; kNoPartner: the other is unpaired.
struct AlignedPair {
  std::uint32_t a = kNoPartner, b = kNoPartner;
  bool operator==(const AlignedPair&) const = default;
};

inline constexpr std::uint16_t kNeverPaired = UINT16_MAX;

// Costs of symbols 0 .. symbols - 1, those of pairing symmetric. Equal symbols must cost nothing, others more than
// their gaps differ: the common head and tail of both sequences are paired directly.
struct AlignmentCosts {
  std::size_t symbols = 0;
  std::vector<std::uint16_t> pair;  // [symbol of a * symbols + symbol of b]; empty: only equal symbols are paired
  std::vector<std::uint16_t> gap;   // by symbol
};

// `a`, `b`: symbols. Elements that cost more than both gaps are never paired. Longer than kLongestAlignment: nothing is
// paired.
std::vector<AlignedPair> align_sequences(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b,
                                         const AlignmentCosts& costs);

inline constexpr std::size_t kLongestAlignment = 200'000;

}  // namespace tracedb
