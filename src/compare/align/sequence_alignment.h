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

#include "compare/trace/kernel_name_table.h"

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

// The cost of pairing two kernels in an alignment: zero for the same kernel, low for the same class, higher for classes
// that share a part. Other pairs are never made.

// A kernel of either sequence and its mean time, in ns.
struct KernelUse {
  NameId name = 0;
  double time = 0;
};

// With more different kernels than this in two sequences only the same ones are paired: the costs of all pairs would
// take too much memory.
inline constexpr std::size_t kMostPairedSymbols = 2000;

// Sequences of names as sequences of symbols, and the costs between those. AlignedSymbols are numbered by name, so that
// nothing depends on which side is which.
struct AlignedSymbols {
  std::vector<std::uint32_t> a, b;
  AlignmentCosts costs;
};
AlignedSymbols make_symbols(std::span<const KernelUse> a, std::span<const KernelUse> b,
                            const KernelNameTable& kernel_names);

// How alike two classes are.
enum class ClassSimilarity { kNone, kPart, kSame };
ClassSimilarity class_similarity(std::string_view op_a, std::string_view op_b);

}  // namespace tracedb
