// The cost of pairing two kernels in an alignment: zero for the same kernel, low for the same class, higher for classes
// that share a part. Other pairs are never made.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compare/align/sequence_alignment.h"
#include "compare/trace/kernel_name_table.h"

namespace tracedb {

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
