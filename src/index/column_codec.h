// Packs columns of integers into few bytes and unpacks them at about a nanosecond a value. Lossless for any 64-bit
// values, and the same bytes for the same values everywhere.
//
// A block holds frames of kFrameRows values each (the last one fewer) and ends with 8 zero bytes, so that whole words
// can be read everywhere. A frame is, least significant byte first:
//   1 byte    width: bits of a code, 0 to 56 or 64
//   1 byte    coding: 0 values, 1 differences
//   2 bytes   number of patches
//   8 bytes   base
//   8 bytes   start, with coding 1 only
//   ceil(rows * width / 8) bytes of codes, one behind the other from the lowest bit of the first byte on
//   10 bytes for each patch: 2 of a row within the frame, 8 of a code that is wider than `width`
// Coding 0: value = base + code. Coding 1: value = the value before (at first: start) + base + code. All sums modulo
// 2^64.
//
// Pure functions. What is wrong with a block is found before anything beyond it is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tracedb {

inline constexpr std::size_t kFrameRows = 1024;
inline constexpr std::size_t kBlockRows = 64 * kFrameRows;  // rows of every block but the last

enum class ColumnCoding : std::uint8_t { kValues, kDifferences };

// Use: append_frame() for every kFrameRows values (only the last frame may have fewer, none is empty), then
// end_block().
void append_frame(std::vector<std::byte>& block, ColumnCoding coding, std::span<const std::int64_t> values);
void end_block(std::vector<std::byte>& block);

// XXH3, 64 bits, of a whole block: to be stored beside it.
[[nodiscard]] std::int64_t block_hash(std::span<const std::byte> block);

// Fills `values` from a block of exactly as many; false if it is no such block, and then `values` hold anything. Into
// 32 bits: the low ones of each value.
[[nodiscard]] bool unpack_block(std::span<const std::byte> block, std::span<std::int64_t> values);
[[nodiscard]] bool unpack_block(std::span<const std::byte> block, std::span<std::uint32_t> values);

}  // namespace tracedb
