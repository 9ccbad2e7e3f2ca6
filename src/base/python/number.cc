#include "base/python/number.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "base/python/text.h"
#include "base/text/ascii.h"

namespace tracedb::python {
namespace {

bool is_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

// Digits, and single underscores between them, from `at` on; appended without the underscores.
bool take_digits(std::string_view text, std::size_t& at, std::string& out) {
  const std::size_t begin = at;
  while (at < text.size()) {
    const bool joins = text[at] == '_' && at > begin && is_ascii_digit(text[at - 1]) && at + 1 < text.size() &&
                       is_ascii_digit(text[at + 1]);
    if (!is_ascii_digit(text[at]) && !joins) break;
    if (!joins) out += text[at];
    ++at;
  }
  return at > begin;
}

bool take_any(std::string_view text, std::size_t& at, std::string_view of, std::string& out) {
  if (at == text.size() || of.find(text[at]) == std::string_view::npos) return false;
  out += text[at++];
  return true;
}

// The number without underscores; empty if it is none.
std::string decimal_of(std::string_view text) {
  std::string out;
  std::size_t at = 0;
  take_any(text, at, "+-", out);
  const bool whole = take_digits(text, at, out);
  const bool fraction = take_any(text, at, ".", out) && take_digits(text, at, out);
  if (!whole && !fraction) return {};
  if (take_any(text, at, "eE", out)) {
    take_any(text, at, "+-", out);
    if (!take_digits(text, at, out)) return {};
  }
  return at == text.size() ? out : std::string();
}

bool names_no_number(std::string_view text) {
  std::string lower = ascii_lower(text);
  if (lower.starts_with('+') || lower.starts_with('-')) lower.erase(0, 1);
  return lower == "inf" || lower == "infinity" || lower == "nan";
}

}  // namespace

std::string_view strip(std::string_view text) {
  std::size_t begin = text.size();
  std::size_t end = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t start = at;
    if (is_space(next_code_point(text, at))) continue;
    begin = std::min(begin, start);
    end = at;
  }
  return begin < end ? text.substr(begin, end - begin) : std::string_view();
}

std::optional<double> to_float(std::string_view text) {
  const std::string_view bare = strip(text);
  const std::string number = names_no_number(bare) ? std::string(bare) : decimal_of(bare);
  if (number.empty()) return std::nullopt;
  return std::strtod(number.c_str(), nullptr);
}

double round_to_tenths(double number) {
  if (!std::isfinite(number)) return number;
  return std::strtod(fmt::format("{:.1f}", number).c_str(), nullptr);
}

}  // namespace tracedb::python
