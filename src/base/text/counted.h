// A count with its noun, for messages: "1 gap", "2 gaps", "0 gaps".
#pragma once

#include <concepts>
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

}  // namespace tracedb
