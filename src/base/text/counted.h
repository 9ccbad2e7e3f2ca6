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

}  // namespace tracedb
