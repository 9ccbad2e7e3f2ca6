// Matches the elements of two sequences by equal tokens. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tracedb {

inline constexpr std::uint32_t kUnmatched = UINT32_MAX;

// By place in `a`: the place in `b` of its counterpart, or kUnmatched. No place of `b` is given twice.
//
// Where both have every token equally often, the nth one of a token in `a` is the nth in `b`: streams that run side by
// side may interleave otherwise in each. Else the longest common subsequence; what it leaves over of tokens that both
// have equally often is matched by rank too, as long as both are free. Sequences whose middles differ over more than
// `most_cells` (of a table: length times length) are matched in order at their common ends alone.
std::vector<std::uint32_t> match_sequences(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b,
                                           std::size_t most_cells = std::size_t{1} << 25);

// How many elements they share at most, whatever their order.
std::size_t shared_elements(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b);

}  // namespace tracedb
