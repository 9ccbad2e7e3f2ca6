// 64 bytes at a time: every byte class becomes a 64-bit mask, bit i for byte i.
//
// 1. Backslash runs say which bytes are escaped; an addition carries through each run.
// 2. The prefix xor of the unescaped quotes (a carry-less multiplication by all ones) says which bytes are in a string.
// 3. Brackets outside strings are counted. Only where the depth could fall to 0 inside the block are they walked.
//
// A backslash outside a string means nothing to the scalar twin but would escape in step 1. No well-formed document
// has one, so such a block is handed to the scalar code.
#include "base/structural_scan.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <cstring>

namespace tracedb {
namespace {

constexpr std::size_t kBlock = 64;

// The state between blocks, in the form the masks need.
struct Carry {
  std::int64_t depth;
  std::uint64_t in_string;  // all ones or zero
  std::uint64_t escaped;    // 1 or 0
};

struct Block {
  __m256i low;
  __m256i high;
};

[[gnu::target("avx2,pclmul,popcnt,bmi")]] inline std::uint64_t equal_mask(const Block& block, char c) {
  const __m256i wanted = _mm256_set1_epi8(c);
  const auto low = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(block.low, wanted)));
  const auto high = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(block.high, wanted)));
  return low | static_cast<std::uint64_t>(high) << 32;
}

// Bit i is the xor of the bits 0..i.
[[gnu::target("avx2,pclmul,popcnt,bmi")]] inline std::uint64_t prefix_xor(std::uint64_t bits) {
  const __m128i product = _mm_clmulepi64_si128(_mm_set_epi64x(0, static_cast<long long>(bits)), _mm_set1_epi8(-1), 0);
  return static_cast<std::uint64_t>(_mm_cvtsi128_si64(product));
}

// The backslashes that escape the byte after them. In a run that starts unescaped those are its 1st, 3rd, 5th ... byte.
inline std::uint64_t escaping_backslashes(std::uint64_t backslashes, std::uint64_t first_is_escaped) {
  constexpr std::uint64_t kOddBits = 0xAAAAAAAAAAAAAAAA;
  const std::uint64_t candidates = backslashes & ~first_is_escaped;
  // Subtracting a run's bits from the odd bits (with the byte behind each set) borrows through the run, so that
  // alternating bits appear whose phase is that of the run's start.
  const std::uint64_t borrowed = ((candidates << 1) | kOddBits) - candidates;
  return (borrowed ^ kOddBits) & backslashes;
}

// The highest set bit below `limit` (1..64) and at or above `from`; kNone when there is none.
inline std::size_t last_bit(std::uint64_t bits, std::size_t from, std::size_t limit) {
  if (from >= limit) return ScanResult::kNone;
  bits &= ~std::uint64_t{0} << from;
  if (limit < kBlock) bits &= (std::uint64_t{1} << limit) - 1;
  return bits == 0 ? ScanResult::kNone : 63 - static_cast<std::size_t>(__builtin_clzll(bits));
}

// Follows the depth bracket by bracket. True when the array was closed.
[[gnu::target("avx2,pclmul,popcnt,bmi")]] inline bool walk_block(std::uint64_t opens, std::uint64_t closes,
                                                                 std::uint64_t commas, std::size_t offset, Carry& carry,
                                                                 ScanResult& result) {
  std::size_t from = 0;  // first byte at the current depth
  std::uint64_t brackets = opens | closes;
  while (true) {
    const std::size_t at = brackets == 0 ? kBlock : static_cast<std::size_t>(__builtin_ctzll(brackets));
    if (carry.depth == 0) {
      const std::size_t comma = last_bit(commas, from, at);
      if (comma != ScanResult::kNone) result.last_comma = offset + comma;
    }
    if (brackets == 0) return false;
    carry.depth += (opens >> at & 1) != 0 ? 1 : -1;
    if (carry.depth < 0) {
      result.end = offset + at;
      return true;
    }
    brackets &= brackets - 1;
    from = at + 1;
  }
}

