#include "ingest/read/structural_scan.h"

namespace tracedb {
namespace {

// The string from `i` on: past its closing quote, to a zero byte, or the end of the piece with the state saying where
// it broke off.
std::size_t skip_string(std::string_view piece, std::size_t i, ScanState& state) {
  for (; i < piece.size(); ++i) {
    const char c = piece[i];
    if (c == '\0') return i;
    if (state.escaped) {
      state.escaped = false;
    } else if (c == '\\') {
      state.escaped = true;
    } else if (c == '"') {
      state.in_string = false;
      state.after_string = true;
      return i + 1;
    }
  }
  return i;
}

bool may_follow_string(char c) {
  return static_cast<unsigned char>(c) <= ' ' || c == ',' || c == ':' || c == ']' || c == '}';
}

// Scans one piece, byte by byte.
class ScalarScan {
 public:
  ScalarScan(std::string_view piece, ScanState& state) : piece_(piece), state_(state) {}

  ScanResult run() {
    while (i_ < piece_.size()) {
      if (piece_[i_] == '\0') {
        stop(Suspicion::kBroken);
        break;
      }
      if (state_.in_string) {
        i_ = skip_string(piece_, i_, state_);
      } else if (step(piece_[i_])) {
        ++i_;
      } else {
        break;
      }
    }
    if (result_.end == ScanResult::kNone) state_.length += static_cast<std::int64_t>(i_ - begin_);
    return result_;
  }

 private:
  // False: the scan ends here.
  bool step(char c) {
    if (state_.after_string && !may_follow_string(c)) return stop(Suspicion::kBroken);
    state_.after_string = false;
    switch (c) {
      case '"':
        state_.in_string = true;
        return true;
      case '[':
      case '{':
        if (state_.depth == 0) state_.opener = c;
        ++state_.depth;
        return true;
      case ']':
      case '}':
        if (state_.depth == 0) return close_array(c);
        // Brackets of one kind differ in other bits only.
        if (state_.depth == 1 && ((c ^ state_.opener) & 0x20) != 0) return stop(Suspicion::kBroken);
        --state_.depth;
        return true;
      case ',':
        return state_.depth != 0 || next_element();
      default:
        return true;
    }
  }

  bool close_array(char c) {
    if (c == '}') return stop(Suspicion::kBroken);
    if (is_large()) return stop(Suspicion::kLarge);
    state_.depth = -1;
    state_.length = 0;
    result_.end = i_;
    return false;
  }

  bool next_element() {
    if (is_large()) return stop(Suspicion::kLarge);
    result_.last_comma = i_;
    begin_ = i_ + 1;
    state_.length = 0;
    return true;
  }

  [[nodiscard]] bool is_large() const {
    return state_.length + static_cast<std::int64_t>(i_ - begin_) > ScanResult::kLargeElement;
  }

  // Whoever goes on behind a large element starts to count anew.
  bool stop(Suspicion suspicion) {
    result_.stop = i_;
    result_.suspicion = suspicion;
    if (suspicion == Suspicion::kLarge) {
      state_.length = 0;
      begin_ = i_;
    }
    return false;
  }

  std::string_view piece_;
  ScanState& state_;
  ScanResult result_;
  std::size_t i_ = 0;
  std::size_t begin_ = 0;  // of the element's bytes in the piece
};

}  // namespace

ElementEnd element_end(std::string_view piece, ScanState& state) {
  for (std::size_t i = 0; i < piece.size(); ++i) {
    const ScanResult result = scan_structure_scalar(piece.substr(i, 1), state);
    const bool broken = result.suspicion == Suspicion::kBroken;
    if (broken || result.end != ScanResult::kNone || result.last_comma != ScanResult::kNone) return {i, broken};
  }
  return {piece.size(), false};
}

ScanResult scan_structure_scalar(std::string_view piece, ScanState& state) {
  return state.depth < 0 ? ScanResult{} : ScalarScan(piece, state).run();
}

ScanResult scan_structure(std::string_view piece, ScanState& state) {
  ScanResult result;
  if (!scan_structure_simd(piece, state, result)) result = scan_structure_scalar(piece, state);
  return result;
}

}  // namespace tracedb

// 64 bytes at a time: every byte class becomes a 64-bit mask, bit i for byte i.
//
// 1. Backslash runs say which bytes are escaped; an addition carries through each run.
// 2. The prefix xor of the unescaped quotes (a carry-less multiplication by all ones) says which bytes are in a string.
// 3. Brackets outside strings are counted. Only where the depth could fall to 0 inside the block are they walked.
//
// A block with anything suspicious in it is handed to the scalar code, which finds the byte to stop at. So is one with
// a backslash outside a string: it means nothing to the scalar twin but would escape in step 1.
#if defined(__x86_64__)
#include <immintrin.h>

#include <cstring>

