#include "report/escape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>

#include "base/text/characters.h"

namespace tracedb {
namespace {

std::uint32_t decode(std::string_view sequence) {
  const auto lead = static_cast<unsigned char>(sequence[0]);
  if (sequence.size() == 1) return lead;
  std::uint32_t point = lead & (0x7fu >> sequence.size());
  for (const char c : sequence.substr(1)) point = point << 6 | (static_cast<unsigned char>(c) & 0x3fu);
  return point;
}

bool is_obeyed(std::uint32_t point) {
  return point < 0x20 || (point >= 0x7f && point < 0xa0) || point == 0x61c || point == 0x200e || point == 0x200f ||
         (point >= 0x2028 && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069) || point == 0xfeff;
}

// Calls good(sequence) for text that may stand, odd(code point) for what readers obey, broken(byte) for the rest.
template <typename Good, typename Odd, typename Broken>
void scan(std::string_view text, Good good, Odd odd, Broken broken) {
  while (!text.empty()) {
    const std::size_t length = utf8_sequence_length(text);
    if (length == 0) {
      broken(static_cast<unsigned char>(text[0]));
      text.remove_prefix(1);
      continue;
    }
    const std::uint32_t point = decode(text.substr(0, length));
    if (is_obeyed(point)) {
      odd(point);
    } else {
      good(text.substr(0, length));
    }
    text.remove_prefix(length);
  }
}

// Whether all are characters of ASCII that stand for themselves, and none of `marks`: what nearly every text is. Looks
// at all of them, many at a time.
template <char... marks>
bool is_plain(std::string_view text) {
  unsigned odd = 0;
  for (const char c : text) odd |= static_cast<unsigned>(c < ' ' || c > '~' || ((c == marks) || ...));
  return odd == 0;
}

// Of East Asian scripts and pictures, which take two places of a terminal.
bool is_wide(std::uint32_t point) {
  struct Range {
    std::uint32_t first, last;
  };
  constexpr Range kWide[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},  {0x3041, 0xA4CF}, {0xAC00, 0xD7A3},
                             {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},  {0xFF00, 0xFF60}, {0xFFE0, 0xFFE6},
                             {0x1F300, 0x1FAFF}, {0x20000, 0x3FFFD}};
  return std::any_of(std::begin(kWide), std::end(kWide),
                     [&](const Range& range) { return point >= range.first && point <= range.last; });
}

struct Character {
  std::string_view bytes;
  std::size_t width;
};

// The first one, which is taken off the text.
Character take_character(std::string_view& valid_text) {
  const std::size_t length = std::max<std::size_t>(utf8_sequence_length(valid_text), 1);
  const std::string_view bytes = valid_text.substr(0, length);
  valid_text.remove_prefix(length);
  return {bytes, length > 2 && is_wide(decode(bytes)) ? 2U : 1U};
}

// From one place on: an ellipsis before it, and one behind where the rest is longer.
std::string window(const std::string& valid_text, std::size_t from, std::size_t width) {
  while (from > 0 && (static_cast<unsigned char>(valid_text[from]) & 0xc0U) == 0x80U) --from;
  std::string out = from > 0 ? "\xE2\x80\xA6" : "";
  std::size_t used = from > 0 ? 1 : 0;
  for (std::string_view rest = std::string_view(valid_text).substr(from); !rest.empty();) {
    const std::size_t left = display_width(rest);
    const Character character = take_character(rest);
    if (used + left > width && used + character.width + 1 > width) return out + "\xE2\x80\xA6";
    out.append(character.bytes);
    used += character.width;
  }
  return out;
}

// Texts, each once, that look the same when they are shortened.
using Lookalikes = std::map<std::string, std::vector<std::string>>;

Lookalikes lookalikes(const std::map<std::string, std::string>& shown) {
  Lookalikes out;
  for (const auto& [text, as] : shown) out[as].push_back(text);
  std::erase_if(out, [](const auto& entry) { return entry.second.size() < 2; });
  return out;
}

}  // namespace

std::string escape_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  scan(
      text, [&](std::string_view sequence) { out.append(sequence); },
      [&](std::uint32_t point) {
        out += point < 0x80 ? fmt::format("\\x{:02x}", point) : fmt::format("\\u{:04x}", point);
      },
      [&](unsigned char byte) { out += fmt::format("\\x{:02x}", byte); });
  return out;
}

