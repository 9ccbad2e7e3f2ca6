#include "base/text/characters.h"

namespace tracedb {
namespace {

constexpr std::uint32_t kReplacement = 0xFFFD;

struct Lead {
  std::size_t length = 0;
  std::uint32_t bits = 0;
  std::uint32_t smallest = 0;  // smaller values would be overlong
};

Lead lead_of(unsigned char byte) {
  if (byte < 0x80) return {1, byte, 0};
  if (byte >= 0xC2 && byte < 0xE0) return {2, byte & 0x1FU, 0x80};
  if (byte >= 0xE0 && byte < 0xF0) return {3, byte & 0x0FU, 0x800};
  if (byte >= 0xF0 && byte < 0xF5) return {4, byte & 0x07U, 0x10000};
  return {};
}

}  // namespace

std::size_t utf8_sequence_length(std::string_view text) {
  if (text.empty()) return 0;
  const Lead lead = lead_of(static_cast<unsigned char>(text[0]));
  if (lead.length == 0 || lead.length > text.size()) return 0;
  std::uint32_t code_point = lead.bits;
  for (std::size_t i = 1; i < lead.length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0U) != 0x80) return 0;
    code_point = (code_point << 6U) | (byte & 0x3FU);
  }
  const bool surrogate = code_point >= 0xD800 && code_point < 0xE000;
  return code_point < lead.smallest || surrogate || code_point > 0x10FFFF ? 0 : lead.length;
}

ValidText valid_utf8(std::string_view text) {
  ValidText out;
  out.text.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_sequence_length(text);
    if (length == 0) {
      append_utf8(out.text, kReplacement);
      ++out.replaced;
      text.remove_prefix(1);
    } else {
      out.text.append(text.substr(0, length));
      text.remove_prefix(length);
    }
  }
  return out;
}

ValidText storable_utf8(std::string_view text) {
  ValidText out = valid_utf8(text);
  for (std::size_t at = out.text.find('\0'); at != std::string::npos; at = out.text.find('\0', at)) {
    out.text.replace(at, 1, "\xEF\xBF\xBD");
    ++out.replaced;
  }
  return out;
}

void append_utf8(std::string& out, std::uint32_t code_point) {
  if ((code_point >= 0xD800 && code_point < 0xE000) || code_point > 0x10FFFF) code_point = kReplacement;
  const auto tail = [&](unsigned shift) { out += static_cast<char>(0x80U | ((code_point >> shift) & 0x3FU)); };
  if (code_point < 0x80) {
    out += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    out += static_cast<char>(0xC0U | (code_point >> 6U));
    tail(0);
  } else if (code_point < 0x10000) {
    out += static_cast<char>(0xE0U | (code_point >> 12U));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0U | (code_point >> 18U));
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace tracedb
