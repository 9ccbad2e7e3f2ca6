#include "report/escape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "base/utf8.h"

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

}  // namespace

std::string escape_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  auto to = std::back_inserter(out);
  scan(
      text, [&](std::string_view sequence) { out.append(sequence); },
      [&](std::uint32_t point) {
        point < 0x80 ? fmt::format_to(to, "\\x{:02x}", point) : fmt::format_to(to, "\\u{:04x}", point);
      },
      [&](unsigned char byte) { fmt::format_to(to, "\\x{:02x}", byte); });
  return out;
}

std::string escape_cell(std::string_view text) {
  std::string out;
  for (std::size_t at = text.find('\\'); at != std::string_view::npos; at = text.find('\\')) {
    const bool reads_as_escape = at + 1 < text.size() && (text[at + 1] == 'x' || text[at + 1] == 'u');
    out += escape_text(text.substr(0, at)) + (reads_as_escape ? "\\x5c" : "\\");
    text.remove_prefix(at + 1);
  }
  return out + escape_text(text);
}

std::string escape_json(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 2);
  auto to = std::back_inserter(out);
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
          fmt::format_to(to, "\\u{:04x}", point);
        }
      },
      [&](unsigned char) { out.append("\xEF\xBF\xBD"); });
  return out;
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

std::size_t code_points(std::string_view valid_text) {
  return static_cast<std::size_t>(
      std::count_if(valid_text.begin(), valid_text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string shorten_middle(const std::string& valid_text, std::size_t width) {
  const std::size_t length = code_points(valid_text);
  if (length <= width || width < 3) return valid_text;
  const std::size_t front = width / 2;
  const std::size_t tail_from = length - (width - front - 1);
  std::string out;
  std::size_t seen = 0;  // code points begun so far
  for (const char c : valid_text) {
    if ((c & 0xC0) != 0x80 && seen++ == front) out.append("\xE2\x80\xA6");
    if (seen <= front || seen > tail_from) out.push_back(c);
  }
  return out;
}

std::vector<std::string> wrap_text(std::string_view valid_text, std::size_t width) {
  std::vector<std::string> lines(1);
  if (code_points(valid_text) <= width) return {std::string(valid_text)};
  while (!valid_text.empty()) {
    const std::size_t end = std::min(valid_text.find(' '), valid_text.size());
    const std::string word = shorten_middle(std::string(valid_text.substr(0, end)), width);
    valid_text.remove_prefix(std::min(end + 1, valid_text.size()));
    std::string& line = lines.back();
    const std::size_t used = code_points(line);
    if (used == 0) {
      line = word;
    } else if (used + 1 + code_points(word) <= width) {
      line += ' ' + word;
    } else {
      lines.push_back(word);
    }
  }
  return lines;
}

}  // namespace tracedb
