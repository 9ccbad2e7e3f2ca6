// Regular expressions from outside, judged before they are compiled. The C library matches POSIX extended expressions
// in time proportional to the text, with two exceptions that no time limit could end: references back to a group take
// exponential time, and repeats of repeats ("((a{255}){255}){255}") any amount of memory.
#pragma once

#include <string_view>

namespace tracedb {

// Why `pattern` is refused; empty: it may be compiled (which may still find it malformed).
std::string_view pattern_fault(std::string_view pattern);

}  // namespace tracedb
