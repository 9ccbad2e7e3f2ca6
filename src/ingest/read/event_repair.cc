#include "ingest/read/event_repair.h"

#include <cstddef>

#include "base/text/characters.h"
#include "base/text/json_text.h"

namespace tracedb {
namespace {

void append_escaped(std::string& out, unsigned char control) {
  constexpr char kDigits[] = "0123456789abcdef";
  out.append("\\u00");
  out += kDigits[control >> 4U];
  out += kDigits[control & 15U];
}

// A hole in the file, where the rest of one event and the beginning of another were, is no text of one.
bool is_hole(std::string_view text, std::size_t at) {
  constexpr std::string_view kHole("\0\0\0\0\0\0\0\0", 8);
  return text.substr(at).starts_with(kHole);
}

// Whether a quote before `next` may be the end of a member's value: what follows belongs to no text. A colon or another
// quote further on is no right end either, but which of the quotes is the wrong one is then anybody's guess. Two in a
// row are text (operator"" _x), the first of them for certain; so is a comma with no member behind it.
bool may_end_value(std::string_view text, std::size_t next) {
  if (next < text.size() && text[next] == '"') return false;
  next = skip_json_space(text, next);
  if (next == text.size()) return true;
  if (text[next] != ',') return std::string_view(":\"]}").find(text[next]) != std::string_view::npos;
  const std::size_t member = skip_json_space(text, next + 1);
  return member == text.size() || text[member] == '"';
}

}  // namespace

std::string repaired_event(std::string_view original) {
  const std::string text = valid_utf8(original).text;
  std::string out;
  out.reserve(text.size());
  bool in_string = false;
  bool is_value = false;  // of a member: the string follows a colon
  char before = '\0';     // the last byte outside strings that is no white space
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\' && i + 1 < text.size()) {
      out += c;
      out += text[++i];
      continue;
    }
    if (!in_string && c == '"') {
      in_string = true;
      is_value = before == ':';
    } else if (in_string && c == '"') {
      if (is_value && !may_end_value(text, i + 1)) {
        out.append("\\\"");
        continue;
      }
      in_string = false;
    } else if (in_string && static_cast<unsigned char>(c) < 0x20 && !is_hole(text, i)) {
      append_escaped(out, static_cast<unsigned char>(c));
      continue;
    }
    if (!in_string && !is_json_space(c)) before = c;
    out += c;
  }
  return out;
}

}  // namespace tracedb
