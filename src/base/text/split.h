// Texts taken apart: lists separated by commas, lines, names and their numbers.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace tracedb {

// "a,,b" -> "a", "", "b": one part more than separators. Views into `text`.
inline std::vector<std::string_view> split_text(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

// The same of lines, the last of which may end with a line feed or not.
inline std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> out = split_text(text, '\n');
  if (out.back().empty()) out.pop_back();
  return out;
}

// "Linear_3" as "Linear"; what has no number behind a name and '_' as it is.
inline std::string_view without_number(std::string_view name) {
  const std::size_t end = name.find_last_not_of("0123456789");
  const bool is_numbered = end != std::string_view::npos && end > 0 && end + 1 < name.size() && name[end] == '_';
  return is_numbered ? name.substr(0, end) : name;
}

}  // namespace tracedb
