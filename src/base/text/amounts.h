// Counts and durations in words, for messages and sentences.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace tracedb {

// `many` where it is not `one` and an "s": counted(n, "index", "indexes"), counted(n, "kernel has", "kernels have").
inline std::string counted(std::integral auto n, std::string_view one, std::string_view many = {}) {
  std::string text = std::to_string(n) + ' ';
  text += n == 1 || many.empty() ? one : many;
  if (n != 1 && many.empty()) text += 's';
  return text;
}

// "-1234567.89" -> "-1,234,567.89"
inline std::string with_separators(const std::string& digits) {
  const std::size_t first = digits.starts_with('-') ? 1 : 0;
  const std::size_t point = std::min(digits.find('.'), digits.size());
  std::string out = digits.substr(0, first);
  for (std::size_t i = first; i < point; ++i) {
    if (i > first && (point - i) % 3 == 0) out.push_back(',');
    out.push_back(digits[i]);
  }
  return out + digits.substr(point);
}

// Formats durations for people.

// While one lives, what its thread puts into words as times are counts of cycles, which no clock makes a time: "156,016
// cycles". `cycles`: as meta.time_unit says; false: changes nothing.
class CycleWords {
 public:
  explicit CycleWords(bool cycles);
  ~CycleWords();
  CycleWords& operator=(CycleWords&&) = delete;
  [[nodiscard]] static bool active();

 private:
  bool before_;
};

std::string short_duration_text(double ns);  // "56.8 ms": three significant digits
std::string brief_time(double ns);           // "56.8 ms", "2.00 ms", "-787 us": always three digits
std::string signed_time(double ns);          // "+25.6 ms"
std::string duration_text(double ns);        // "512 ns", "1.234 us", "56.789 ms", "1.234 s", "-3 ns"

// "54 %" of 0.54; a part is not told as all or nothing: "99.6 %", "over 99.9 %", "under 0.1 %".
std::string part_text(double share, int digits);

std::string bytes_text(double bytes);  // "512 bytes", "61.23 GB": powers of 1000

// 1980, ns since the epoch: clocks that say less count from the start of a machine.
inline constexpr std::int64_t kFirstDate = 315'532'800'000'000'000;

// "2025-05-14 06:27:24.851617869 UTC"; "1234 ns" before 1980: the clock of a machine that counts from its start.
std::string moment_text(std::int64_t ns_since_epoch);

}  // namespace tracedb
