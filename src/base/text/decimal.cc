#include "base/text/decimal.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <limits>
#include <string>
#include <system_error>
#include <utility>

#include "base/text/characters.h"

namespace tracedb {
namespace {

constexpr std::uint64_t kMaxPositive = std::numeric_limits<std::int64_t>::max();

std::optional<std::int64_t> with_sign(std::uint64_t magnitude, bool negative) {
  if (magnitude > kMaxPositive + (negative ? 1 : 0)) return std::nullopt;
  return static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
}

// Eight ASCII digits in one go, most significant first in memory; works on little-endian machines only.
bool are_eight_digits(std::uint64_t chars) {
  constexpr std::uint64_t kHighNibbles = 0xF0F0F0F0F0F0F0F0;
  // Adding 6 pushes ':'..'?' (the other bytes with high nibble 3) into the next nibble.
  return ((chars & kHighNibbles) | (((chars + 0x0606060606060606) & kHighNibbles) >> 4)) == 0x3333333333333333;
}

std::uint64_t eight_digits_value(std::uint64_t chars) {
  chars = (chars & 0x0F0F0F0F0F0F0F0F) * 2561 >> 8;            // pairs: 10 * first + second
  chars = (chars & 0x00FF00FF00FF00FF) * 6553601 >> 16;        // fours: 100 * first + second
  return (chars & 0x0000FFFF0000FFFF) * 42949672960001 >> 32;  // eight: 10000 * first + second
}

// Reads digits from `cursor` on, `value` wraps around after 19 of them: the caller looks at how many there were.
const char* read_digits(const char* cursor, const char* end, std::uint64_t& value) {
  if constexpr (std::endian::native == std::endian::little) {
    while (end - cursor >= 8) {
      std::uint64_t chars = 0;
      std::memcpy(&chars, cursor, sizeof(chars));
      if (!are_eight_digits(chars)) break;
      value = value * 100'000'000 + eight_digits_value(chars);
      cursor += 8;
    }
  }
  for (; cursor != end && is_ascii_digit(*cursor); ++cursor)
    value = value * 10 + static_cast<std::uint64_t>(*cursor - '0');
  return cursor;
}

// Exponents beyond this are all the same (zero or out of range), whatever the number of digits in memory.
constexpr std::int64_t kHugeExponent = std::int64_t{1} << 50;

// "e5", "E-12"; nullopt when it is not an exponent up to the end of the text.
std::optional<std::int64_t> parse_exponent(std::string_view text) {
  if (text.size() < 2 || (text.front() != 'e' && text.front() != 'E')) return std::nullopt;
  text.remove_prefix(1);
  const bool negative = text.front() == '-';
  if (negative || text.front() == '+') text.remove_prefix(1);
  if (text.empty() || !std::ranges::all_of(text, is_ascii_digit)) return std::nullopt;
  std::int64_t value = 0;
  for (const char c : text) value = std::min(kHugeExponent, value * 10 + (c - '0'));
  return negative ? -value : value;
}

// A number without its sign: its digits from the first to the last that is not 0, `whole` of which stand before the
// point: "12.30" is "123" and 2, "0.05" is "5" and -1. Zero has no digits.
struct Decimal {
  std::string digits;
  std::int64_t whole = 0;
};

// `text` has no sign.
std::optional<Decimal> parse_decimal(std::string_view text) {
  const std::string_view mantissa = text.substr(0, text.find_first_of("eE"));
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  std::string digits(mantissa.substr(0, point));
  digits += mantissa.substr(std::min(point + 1, mantissa.size()));
  if (digits.empty() || !std::ranges::all_of(digits, is_ascii_digit)) return std::nullopt;
  const bool has_exponent = mantissa.size() < text.size();
  const auto exponent = has_exponent ? parse_exponent(text.substr(mantissa.size())) : std::optional<std::int64_t>(0);
  if (!exponent) return std::nullopt;
  const std::size_t zeros = std::min(digits.find_first_not_of('0'), digits.size());
  digits.erase(0, zeros);
  digits.erase(digits.find_last_not_of('0') + 1);
  return Decimal{std::move(digits), static_cast<std::int64_t>(point) - static_cast<std::int64_t>(zeros) + *exponent};
}

template <class T>
std::optional<T> parse_integer(std::string_view text) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The first `wanted` of the digits, zeros appended if there are fewer. At most 19, so the value fits.
std::uint64_t leading_digits(std::string digits, std::int64_t wanted) {
  digits.resize(static_cast<std::size_t>(wanted), '0');
  return parse_integer<std::uint64_t>(digits).value_or(0);
}

// Any number of digits, and exponents. `text` has no sign.
std::optional<std::int64_t> parse_slowly(std::string_view text, bool negative) {
  const auto decimal = parse_decimal(text);
  if (!decimal) return std::nullopt;
  const std::string& digits = decimal->digits;
  const std::int64_t nanosecond_digits = decimal->whole + 3;
  if (digits.empty() || nanosecond_digits < 0) return 0;
  if (nanosecond_digits > 19) return std::nullopt;
  const bool rounds_up =
      nanosecond_digits < std::ssize(digits) && digits[static_cast<std::size_t>(nanosecond_digits)] >= '5';
  return with_sign(leading_digits(digits, nanosecond_digits) + (rounds_up ? 1 : 0), negative);
}

// Too large and too small are one error code to from_chars; an integer reading of the same digits tells them apart.
// The wider type holds what is tiny but not zero.
std::optional<double> parse_tiny_double(std::string_view text) {
  if (parse_microseconds(text) != 0) return std::nullopt;
  long double value = 0;  // stays so below its own range
  std::from_chars(text.data(), text.data() + text.size(), value);
  return static_cast<double>(value);
}

}  // namespace

std::optional<std::int64_t> parse_microseconds(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const bool negative = text.front() == '-';
  if (negative || text.front() == '+') text.remove_prefix(1);
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  std::uint64_t value = 0;
  const char* cursor = read_digits(begin, end, value);
  // 16 digits and 3 of the fraction fit 64 bits without a sign; what is longer, or odd, takes the slow way.
  if (cursor == begin || cursor - begin > 16) return parse_slowly(text, negative);
  if (cursor == end) return with_sign(value * 1000, negative);
  if (*cursor++ != '.') return parse_slowly(text, negative);
  std::uint64_t unit = 1000;
  for (; unit > 1 && cursor != end && is_ascii_digit(*cursor); ++cursor, unit /= 10) {
    value = value * 10 + static_cast<std::uint64_t>(*cursor - '0');
  }
  const std::uint64_t half = cursor != end && *cursor >= '5' && *cursor <= '9' ? 1 : 0;
  while (cursor != end && is_ascii_digit(*cursor)) ++cursor;
  if (cursor != end) return parse_slowly(text, negative);
  return with_sign(value * unit + half, negative);
}

std::optional<std::int64_t> parse_int64(std::string_view text) { return parse_integer<std::int64_t>(text); }

std::optional<std::int64_t> parse_integral(std::string_view text) {
  if (const auto plain = parse_int64(text)) return plain;
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const auto decimal = parse_decimal(text);
  if (!decimal) return std::nullopt;
  const auto& [digits, whole] = *decimal;
  if (digits.empty()) return 0;
  if (whole < std::ssize(digits) || whole > 19) return std::nullopt;
  return with_sign(leading_digits(digits, whole), negative);
}

std::optional<std::uint64_t> parse_uint64(std::string_view text) { return parse_integer<std::uint64_t>(text); }

std::optional<double> parse_double(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || text.empty()) return std::nullopt;
  if (error == std::errc::result_out_of_range) return parse_tiny_double(text);
  if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace tracedb
