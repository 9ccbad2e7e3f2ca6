// Finds where JSON array elements end, without parsing them: tracks strings, escapes and nesting depth over bytes that
// arrive in pieces. Exact for every well-formed document, whatever its layout; never a heuristic on line breaks.
//
// Stops where its state must be wrong: at bytes that no well-formed document has there. A quote or bracket too many or
// too few turns strings inside out or shifts the depth, and shows soon after, mostly in the same element.
//
// Two implementations with one meaning: a scalar one, and one for CPUs with AVX2 and PCLMUL picked at run time; tests
// compare them byte for byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tracedb {

// State between pieces. Depth 0 is the array whose elements are cut: '[' of that array is not fed in.
struct ScanState {
  std::int64_t depth = 0;
  bool in_string = false;
  bool escaped = false;       // the previous byte was an unescaped backslash inside a string
  bool after_string = false;  // the previous byte was the quote that closed a string
  char opener = '\0';         // the bracket the element began with, where depth > 0
  std::int64_t length = 0;    // bytes of the element in earlier pieces
};

enum class Suspicion : std::uint8_t {
  kNone,
  // Broken for certain: a zero byte; a string followed by neither white space nor , : ] }; an element or the array
  // closed by a bracket of the other kind.
  kBroken,
  // An element larger than kLargeElement ends here: perhaps a bracket is missing. The scan may be continued from here.
  kLarge,
};

struct ScanResult {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  static constexpr std::int64_t kLargeElement = std::int64_t{64} << 10;
  std::size_t last_comma = kNone;  // offset in the piece of the last comma at depth 0 outside strings (before `end`)
  std::size_t end = kNone;   // offset of the bracket that closed the array (depth went to -1); the scan stops there
  std::size_t stop = kNone;  // offset of the byte that gave rise to `suspicion`; the scan stops before it
  Suspicion suspicion = Suspicion::kNone;
};

// Scans `piece`, updating `state`. After `end` was found, state.depth is -1 and the rest of the piece is not scanned.
ScanResult scan_structure(std::string_view piece, ScanState& state);

struct ElementEnd {
  std::size_t at;  // of its comma, of the bracket that closes the array, or where it turns out to be broken
  bool broken;
};
// Where the element that `state` is in the middle of ends; the size of the piece, all of it scanned, if it does not.
// Byte by byte. Large elements are followed to their end only where state.length is so negative that none is large.
ElementEnd element_end(std::string_view piece, ScanState& state);

ScanResult scan_structure_scalar(std::string_view piece, ScanState& state);
// Returns false and does nothing where the CPU lacks the instructions.
bool scan_structure_simd(std::string_view piece, ScanState& state, ScanResult& result);

}  // namespace tracedb
