// Regular expressions from outside, checked before they are used. The C library matches POSIX extended expressions in
// time proportional to the text, with two exceptions that no time limit could end: references back to a group take
// exponential time, and repeats of repeats ("((a{255}){255}){255}") any amount of memory.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tracedb {

struct PatternFault {
  std::string reason;  // "Unmatched ( or \\("
  std::size_t at = 0;  // byte of the pattern at which the fault begins, from 0
};

// Why `pattern` cannot be used: malformed, or one of the exceptions above. nullopt: it compiles.
std::optional<PatternFault> pattern_fault(std::string_view pattern);

// "Unmatched ( or \\( at character 3 of the expression": the position is counted in characters, from 1.
std::string fault_text(const PatternFault& fault, std::string_view pattern);

}  // namespace tracedb
