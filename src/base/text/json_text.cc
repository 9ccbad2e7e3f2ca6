#include "base/text/json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text/characters.h"

namespace tracedb {
namespace {

std::optional<std::uint32_t> hex4(std::string_view text) {
  if (text.size() < 4) return std::nullopt;
  std::uint32_t value = 0;
  const char* const end = text.data() + 4;
  return std::from_chars(text.data(), end, value, 16).ptr == end ? std::optional(value) : std::nullopt;
}

bool is_high_surrogate(std::uint32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool is_low_surrogate(std::uint32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

// Reads the escape behind a "\u"; returns how many characters of `text` it took.
std::size_t append_unicode_escape(std::string_view text, Unescaped& out) {
  const std::optional<std::uint32_t> unit = hex4(text);
  if (!unit) {
    append_utf8(out.text, 0xFFFD);
    ++out.replaced;
    return 0;
  }
  if (is_high_surrogate(*unit) && text.substr(4).starts_with("\\u")) {
    const std::optional<std::uint32_t> low = hex4(text.substr(6));
    if (low && is_low_surrogate(*low)) {
      append_utf8(out.text, 0x10000 + ((*unit - 0xD800) << 10U) + (*low - 0xDC00));
      return 10;
    }
  }
  const bool unusable = *unit == 0 || is_high_surrogate(*unit) || is_low_surrogate(*unit);
  append_utf8(out.text, unusable ? 0xFFFD : *unit);
  out.replaced += unusable ? 1 : 0;
  return 4;
}

char simple_escape(char c) {
  constexpr std::string_view kLetters = "ntrbf\"\\/", kMeant = "\n\t\r\b\f\"\\/";
  const std::size_t at = kLetters.find(c);
  return at == std::string_view::npos ? '\0' : kMeant[at];
}

// Of the string that `text` begins with; npos: it does not end.
std::size_t string_length(std::string_view text) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') return i + 1;
    if (text[i] == '\\') ++i;
  }
  return std::string_view::npos;
}

}  // namespace

std::size_t json_value_length(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      const std::size_t length = string_length(text.substr(i));
      if (length == std::string_view::npos) return length;
      i += length - 1;
      if (depth == 0) return i + 1;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return i;
      if (--depth == 0) return i + 1;
    } else if (depth == 0 && (c == ',' || is_json_space(c))) {
      return i;
    }
  }
  return std::string_view::npos;
}

std::vector<JsonMember> json_members(std::string_view text) {
  std::vector<JsonMember> out;
  const auto skip = [&text](std::string_view what) {
    while (!text.empty() && (is_json_space(text.front()) || what.find(text.front()) != std::string_view::npos)) {
      text.remove_prefix(1);
    }
  };
  if (!text.starts_with('{')) return out;
  text.remove_prefix(1);
  for (skip(","); text.starts_with('"'); skip(",")) {
    const std::size_t key_length = json_value_length(text);
    if (key_length == std::string_view::npos) break;
    const std::string_view key = raw_string(text.substr(0, key_length));
    text.remove_prefix(key_length);
    skip(":");
    const std::size_t length = json_value_length(text);
    if (length == std::string_view::npos || length == 0) break;
    out.push_back({key, text.substr(0, length)});
    text.remove_prefix(length);
  }
  return out;
}

std::string_view json_member(std::span<const JsonMember> members, std::string_view key) {
  const auto found = std::find_if(members.rbegin(), members.rend(), [key](const auto& own) { return own.key == key; });
  return found == members.rend() ? std::string_view() : found->value;
}

std::vector<std::string_view> json_elements(std::string_view text) {
  std::vector<std::string_view> out;
  if (!text.starts_with('[')) return out;
  text.remove_prefix(1);
  while (true) {
    while (!text.empty() && (is_json_space(text.front()) || text.front() == ',')) text.remove_prefix(1);
    const std::size_t length = json_value_length(text);
    if (length == std::string_view::npos || length == 0) return out;
    out.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
}

std::string_view trim_json_space(std::string_view text) {
  while (!text.empty() && is_json_space(text.back())) text.remove_suffix(1);
  while (!text.empty() && is_json_space(text.front())) text.remove_prefix(1);
  return text;
}

std::string_view raw_string(std::string_view token) {
  return token.size() >= 2 && token.front() == '"' && token.back() == '"' ? token.substr(1, token.size() - 2) : token;
}

Unescaped unescape(std::string_view raw) {
  Unescaped out;
  out.text.reserve(raw.size());
  for (std::size_t i = 0; i < raw.size();) {
    if (raw[i] != '\\') {
      out.text += raw[i++];
      continue;
    }
    const char kind = i + 1 < raw.size() ? raw[i + 1] : '\0';
    i += 2;
    if (kind == 'u') {
      i += append_unicode_escape(raw.substr(i), out);
    } else if (const char plain = simple_escape(kind)) {
      out.text += plain;
    } else {
      // An unescaped backslash, as in Windows paths: keep both characters rather than lose one.
      out.text += '\\';
      if (kind != '\0') out.text += kind;
      ++out.replaced;
    }
  }
  return out;
}

Unescaped storable_text(std::string_view raw) {
  const ValidText valid = valid_utf8(raw);
  Unescaped out = unescape(valid.text);
  out.replaced += valid.replaced;
  return out;
}

Unescaped storable_json(std::string_view json) {
  const ValidText valid = valid_utf8(json);
  const std::string_view text = valid.text;
  Unescaped out{{}, valid.replaced};
  out.text.reserve(text.size());
  std::size_t i = 0;
  while (i < text.size()) {
    const std::string_view escape = text.substr(i, text[i] == '\\' ? 2 : 1);
    i += escape.size();
    Unescaped character;
    const std::size_t digits = escape == "\\u" ? append_unicode_escape(text.substr(i), character) : 0;
    if (character.replaced > 0) {
      out.text += character.text;
      ++out.replaced;
    } else {
      out.text.append(escape).append(text.substr(i, digits));
    }
    i += digits;
  }
  return out;
}

std::string_view number_text(std::string_view token) {
  return is_json_string(token) ? trim_json_space(raw_string(token)) : token;
}

std::string minify(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string && c == '\\' && i + 1 < json.size()) {
      out += c;
      out += json[++i];
      continue;
    }
    if (c == '"') in_string = !in_string;
    if (in_string || !is_json_space(c)) out += c;
  }
  return out;
}

std::string quote_json(std::string_view text) {
  std::string out = "\"";
  for (const char c : valid_utf8(text).text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace tracedb