namespace tracedb {
namespace {

constexpr std::size_t kBlock = 64;

// The state between blocks, in the form the masks need.
struct Carry {
  std::int64_t depth;
  std::uint64_t in_string;     // all ones or zero
  std::uint64_t escaped;       // 1 or 0
  std::uint64_t after_string;  // 1 or 0
  char opener;                 // as in ScanState
  std::int64_t begin;          // where in the piece the element begins; negative: in an earlier one
};

Carry carry_of(const ScanState& state, std::int64_t offset) {
  return {state.depth,
          state.in_string ? ~std::uint64_t{0} : 0,
          state.escaped ? std::uint64_t{1} : 0,
          state.after_string ? std::uint64_t{1} : 0,
          state.opener,
          offset - state.length};
}

ScanState state_of(const Carry& carry, std::int64_t offset) {
  return {carry.depth,  carry.in_string != 0, carry.escaped != 0, carry.after_string != 0,
          carry.opener, offset - carry.begin};
}

struct Block {
  __m256i low;
  __m256i high;
};

// Bit i is the highest bit of byte i.
[[gnu::target("avx2,pclmul,popcnt,bmi")]] inline std::uint64_t mask_of(const Block& block) {
  const auto low = static_cast<std::uint32_t>(_mm256_movemask_epi8(block.low));
  const auto high = static_cast<std::uint32_t>(_mm256_movemask_epi8(block.high));
  return low | static_cast<std::uint64_t>(high) << 32;
}

[[gnu::target("avx2,pclmul,popcnt,bmi")]] inline std::uint64_t equal_mask(const Block& block, char c) {
  const __m256i wanted = _mm256_set1_epi8(c);
  return mask_of({_mm256_cmpeq_epi8(block.low, wanted), _mm256_cmpeq_epi8(block.high, wanted)});
}

// The bytes , : and } or ]. (And some control characters, which have no business between tokens but do no harm here.)
// `folded` is the block with the bit 0x20 set in every byte, in which '[' and '{', ']' and '}' differ.
[[gnu::target("avx2,pclmul,popcnt,bmi")]] inline std::uint64_t separator_mask(const Block& block, const Block& folded) {
  // The low half of a byte picks the one character of , : } that ends in it.
  const __m256i picked = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ':', 0, ',', '}', 0, 0,  //
                                          0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ':', 0, ',', '}', 0, 0);
  return mask_of({_mm256_cmpeq_epi8(_mm256_shuffle_epi8(picked, block.low), folded.low),
                  _mm256_cmpeq_epi8(_mm256_shuffle_epi8(picked, block.high), folded.high)});
}

// White space and control characters.
[[gnu::target("avx2,pclmul,popcnt,bmi")]] inline std::uint64_t blank_mask(const Block& block) {
  const __m256i space = _mm256_set1_epi8(' ');
  return mask_of({_mm256_cmpeq_epi8(_mm256_max_epu8(block.low, space), space),
                  _mm256_cmpeq_epi8(_mm256_max_epu8(block.high, space), space)});
}

[[gnu::target("avx2,pclmul,popcnt,bmi")]] inline bool has_zero(const Block& block) {
  const __m256i zeros = _mm256_cmpeq_epi8(_mm256_min_epu8(block.low, block.high), _mm256_setzero_si256());
  return _mm256_movemask_epi8(zeros) != 0;
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

enum class BlockWalk { kGoesOn, kClosed, kSuspicious };

// What is between elements, before byte `at` of a block: the bracket that ended the last one must be of the kind of
// `opener`. Updates where the current element begins. False: something is suspicious.
[[gnu::always_inline, gnu::target("avx2,pclmul,popcnt,bmi")]] inline bool pass_gap(std::uint64_t commas,
                                                                                   const char* bytes, std::size_t from,
                                                                                   std::size_t at, char opener,
                                                                                   std::int64_t& begin,
                                                                                   std::size_t& last_comma) {
  if (from > 0 && ((bytes[from - 1] ^ opener) & 0x20) != 0) return false;
  const std::size_t comma = last_bit(commas, from, at);
  if (comma == ScanResult::kNone) return true;
  // Of several commas in the block, only the first may end a large element.
  const auto first = static_cast<std::int64_t>(__builtin_ctzll(commas & ~std::uint64_t{0} << from));
  if (first - begin > ScanResult::kLargeElement) return false;
  last_comma = comma;
  begin = static_cast<std::int64_t>(comma) + 1;
  return true;
}

// Follows the depth bracket by bracket. What it finds is written back unless something is suspicious.
[[gnu::target("avx2,pclmul,popcnt,bmi")]] inline BlockWalk walk_block(std::uint64_t opens, std::uint64_t closes,
                                                                      std::uint64_t commas, const char* bytes,
                                                                      std::size_t offset, Carry& carry,
                                                                      ScanResult& result) {
  std::size_t from = 0;  // first byte at the current depth
  std::uint64_t brackets = opens | closes;
  std::int64_t depth = carry.depth;
  std::int64_t begin = carry.begin - static_cast<std::int64_t>(offset);
  std::size_t last_comma = ScanResult::kNone;
  char opener = carry.opener;
  while (true) {
    const std::size_t at = brackets == 0 ? kBlock : static_cast<std::size_t>(__builtin_ctzll(brackets));
    // All that is to be done once an element stands here: this branch is hard enough to predict.
    if (depth == 0) {
      if (!pass_gap(commas, bytes, from, at, opener, begin, last_comma)) return BlockWalk::kSuspicious;
      if (brackets != 0) opener = bytes[at];
    }
    if (brackets == 0) break;
    depth += (opens >> at & 1) != 0 ? 1 : -1;
    if (depth < 0) {
      const bool large = static_cast<std::int64_t>(at) - begin > ScanResult::kLargeElement;
      if (bytes[at] == '}' || large) return BlockWalk::kSuspicious;
      result.end = offset + at;
      break;
    }
    brackets &= brackets - 1;
    from = at + 1;
  }
  if (last_comma != ScanResult::kNone) result.last_comma = offset + last_comma;
  carry.depth = depth;
  carry.opener = opener;
  carry.begin = begin + static_cast<std::int64_t>(offset);
  return depth < 0 ? BlockWalk::kClosed : BlockWalk::kGoesOn;
}

// For a block in which something is odd. True when the scan ends in it.
[[gnu::noinline, gnu::cold]] bool scan_block_by_bytes(const char* bytes, std::size_t size, std::size_t offset,
                                                      Carry& carry, ScanResult& result) {
  const auto begin = static_cast<std::int64_t>(offset);
  ScanState state = state_of(carry, begin);
  const ScanResult found = scan_structure_scalar({bytes, size}, state);
  const auto in_piece = [offset](std::size_t at) { return at == ScanResult::kNone ? at : offset + at; };
  if (found.last_comma != ScanResult::kNone) result.last_comma = offset + found.last_comma;
  result.end = in_piece(found.end);
  result.stop = in_piece(found.stop);
  result.suspicion = found.suspicion;
  const bool finished = found.end != ScanResult::kNone || found.stop != ScanResult::kNone;
  // Where the scan ended inside the block, the caller takes the state from there.
  carry = carry_of(state, finished ? 0 : begin + static_cast<std::int64_t>(size));
  return finished;
}

// The end of the array: nothing of the last element is left to be known.
void close_carry(Carry& carry) {
  carry.in_string = carry.escaped = carry.after_string = 0;
  carry.begin = 0;
}

// Scans the 64 bytes at `bytes`, of which the first `size` (>= 1) count and the others are blank; `offset` is where
// they stand in the piece. True when the scan ends in it; `carry` then has the state there, as if the piece ended at 0.
// Inline, so that the carry stays in registers from block to block.
[[gnu::always_inline, gnu::target("avx2,pclmul,popcnt,bmi")]] inline bool scan_block(const char* bytes,
                                                                                     std::size_t size,
                                                                                     std::size_t offset, Carry& carry,
                                                                                     ScanResult& result) {
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

  const __m256i fold = _mm256_set1_epi8(0x20);
  const Block folded{_mm256_or_si256(block.low, fold), _mm256_or_si256(block.high, fold)};
  const std::uint64_t ends = quotes & ~strings;  // of strings
  std::uint64_t odd = (ends << 1 | carry.after_string) & ~separator_mask(block, folded);
  if (odd != 0) odd &= ~blank_mask(block);
  if (((backslashes & ~strings) | odd) != 0 || has_zero(block))
    return scan_block_by_bytes(bytes, size, offset, carry, result);
  const std::uint64_t opens = equal_mask(folded, '{') & ~strings;
  const std::uint64_t closes = equal_mask(folded, '}') & ~strings;
  const auto close_count = __builtin_popcountll(closes);
  if (carry.depth > close_count) {
    carry.depth += __builtin_popcountll(opens) - close_count;
  } else {
    const BlockWalk walk = walk_block(opens, closes, equal_mask(block, ',') & ~strings, bytes, offset, carry, result);
    if (walk == BlockWalk::kSuspicious) return scan_block_by_bytes(bytes, size, offset, carry, result);
    if (walk == BlockWalk::kClosed) {
      close_carry(carry);
      return true;
    }
  }
  carry.escaped = escaping >> (size - 1) & 1;
  carry.in_string = static_cast<std::uint64_t>(static_cast<std::int64_t>(strings) >> 63);
  carry.after_string = ends >> (size - 1) & 1;
  return false;
}

[[gnu::target("avx2,pclmul,popcnt,bmi")]] void scan_piece(std::string_view piece, ScanState& state,
                                                          ScanResult& result) {
  Carry carry = carry_of(state, 0);
  std::size_t offset = 0;
  bool finished = false;
  for (; !finished && piece.size() - offset >= kBlock; offset += kBlock) {
    finished = scan_block(piece.data() + offset, kBlock, offset, carry, result);
  }
  if (!finished && offset < piece.size()) {
    // Whatever the state, depth and strings pass through the spaces behind the tail.
    alignas(32) char tail[kBlock];
    std::memset(tail, ' ', kBlock);
    std::memcpy(tail, piece.data() + offset, piece.size() - offset);
    finished = scan_block(tail, piece.size() - offset, offset, carry, result);
  }
  state = state_of(carry, finished ? 0 : static_cast<std::int64_t>(piece.size()));
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
