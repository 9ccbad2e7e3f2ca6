#include "sql/scripts.h"

#include <stdexcept>
#include <string>

#include "base/text/split.h"

namespace tracedb {

std::string_view script(std::string_view name) {
  for (const Script& candidate : scripts()) {
    if (candidate.name == name) return candidate.text;
  }
  throw std::out_of_range("no SQL script named " + std::string(name));
}

std::vector<std::string_view> data_lines(std::string_view text) {
  std::vector<std::string_view> lines = split_lines(text);
  std::erase_if(lines, [](std::string_view line) { return line.empty() || line.starts_with('#'); });
  return lines;
}

}  // namespace tracedb
