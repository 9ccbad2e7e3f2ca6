#include "sql/pattern_check.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tracedb {
namespace {

constexpr std::size_t kMaxPattern = 1000;
constexpr std::uint64_t kMaxStates = 20'000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The position behind the bracket expression that opens at `at`: its first character may be "]", after a "^" too, and
// "[:", "[." and "[=" begin names.
std::size_t after_bracket(std::string_view pattern, std::size_t at) {
  std::size_t end = at + 1;
  if (end < pattern.size() && pattern[end] == '^') ++end;
  if (end < pattern.size() && pattern[end] == ']') ++end;
  while (end < pattern.size() && pattern[end] != ']') {
    const bool named = pattern[end] == '[' && end + 1 < pattern.size() &&
                       std::string_view(":.=").find(pattern[end + 1]) != std::string_view::npos;
    const char closing[] = {named ? pattern[end + 1] : ']', ']'};
    const std::size_t close = named ? pattern.find(std::string_view(closing, 2), end + 2) : std::string_view::npos;
    end = close == std::string_view::npos ? end + 1 : close + 2;
  }
  return std::min(end + 1, pattern.size());
}

// The largest number in the braces that open at `at`: what stands before them is written out that many times.
std::uint64_t repeats(std::string_view pattern, std::size_t at) {
  std::uint64_t largest = 1;
  std::uint64_t number = 0;
  for (std::size_t i = at + 1; i < pattern.size() && pattern[i] != '}'; ++i) {
    number =
        is_digit(pattern[i]) ? std::min(number * 10 + static_cast<std::uint64_t>(pattern[i] - '0'), kMaxStates + 1) : 0;
    largest = std::max(largest, number);
  }
  return largest;
}

// Counts the states of the compiled expression, one for each character that is written out.
class StateCount {
 public:
  void add_atom(std::uint64_t states) {
    last_ = states;
    groups_.back() += states;
  }
  void open() { groups_.push_back(1); }
  void close() {
    if (groups_.size() == 1) return;
    const std::uint64_t states = groups_.back();
    groups_.pop_back();
    add_atom(states);
  }
  void repeat(std::uint64_t times) {
    groups_.back() += last_ * (times - 1);
    last_ *= times;
  }
  [[nodiscard]] bool is_too_large() const { return groups_.back() > kMaxStates; }

 private:
  std::vector<std::uint64_t> groups_ = {0};
  std::uint64_t last_ = 0;
};

}  // namespace

std::string_view pattern_fault(std::string_view pattern) {
  if (pattern.size() > kMaxPattern) return "it is too long";
  StateCount count;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    switch (pattern[at]) {
      case '\\':
        ++at;
        if (at < pattern.size() && is_digit(pattern[at])) return "references back to a group are not supported";
        count.add_atom(1);
        break;
      case '[':
        at = after_bracket(pattern, at) - 1;
        count.add_atom(1);
        break;
      case '(':
        count.open();
        break;
      case ')':
        count.close();
        break;
      case '{':
        count.repeat(repeats(pattern, at));
        at = std::min(pattern.find('}', at), pattern.size());
        break;
      default:
        count.add_atom(1);
    }
    if (count.is_too_large()) return "its repeats make it too large";
  }
  return {};
}

}  // namespace tracedb
