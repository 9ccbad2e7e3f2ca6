#include "ascend/json_arguments.h"

#include <algorithm>

#include "base/failure.h"
#include "base/python/json.h"

namespace tracedb {
namespace {

// Behind the quote that ends the string that begins at `at`.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  for (std::size_t quote = text.find('"', at + 1); quote != std::string_view::npos; quote = text.find('"', quote + 1)) {
    std::size_t backslashes = 0;
    while (quote - backslashes > at + 1 && text[quote - backslashes - 1] == '\\') ++backslashes;
    if (backslashes % 2 == 0) return quote + 1;
  }
  return std::string_view::npos;
}

}  // namespace

std::size_t end_of_json_value(std::string_view text, std::size_t at) {
  if (text[at] == '"') return end_of_string(text, at);
  std::size_t depth = 0;
  for (; at != std::string_view::npos && at < text.size(); ++at) {
    switch (text[at]) {
      case '"':
        at = end_of_string(text, at);
        if (at == std::string_view::npos) return at;
        --at;
        break;
      case '{':
      case '[':
        ++depth;
        break;
      case '}':
      case ']':
        if (depth == 0) return at;
        if (--depth == 0) return at + 1;
        break;
      case ',':
        if (depth == 0) return at;
        break;
      default:
        break;
    }
  }
  return depth == 0 ? text.size() : std::string_view::npos;
}

std::string text_of_json(std::string_view value) {
  if (value == "null") return {};
  if (!value.starts_with('"')) return std::string(value);
  const std::string_view inside = value.substr(1, value.size() - 2);
  if (inside.find('\\') == std::string_view::npos) return std::string(inside);
  std::string text(inside);
  // What is no JSON stays as it is.
  static_cast<void>(catch_error([&] { text = python::read_json(std::string(value), "").text; }));
  return text;
}

}  // namespace tracedb
