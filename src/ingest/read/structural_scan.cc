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
