// What every fuzz target needs: the input taken apart from the front, and a way to say that a promise was broken.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace tracedb {

// Settings are read off the front of the input, so that a seed stays readable behind a few bytes of them.
class FuzzInput {
 public:
  FuzzInput(const std::uint8_t* data, std::size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}

  // 0 once the input has ended.
  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const auto value = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return value;
  }
  std::size_t number(unsigned bytes) {
    std::size_t value = 0;
    while (bytes-- > 0) value = value << 8U | byte();
    return value;
  }
  std::string_view take(std::size_t size) {
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  [[nodiscard]] std::string_view rest() const { return rest_; }
  [[nodiscard]] bool empty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

// Some sizes are beyond what a fuzzer can write: \2 becomes a long name, \3 a lot of white space. The first few of
// them.
inline std::string stretched(std::string_view text) {
  constexpr std::size_t kLength = 30'000;
  std::size_t left = 8;
  std::string out;
  for (const char c : text) {
    const bool stretch = (c == '\2' || c == '\3') && left > 0;
    out.append(stretch ? kLength : 1, !stretch ? c : c == '\2' ? 'x' : ' ');
    left -= stretch ? 1 : 0;
  }
  return out;
}

[[noreturn]] inline void broken(std::string_view promise) {
  std::fprintf(stderr, "broken promise: %.*s\n", static_cast<int>(promise.size()), promise.data());
  std::abort();  // what libFuzzer takes for a finding
}

inline void require(bool holds, std::string_view promise) {
  if (!holds) broken(promise);
}

// Names both where they differ.
inline void require_same(std::string_view actual, std::string_view expected, std::string_view promise) {
  if (actual == expected) return;
  const auto differ = std::mismatch(actual.begin(), actual.end(), expected.begin(), expected.end());
  const auto at = static_cast<std::size_t>(differ.first - actual.begin());
  const std::size_t from = at < 40 ? 0 : at - 40;
  std::fprintf(stderr, "differ at byte %zu:\n  %s\n  %s\n", at, std::string(actual.substr(from, 200)).c_str(),
               std::string(expected.substr(from, 200)).c_str());
  broken(promise);
}

}  // namespace tracedb
