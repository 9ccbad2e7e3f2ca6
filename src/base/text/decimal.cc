#include "base/text/decimal.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <system_error>

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

// The first `wanted` of the digits in `digits` (which may hold one '.') after leading zeros, zeros appended if there
// are fewer. At most 19, so the value fits.
std::uint64_t leading_digits(std::string_view digits, std::int64_t wanted) {
  std::uint64_t value = 0;
  for (const char c : digits) {
    if (wanted == 0) break;
    if (c == '.' || (value == 0 && c == '0')) continue;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
    --wanted;
  }
  for (; wanted > 0; --wanted) value *= 10;
  return value;
}

struct Decimal {
  std::string_view mantissa;  // digits, with one '.' at most
  std::int64_t exponent = 0;
};

// `text` has no sign.
std::optional<Decimal> parse_decimal(std::string_view text) {
  const std::size_t mantissa_size = std::min(text.find_first_of("eE"), text.size());
  const std::string_view mantissa = text.substr(0, mantissa_size);
  if (std::ranges::count(mantissa, '.') > 1) return std::nullopt;
  if (mantissa.empty() || mantissa == ".") return std::nullopt;
  if (!std::ranges::all_of(mantissa, [](char c) { return c == '.' || is_ascii_digit(c); })) return std::nullopt;
  if (mantissa_size == text.size()) return Decimal{mantissa, 0};
  const auto exponent = parse_exponent(text.substr(mantissa_size));
  if (!exponent) return std::nullopt;
  return Decimal{mantissa, *exponent};
}

// The digit with number `at` of those in `digits` after leading zeros, from 0; '0' where there is none.
char digit_at(std::string_view digits, std::int64_t at) {
  for (const char c : digits.substr(std::min(digits.find_first_of("123456789"), digits.size()))) {
    if (c == '.') continue;
    if (at-- == 0) return c;
  }
  return '0';
}

// Any number of digits, and exponents. `text` has no sign.
std::optional<std::int64_t> parse_slowly(std::string_view text, bool negative) {
  const auto decimal = parse_decimal(text);
  if (!decimal) return std::nullopt;
  const auto [mantissa, exponent] = *decimal;
  const std::size_t first = mantissa.find_first_of("123456789");
  if (first == std::string_view::npos) return 0;
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  // Where the point stands relative to the first digit that counts: "12.3" 2, "0.5" 0, "0.05" -1.
  const auto scale = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first) + (first > point ? 1 : 0);
  const std::int64_t nanosecond_digits = scale + exponent + 3;
  if (nanosecond_digits < 0) return 0;
  if (nanosecond_digits > 19) return std::nullopt;
  const std::uint64_t whole = leading_digits(mantissa.substr(first), nanosecond_digits);
  return with_sign(whole + (digit_at(mantissa, nanosecond_digits) >= '5' ? 1 : 0), negative);
}

template <class T>
std::optional<T> parse_integer(std::string_view text) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
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
  const std::string_view mantissa = decimal->mantissa;
  const std::int64_t exponent = decimal->exponent;
  const std::size_t first = mantissa.find_first_of("123456789");
  if (first == std::string_view::npos) return 0;
  const std::size_t last = mantissa.find_last_of("123456789");
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  // Digits before the point, counted from the first and to the last digit that counts.
  const auto before = [&](std::size_t at) {
    return static_cast<std::int64_t>(point) - static_cast<std::int64_t>(at) + (at > point ? 1 : 0) + exponent;
  };
  if (before(last) < 1 || before(first) > 19) return std::nullopt;
  return with_sign(leading_digits(mantissa.substr(first), before(first)), negative);
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
