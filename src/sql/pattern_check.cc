#include "sql/pattern_check.h"

#include <fmt/format.h>
#include <regex.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
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

// The position behind the element of the expression that begins at `at`: an escape, a bracket expression, a number of
// repeats or one character.
std::size_t after_element(std::string_view pattern, std::size_t at) {
  if (pattern[at] == '\\') return std::min(at + 2, pattern.size());
  if (pattern[at] == '[') return after_bracket(pattern, at);
  if (pattern[at] == '{') return std::min(pattern.find('}', at), pattern.size() - 1) + 1;
  return at + 1;
}

// An exception named in the header, as far as the pattern can be read.
std::optional<PatternFault> costly_part(std::string_view pattern) {
  if (pattern.size() > kMaxPattern) return PatternFault{"it is too long", kMaxPattern};
  StateCount count;
  for (std::size_t at = 0; at < pattern.size(); at = after_element(pattern, at)) {
    switch (pattern[at]) {
      case '\\':
        if (at + 1 < pattern.size() && is_digit(pattern[at + 1])) {
          return PatternFault{"references back to a group are not supported", at};
        }
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
        break;
      default:
        count.add_atom(1);
    }
    if (count.is_too_large()) return PatternFault{"its repeats make it too large", at};
  }
  return std::nullopt;
}

// What the C library says of the pattern; empty: it compiles.
std::string compile_error(const std::string& pattern) {
  regex_t regex{};
  const int code = regcomp(&regex, pattern.c_str(), REG_EXTENDED | REG_NOSUB);
  if (code == 0) {
    regfree(&regex);
    return {};
  }
  char reason[128] = {};
  regerror(code, &regex, reason, sizeof reason);
  return reason;
}

// The first elements of a pattern, its open groups closed. The C library does not say where a fault is: it is in the
// last element of the shortest beginning that does not compile, or in the group that is still open at the end.
class Beginnings {
 public:
  explicit Beginnings(std::string_view pattern) : pattern_(pattern) {
    for (std::size_t at = 0; at < pattern.size(); at = after_element(pattern, at)) elements_.push_back(at);
    elements_.push_back(pattern.size());
  }

  [[nodiscard]] std::size_t fault() const {
    std::size_t good = 0;
    std::size_t bad = elements_.size();  // an end behind the last: the groups left open
    while (bad - good > 1) {
      const std::size_t middle = good + (bad - good) / 2;
      (compiles(middle) ? good : bad) = middle;
    }
    return bad < elements_.size() ? elements_[bad - 1] : open_groups(elements_.size() - 1).back();
  }

 private:
  [[nodiscard]] bool compiles(std::size_t elements) const {
    const std::string closed(open_groups(elements).size() - 1, ')');
    return compile_error(std::string(pattern_.substr(0, elements_[elements])) + closed).empty();
  }

  // Behind so many elements; the first is none of them, but the beginning.
  [[nodiscard]] std::vector<std::size_t> open_groups(std::size_t elements) const {
    std::vector<std::size_t> open = {0};
    for (std::size_t i = 0; i < elements; ++i) {
      const char c = pattern_[elements_[i]];
      if (c == '(') open.push_back(elements_[i]);
      if (c == ')' && open.size() > 1) open.pop_back();
    }
    return open;
  }

  std::string_view pattern_;
  std::vector<std::size_t> elements_;  // where each begins, and the end
};

}  // namespace

std::optional<PatternFault> pattern_fault(std::string_view pattern) {
  if (auto costly = costly_part(pattern)) return costly;
  std::string reason = compile_error(std::string(pattern));
  if (reason.empty()) return std::nullopt;
  return PatternFault{std::move(reason), Beginnings(pattern).fault()};
}

std::string fault_text(const PatternFault& fault, std::string_view pattern) {
  const std::string_view before = pattern.substr(0, fault.at);
  const auto characters = std::count_if(before.begin(), before.end(), [](char c) {
    constexpr unsigned kContinues = 0x80, kMask = 0xc0;
    return (static_cast<unsigned char>(c) & kMask) != kContinues;
  });
  return fmt::format("{} at character {} of the expression", fault.reason, characters + 1);
}

}  // namespace tracedb
