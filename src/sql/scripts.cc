#include "sql/scripts.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace tracedb {

std::string_view script(std::string_view name) {
  for (const Script& candidate : scripts()) {
    if (candidate.name == name) return candidate.text;
  }
  throw std::out_of_range("no SQL script named " + std::string(name));
}

std::vector<std::string_view> data_lines(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!line.empty() && line.front() != '#') out.push_back(line);
  }
  return out;
}

}  // namespace tracedb