void append_escaped_cell(std::string& out, std::string_view text) {
  if (is_plain<'\\'>(text)) {
    out.append(text);
    return;
  }
  for (std::size_t at = text.find('\\'); at != std::string_view::npos; at = text.find('\\')) {
    const bool reads_as_escape = at + 1 < text.size() && (text[at + 1] == 'x' || text[at + 1] == 'u');
    out.append(escape_text(text.substr(0, at))).append(reads_as_escape ? "\\x5c" : "\\");
    text.remove_prefix(at + 1);
  }
  out.append(escape_text(text));
}

std::string escape_json(std::string_view text) {
  std::string out;
  append_escaped_json(out, text);
  return out;
}

void append_escaped_json(std::string& out, std::string_view text) {
  if (is_plain<'"', '\\'>(text)) {
    out.append(text);
    return;
  }
  scan(
      text,
      [&](std::string_view sequence) {
        if (sequence == "\"" || sequence == "\\") out.push_back('\\');
        out.append(sequence);
      },
      [&](std::uint32_t point) {
        if (point == '\n') {
          out.append("\\n");
        } else if (point == '\t') {
          out.append("\\t");
        } else {
          out += fmt::format("\\u{:04x}", point);
        }
      },
      [&](unsigned char) { out.append("\xEF\xBF\xBD"); });
}

std::string escape_markdown(std::string_view text) {
  std::string out;
  for (const char c : escape_text(text)) {
    if (c == '<') {
      out.append("&lt;");
    } else if (c == '&') {
      out.append("&amp;");
    } else {
      if (std::string_view("\\|`*_[]").find(c) != std::string_view::npos) out.push_back('\\');
      out.push_back(c);
    }
  }
  return out;
}

std::size_t display_width(std::string_view valid_text) {
  std::size_t width = 0;
  while (!valid_text.empty()) width += take_character(valid_text).width;
  return width;
}

std::string shorten_middle(const std::string& valid_text, std::size_t width) {
  if (display_width(valid_text) <= width) return valid_text;
  if (width < 3) return width == 0 ? std::string() : "\xE2\x80\xA6";
  std::vector<Character> characters;
  for (std::string_view rest = valid_text; !rest.empty();) characters.push_back(take_character(rest));
  std::string out;
  std::size_t used = 1;  // by the ellipsis
  std::size_t front = 0;
  for (; used + characters[front].width <= 1 + width / 2; ++front) {
    used += characters[front].width;
    out.append(characters[front].bytes);
  }
  out.append("\xE2\x80\xA6");
  std::size_t tail = characters.size();
  while (used + characters[tail - 1].width <= width) used += characters[--tail].width;
  for (; tail < characters.size(); ++tail) out.append(characters[tail].bytes);
  return out;
}

std::vector<std::string> shorten_distinct(const std::vector<std::string>& valid_texts, std::size_t width) {
  constexpr std::size_t kBefore = 3;  // letters that the texts still have in common
  std::map<std::string, std::string> shown;
  for (const std::string& text : valid_texts) shown.emplace(text, shorten_middle(text, width));
  for (const auto& [as, texts] : lookalikes(shown)) {
    std::size_t same = texts.front().size();
    for (const std::string& other : texts) {
      const auto differ = std::mismatch(texts.front().begin(), texts.front().end(), other.begin(), other.end());
      same = std::min(same, static_cast<std::size_t>(differ.first - texts.front().begin()));
    }
    for (const std::string& text : texts) shown[text] = window(text, same - std::min(same, kBefore), width);
  }
  for (const auto& [as, texts] : lookalikes(shown)) {
    std::size_t number = 0;
    for (const std::string& text : texts) {
      const std::string mark = fmt::format("#{}", ++number);
      shown[text] = shorten_middle(as, width - std::min(width, mark.size())) + mark;
    }
  }
  std::vector<std::string> out;
  out.reserve(valid_texts.size());
  for (const std::string& text : valid_texts) out.push_back(shown.at(text));
  return out;
}

std::vector<std::string> wrap_text(std::string_view valid_text, std::size_t width) {
  std::vector<std::string> lines(1);
  if (display_width(valid_text) <= width) return {std::string(valid_text)};
  while (!valid_text.empty()) {
    const std::size_t end = std::min(valid_text.find(' '), valid_text.size());
    const std::string word = shorten_middle(std::string(valid_text.substr(0, end)), width);
    valid_text.remove_prefix(std::min(end + 1, valid_text.size()));
    std::string& line = lines.back();
    const std::size_t used = display_width(line);
    if (used == 0) {
      line = word;
    } else if (used + 1 + display_width(word) <= width) {
      line += ' ' + word;
    } else {
      lines.push_back(word);
    }
  }
  return lines;
}

}  // namespace tracedb
