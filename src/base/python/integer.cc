#include "base/python/integer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/python/failure.h"
#include "base/python/number.h"
#include "base/python/text.h"

namespace tracedb::python {
namespace {

// Of the text, as far as it fits into the message.
std::string shortened_repr(std::string_view text) {
  constexpr int kMost = 200;  // characters
  const std::string all = repr(text);
  std::size_t end = 0;
  for (int i = 0; i < kMost && end < all.size(); ++i) next_code_point(all, end);
  return all.substr(0, end);
}

std::string float_to_int(double number) {
  if (std::isnan(number)) throw failure("ValueError", "cannot convert float NaN to integer");
  if (std::isinf(number)) throw failure("OverflowError", "cannot convert float infinity to integer");
  const double whole = std::trunc(number);
  return whole == 0 ? "0" : fmt::format("{:.0f}", whole);
}

}  // namespace

std::optional<std::string> parse_int(std::string_view text) {
  text = strip(text);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  std::string digits;
  bool digit_before = false;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit && !(c == '_' && digit_before)) return std::nullopt;
    if (digit) digits += c;
    digit_before = digit;
  }
  if (!digit_before) return std::nullopt;
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  return negative && digits != "0" ? "-" + digits : digits;
}

std::string to_int(const Value& value) {
  switch (value.kind) {
    case Kind::kBool:
      return value.flag ? "1" : "0";
    case Kind::kInt:
      return value.text;
    case Kind::kFloat:
      return float_to_int(value.number);
    case Kind::kText: {
      const std::optional<std::string> digits = parse_int(value.text);
      if (digits) return *digits;
      throw failure("ValueError",
                    fmt::format("invalid literal for int() with base 10: {}", shortened_repr(value.text)));
    }
    default:
      throw failure("TypeError",
                    fmt::format("int() argument must be a string, a bytes-like object or a real number, not "
                                "'{}'",
                                type_name(value)));
  }
}

}  // namespace tracedb::python
