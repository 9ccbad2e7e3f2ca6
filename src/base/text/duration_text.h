// Formats durations for people.
#pragma once

#include <cstdint>
#include <string>

namespace tracedb {

// While one lives, what its thread puts into words as times are counts of cycles, which no clock makes a time: "156,016
// cycles". `cycles`: as meta.time_unit says; false: changes nothing.
class CycleWords {
 public:
  explicit CycleWords(bool cycles);
  ~CycleWords();
  CycleWords(const CycleWords&) = delete;
  CycleWords& operator=(const CycleWords&) = delete;
  [[nodiscard]] static bool active();

 private:
  bool before_;
};

std::string short_duration_text(double ns);  // "56.8 ms": three significant digits
std::string brief_time(double ns);           // "56.8 ms", "2.00 ms", "-787 us": always three digits
std::string signed_time(double ns);          // "+25.6 ms"
std::string duration_text(double ns);        // "512 ns", "1.234 us", "56.789 ms", "1.234 s", "-3 ns"

// "2025-05-14 06:27:24.851617869 UTC"; "1234 ns" before 1980: the clock of a machine that counts from its start.
std::string moment_text(std::int64_t ns_since_epoch);

}  // namespace tracedb
