#include "index/source_path.h"

#include <fmt/format.h>

#include <charconv>
#include <cstddef>
#include <optional>

#include "base/text/utf8.h"

namespace tracedb {
namespace {

constexpr std::size_t kEscape = 4;  // characters of \xNN

// The byte that an escape at the start of `text` stands for.
std::optional<char> escaped_byte(std::string_view text) {
  if (text.size() < kEscape || !text.starts_with("\\x")) return std::nullopt;
  unsigned value = 0;
  const char* end = text.data() + kEscape;
  if (std::from_chars(text.data() + 2, end, value, 16).ptr != end) return std::nullopt;
  return static_cast<char>(value);
}

bool needs_escape(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  return first < 0x20 || first == 0x7f || utf8_sequence_length(text) == 0 || escaped_byte(text);
}

}  // namespace

std::string source_path_text(const std::filesystem::path& path) {
  std::string out;
  for (std::string_view rest = path.native(); !rest.empty();) {
    const bool escape = needs_escape(rest);
    const std::size_t length = escape ? 1 : utf8_sequence_length(rest);
    if (escape) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(rest.front()));
    } else {
      out += rest.substr(0, length);
    }
    rest.remove_prefix(length);
  }
  return out;
}

std::filesystem::path source_path(std::string_view text) {
  std::string bytes;
  while (!text.empty()) {
    const std::optional<char> byte = escaped_byte(text);
    bytes += byte.value_or(text.front());
    text.remove_prefix(byte ? kEscape : 1);
  }
  return bytes;
}

}  // namespace tracedb
