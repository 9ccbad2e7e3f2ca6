// Converts raw JSON tokens to values. A raw token is the text of one scalar, array or object of the trace, without the
// white space around it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

inline bool is_json_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
// The place of the first character from `i` on that is no white space; the length of the text if there is none.
inline std::size_t skip_json_space(std::string_view text, std::size_t i) {
  while (i < text.size() && is_json_space(text[i])) ++i;
  return i;
}
std::string_view trim_json_space(std::string_view text);

inline bool is_json_string(std::string_view token) { return !token.empty() && token.front() == '"'; }

// Text between the quotes of a string token, still escaped; the token itself if it is no string.
std::string_view raw_string(std::string_view token);

struct Unescaped {
  std::string text;          // valid UTF-8 if the input was
  std::size_t replaced = 0;  // NUL characters, lone surrogates and unknown escapes that became U+FFFD
};
Unescaped unescape(std::string_view raw);

// The same of text that may be no UTF-8: what is not becomes U+FFFD too, and is counted.
Unescaped storable_text(std::string_view raw);
// JSON as it is stored: what is no UTF-8, and escapes of NUL and of lone surrogates, are U+FFFD. Other escapes stay.
Unescaped storable_json(std::string_view json);

// Number tokens, and strings that hold nothing but a number ("12.5", "stream": "7").
std::string_view number_text(std::string_view token);

// White space outside strings removed, so that the same value is the same text in pretty-printed and minified traces.
std::string minify(std::string_view json);

// Length of the value that starts at the first byte of `text`, which may run on behind it; npos if it does not end
// there.
std::size_t json_value_length(std::string_view text);

struct JsonMember {
  std::string_view key;    // raw, without quotes
  std::string_view value;  // raw token
};
// Members of the object that starts at the first byte of `text`. Stops quietly at anything that is no JSON.
std::vector<JsonMember> json_members(std::string_view text);
// Raw token of the last member of this name; empty: there is none.
std::string_view json_member(std::span<const JsonMember> members, std::string_view key);
inline std::string_view json_member(std::string_view object, std::string_view key) {
  return json_member(json_members(object), key);
}

// Raw tokens of the array that starts at the first byte of `text`. Stops as quietly.
std::vector<std::string_view> json_elements(std::string_view text);

// Text as a JSON string; what is no UTF-8 becomes U+FFFD.
std::string quote_json(std::string_view text);

}  // namespace tracedb
