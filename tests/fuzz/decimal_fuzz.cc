// Numbers of the trace against slow readings of the same text: digit strings shifted in 128 bits, and strtod.
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "base/text/decimal.h"
#include "fuzz_input.h"

namespace tracedb {
namespace {

__extension__ using Wide = __int128;

// sign digits [. digits] [e sign digits], at least one digit before the exponent.
struct DecimalText {
  bool negative = false;
  std::string digits;
  std::int64_t exponent = 0;  // of the last digit
};

std::string take_digits(std::string_view& text) {
  std::string digits;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    digits += text.front();
    text.remove_prefix(1);
  }
  return digits;
}

bool take(std::string_view& text, std::string_view any_of) {
  if (text.empty() || any_of.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<DecimalText> read_decimal(std::string_view text) {
  DecimalText out;
  out.negative = text.starts_with('-');
  take(text, "+-");
  out.digits = take_digits(text);
  if (take(text, ".")) {
    const std::string fraction = take_digits(text);
    out.digits += fraction;
    out.exponent = -static_cast<std::int64_t>(fraction.size());
  }
  if (out.digits.empty()) return std::nullopt;
  if (take(text, "eE")) {
    const bool down = text.starts_with('-');
    take(text, "+-");
    const std::string digits = take_digits(text);
    if (digits.empty()) return std::nullopt;
    std::int64_t value = 0;
    for (const char c : digits) value = std::min<std::int64_t>(1'000'000, value * 10 + (c - '0'));
    out.exponent += down ? -value : value;
  }
  return text.empty() ? std::optional(out) : std::nullopt;
}

// Digits times 10^shift, rounded to the nearest integer, halves away from zero, if it fits 64 bits.
std::optional<std::int64_t> shifted(const DecimalText& decimal, std::int64_t shift) {
  const std::size_t zeros = std::min(decimal.digits.find_first_not_of('0'), decimal.digits.size());
  std::string digits = decimal.digits.substr(zeros);
  if (digits.empty()) return 0;
  if (shift > 40) return std::nullopt;
  bool up = false;
  if (shift >= 0) {
    digits.append(static_cast<std::size_t>(shift), '0');
  } else {
    const auto cut = static_cast<std::size_t>(-shift);
    up = cut <= digits.size() && digits[digits.size() - cut] >= '5';
    digits.resize(digits.size() - std::min(digits.size(), cut));
  }
  if (digits.size() > 30) return std::nullopt;
  Wide value = 0;
  for (const char c : digits) value = value * 10 + (c - '0');
  value += up ? 1 : 0;
  if (decimal.negative) value = -value;
  return value < INT64_MIN || value > INT64_MAX ? std::nullopt : std::optional(static_cast<std::int64_t>(value));
}

void check_microseconds(std::string_view text) {
  const auto decimal = read_decimal(text);
  const auto expected = decimal ? shifted(*decimal, decimal->exponent + 3) : std::nullopt;
  require(parse_microseconds(text) == expected, "microseconds are read exactly");
}

void check_integers(std::string_view text) {
  std::string_view digits = text;
  const bool negative = take(digits, "-");
  const bool plain = !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
  Wide value = 0;
  for (const char c : plain ? digits : std::string_view{}) {
    value = std::min<Wide>(value * 10 + (c - '0'), Wide{1} << 80);
  }
  if (negative) value = -value;
  const bool fits = plain && value >= INT64_MIN && value <= INT64_MAX;
  require(parse_int64(text) == (fits ? std::optional(static_cast<std::int64_t>(value)) : std::nullopt),
          "integers are read exactly");
  const bool fits_unsigned = plain && !negative && value <= Wide{UINT64_MAX};
  require(parse_uint64(text) == (fits_unsigned ? std::optional(static_cast<std::uint64_t>(value)) : std::nullopt),
          "unsigned integers are read exactly");
}

void check_double(std::string_view text) {
  const auto value = parse_double(text);
  const auto decimal = read_decimal(text);
  require(decimal.has_value() || !value, "what is no number is none");
  if (!decimal || text.starts_with('+')) return;
  const double expected = std::strtod(std::string(text).c_str(), nullptr);
  const bool finite = std::isfinite(expected);
  require(value == (finite ? std::optional(expected) : std::nullopt), "doubles are rounded as strtod does");
}

}  // namespace
}  // namespace tracedb

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {  // NOLINT
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (size > 2000) return -1;
  tracedb::check_microseconds(text);
  tracedb::check_integers(text);
  tracedb::check_double(text);
  return 0;
}
