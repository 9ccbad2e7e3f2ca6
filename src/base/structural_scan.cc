#include "base/structural_scan.h"

namespace tracedb {
namespace {

// The string from `i` on: past its closing quote, or the end of the piece with the state saying where it broke off.
std::size_t skip_string(std::string_view piece, std::size_t i, ScanState& state) {
  if (state.escaped && i < piece.size()) {
    state.escaped = false;
    ++i;
  }
  while (i < piece.size()) {
    const char c = piece[i++];
    if (c == '"') {
      state.in_string = false;
      break;
    }
    if (c != '\\') continue;
    if (i == piece.size()) state.escaped = true;
    ++i;
  }
  return i;
}

}  // namespace

ScanResult scan_structure_scalar(std::string_view piece, ScanState& state) {
  ScanResult result;
  if (state.depth < 0) return result;
  std::size_t i = 0;
  while (i < piece.size()) {
    if (state.in_string) {
      i = skip_string(piece, i, state);
      continue;
    }
    switch (piece[i]) {
      case '"':
        state.in_string = true;
        break;
      case '[':
      case '{':
        ++state.depth;
        break;
      case ']':
      case '}':
        if (--state.depth < 0) {
          result.end = i;
          return result;
        }
        break;
      case ',':
        if (state.depth == 0) result.last_comma = i;
        break;
      default:
        break;
    }
    ++i;
  }
  return result;
}

ScanResult scan_structure(std::string_view piece, ScanState& state) {
  ScanResult result;
  if (!scan_structure_simd(piece, state, result)) result = scan_structure_scalar(piece, state);
  return result;
}

}  // namespace tracedb