// For a block with a backslash outside strings.
bool scan_block_by_bytes(const char* bytes, std::size_t size, std::size_t offset, Carry& carry, ScanResult& result) {
  ScanState state{carry.depth, carry.in_string != 0, carry.escaped != 0};
  const ScanResult found = scan_structure_scalar({bytes, size}, state);
  if (found.last_comma != ScanResult::kNone) result.last_comma = offset + found.last_comma;
  if (found.end != ScanResult::kNone) result.end = offset + found.end;
  carry = {state.depth, state.in_string ? ~std::uint64_t{0} : 0, state.escaped ? std::uint64_t{1} : 0};
  return found.end != ScanResult::kNone;
}

// Scans the 64 bytes at `bytes`, of which the first `size` (>= 1) count and the others are zero; `offset` is where
// they stand in the piece. True when the array was closed.
[[gnu::target("avx2,pclmul,popcnt,bmi")]] inline bool scan_block(const char* bytes, std::size_t size,
                                                                 std::size_t offset, Carry& carry, ScanResult& result) {
  const Block block{_mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes)),
                    _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes + 32))};
  const std::uint64_t backslashes = equal_mask(block, '\\');
  std::uint64_t quotes = equal_mask(block, '"') & ~carry.escaped;
  std::uint64_t escaping = 0;
  if (backslashes != 0) {
    escaping = escaping_backslashes(backslashes, carry.escaped);
    quotes &= ~(escaping << 1);
  }
  const std::uint64_t strings = prefix_xor(quotes) ^ carry.in_string;
  if ((backslashes & ~strings) != 0) return scan_block_by_bytes(bytes, size, offset, carry, result);
  carry.escaped = escaping >> (size - 1) & 1;
  carry.in_string = static_cast<std::uint64_t>(static_cast<std::int64_t>(strings) >> 63);

  // '[' and '{', ']' and '}' differ in this bit only.
  const __m256i fold = _mm256_set1_epi8(0x20);
  const Block folded{_mm256_or_si256(block.low, fold), _mm256_or_si256(block.high, fold)};
  const std::uint64_t opens = equal_mask(folded, '{') & ~strings;
  const std::uint64_t closes = equal_mask(folded, '}') & ~strings;
  const auto close_count = __builtin_popcountll(closes);
  if (carry.depth > close_count) {
    carry.depth += __builtin_popcountll(opens) - close_count;
    return false;
  }
  return walk_block(opens, closes, equal_mask(block, ',') & ~strings, offset, carry, result);
}

[[gnu::target("avx2,pclmul,popcnt,bmi")]] void scan_piece(std::string_view piece, ScanState& state,
                                                          ScanResult& result) {
  Carry carry{state.depth, state.in_string ? ~std::uint64_t{0} : 0, state.escaped ? std::uint64_t{1} : 0};
  std::size_t offset = 0;
  bool closed = false;
  for (; !closed && piece.size() - offset >= kBlock; offset += kBlock) {
    closed = scan_block(piece.data() + offset, kBlock, offset, carry, result);
  }
  if (!closed && offset < piece.size()) {
    alignas(32) char tail[kBlock] = {};
    std::memcpy(tail, piece.data() + offset, piece.size() - offset);
    // The zeros behind the tail are neither quotes nor brackets, so depth and string state pass through them.
    closed = scan_block(tail, piece.size() - offset, offset, carry, result);
  }
  if (closed) carry.in_string = carry.escaped = 0;
  state = {carry.depth, carry.in_string != 0, carry.escaped != 0};
}

bool cpu_has_instructions() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("popcnt") &&
         __builtin_cpu_supports("bmi");
}

}  // namespace

bool scan_structure_simd(std::string_view piece, ScanState& state, ScanResult& result) {
  if (!cpu_has_instructions()) return false;
  result = {};
  if (state.depth >= 0) scan_piece(piece, state, result);
  return true;
}

}  // namespace tracedb

#else

namespace tracedb {

bool scan_structure_simd(std::string_view, ScanState&, ScanResult&) { return false; }

}  // namespace tracedb

#endif
