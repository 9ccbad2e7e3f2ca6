// Characters: ASCII, independent of the locale, and whether text is valid UTF-8.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace tracedb {

// Length of the valid UTF-8 sequence at the start of `text` (1-4), 0 if there is none. Surrogates, overlong forms and
// code points above U+10FFFF are not valid.
std::size_t utf8_sequence_length(std::string_view text);

struct ValidText {
  std::string text;
  std::size_t replaced = 0;  // broken sequences that became U+FFFD
};
ValidText valid_utf8(std::string_view text);
ValidText storable_utf8(std::string_view text);  // NUL becomes U+FFFD too: many readers of texts end there

void append_utf8(std::string& out, std::uint32_t code_point);  // surrogates and values out of range become U+FFFD

// ASCII characters, independent of the locale.
inline bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }
inline bool contains_any(std::string_view text, std::span<const std::string_view> parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return contains(text, part); });
}
inline bool contains_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return contains_any(text, std::span(parts.begin(), parts.size()));
}

inline std::string ascii_lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
}

}  // namespace tracedb
