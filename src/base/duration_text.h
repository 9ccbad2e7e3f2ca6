// Nanoseconds as people read them.
#pragma once

#include <string>

namespace tracedb {

std::string duration_text(double ns);  // "512 ns", "1.234 us", "56.789 ms", "1.234 s", "-3 ns"

}  // namespace tracedb
