#include "base/text/decimal.h"

#include <doctest/doctest.h>

#include <limits>
#include <random>
#include <string>

namespace tracedb {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

// The text of `value` nanoseconds as microseconds.
std::string microseconds_text(std::int64_t value) {
  const bool negative = value < 0;
  const std::uint64_t magnitude = negative ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  const std::string fraction = std::to_string(magnitude % 1000);
  std::string text = negative ? "-" : "";
  text += std::to_string(magnitude / 1000);
  text += '.';
  text += std::string(3 - fraction.size(), '0');
  return text + fraction;
}

}  // namespace

TEST_CASE("parse_microseconds") {
  SUBCASE("plain") {
    CHECK(parse_microseconds("0") == 0);
    CHECK(parse_microseconds("7") == 7000);
    CHECK(parse_microseconds("7.5") == 7500);
    CHECK(parse_microseconds("1234.567") == 1234567);
    CHECK(parse_microseconds("0.001") == 1);
    CHECK(parse_microseconds("-0.001") == -1);
    CHECK(parse_microseconds("+3.25") == 3250);
    CHECK(parse_microseconds("5.") == 5000);
    CHECK(parse_microseconds(".5") == 500);
    CHECK(parse_microseconds("007.1") == 7100);
  }
  SUBCASE("epoch times keep every digit") {
    CHECK(parse_microseconds("1709839458013.123") == 1709839458013123);
    CHECK(parse_microseconds("1731428385123456.789") == 1731428385123456789);
    CHECK(parse_microseconds("1731428385123456.7894999") == 1731428385123456789);
    CHECK(parse_microseconds("1731428385123456.7895") == 1731428385123456790);
  }
  SUBCASE("more than three fraction digits are rounded to the nearest nanosecond, halves away from zero") {
    CHECK(parse_microseconds("1234.5678") == 1234568);
    CHECK(parse_microseconds("1234.5674") == 1234567);
    CHECK(parse_microseconds("1234.56749999999999999999999") == 1234567);
    CHECK(parse_microseconds("1234.5675") == 1234568);
    CHECK(parse_microseconds("0.0009999") == 1);
    CHECK(parse_microseconds("-0.0009999") == -1);
    CHECK(parse_microseconds("0.0005") == 1);
    CHECK(parse_microseconds("-0.0005") == -1);
    CHECK(parse_microseconds("0.00049") == 0);
    CHECK(parse_microseconds("-1.9999") == -2000);
    CHECK(parse_microseconds("999.9996") == 1000000);
    CHECK(parse_microseconds("0.0000001") == 0);
  }
  SUBCASE("exponents") {
    CHECK(parse_microseconds("1.2e3") == 1200000);
    CHECK(parse_microseconds("1E+3") == 1000000);
    CHECK(parse_microseconds("123456e-3") == 123456);
    CHECK(parse_microseconds("123456789e-6") == 123457);
    CHECK(parse_microseconds("123456489e-6") == 123456);
    CHECK(parse_microseconds("5e-4") == 1);
    CHECK(parse_microseconds("4.9e-4") == 0);
    CHECK(parse_microseconds("5e-5") == 0);
    CHECK(parse_microseconds("-0.00000000000000000000005e19") == -1);
    CHECK(parse_microseconds("-1e-9") == 0);
    CHECK(parse_microseconds("0e999999999999999999999") == 0);
    CHECK(parse_microseconds("1e-999999999999999999999") == 0);
    CHECK(parse_microseconds("1.731428385123456789e15") == 1731428385123456789);
    CHECK(parse_microseconds("0.0017e6") == 1700000);
    CHECK(parse_microseconds("0.00000000000000000000001e23") == 1000);
  }
  SUBCASE("range") {
    CHECK(parse_microseconds("9223372036854775.807") == kMax);
    CHECK(parse_microseconds("9223372036854775.8074") == kMax);
    CHECK_FALSE(parse_microseconds("9223372036854775.8075"));
    CHECK(parse_microseconds("-9223372036854775.8084") == kMin);
    CHECK(parse_microseconds("-9223372036854775.808") == kMin);
    CHECK_FALSE(parse_microseconds("9223372036854775.808"));
    CHECK_FALSE(parse_microseconds("-9223372036854775.809"));
    CHECK_FALSE(parse_microseconds("18446744073709551615"));
    CHECK_FALSE(parse_microseconds("1e400"));
    CHECK_FALSE(parse_microseconds("1e17"));
    CHECK(parse_microseconds("00000000000000000000000000000042.5") == 42500);
    CHECK_FALSE(parse_microseconds("99999999999999999999999999999999999999999"));
  }
  SUBCASE("not a number") {
    for (const char* text : {"",          "-",
                             "+",         ".",
                             "-.",        "NaN",
                             "nan",       "Infinity",
                             "inf",       "N/A",
                             "12x",       "1.2.3",
                             "1e",        "1e+",
                             "e5",        "1,5",
                             " 1",        "1 ",
                             "0x10",      "--1",
                             "1.5e3.2",   "1234567x",
                             "12345678:", "1.2-3",
                             "1e5e5",     "12345678901234567890x",
                             "/2345678",  ":2345678"}) {
      CAPTURE(text);
      CHECK_FALSE(parse_microseconds(text));
    }
  }
}

TEST_CASE("parse_microseconds: text of any value reads back, fast and slow way alike") {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const auto value = static_cast<std::int64_t>(random() >> (random() % 64)) * (i % 2 == 0 ? 1 : -1);
    const std::string text = microseconds_text(value);
    CAPTURE(text);
    CHECK(parse_microseconds(text) == value);
    CHECK(parse_microseconds(text + "e0") == value);
    CHECK(parse_microseconds(text + "49987") == value);
    if (value > 0 && value < kMax) CHECK(parse_microseconds(text + "50") == value + 1);
    CHECK(parse_microseconds(std::to_string(value) + "e-3") == value);
  }
}

TEST_CASE("parse_microseconds: a wrong byte at any place is found") {
  const std::string good = "173142838512345.6789";
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (int c = 1; c < 256; ++c) {
      std::string bad = good;
      bad[i] = static_cast<char>(c);
      const bool is_digit = c >= '0' && c <= '9';
      const bool is_sign = i == 0 && (c == '+' || c == '-');
      // In place of the point, a digit or an exponent makes another number, in range or not.
      if (good[i] == '.' || c == 'e' || c == 'E') continue;
      CAPTURE(bad);
      CHECK(parse_microseconds(bad).has_value() == (is_digit || is_sign));
    }
  }
}

TEST_CASE("parse_int64 and parse_uint64") {
  CHECK(parse_int64("-42") == -42);
  CHECK(parse_int64("9223372036854775807") == kMax);
  CHECK(parse_int64("-9223372036854775808") == kMin);
  CHECK_FALSE(parse_int64("9223372036854775808"));
  CHECK_FALSE(parse_int64("7.0"));
  CHECK_FALSE(parse_int64("7.5"));
  CHECK_FALSE(parse_int64(""));
  CHECK_FALSE(parse_int64("12 "));
  CHECK_FALSE(parse_int64("stream 7"));
  CHECK(parse_uint64("18446744073709551615") == std::numeric_limits<std::uint64_t>::max());
  CHECK_FALSE(parse_uint64("18446744073709551616"));
  CHECK_FALSE(parse_uint64("-1"));
}

TEST_CASE("parse_integral: integers however they are written") {
  CHECK(parse_integral("5") == 5);
  CHECK(parse_integral("5.0") == 5);
  CHECK(parse_integral("-5.000") == -5);
  CHECK(parse_integral("0.0") == 0);
  CHECK(parse_integral("70e-1") == 7);
  CHECK(parse_integral("1.5e3") == 1500);
  CHECK(parse_integral("0.05E2") == 5);
  CHECK(parse_integral("9223372036854775807.0") == kMax);
  CHECK(parse_integral("-9223372036854775808.0") == kMin);
  for (const char* text : {"5.5", "1e-1", "0.05", "9223372036854775808.0", "1e19", "1e400", "", "x", "-", ".", "5.0.0",
                           "5.0x", "+5", "NaN", "Infinity", "--5.0"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_integral(text));
  }
}

TEST_CASE("parse_double") {
  CHECK(parse_double("1.5") == 1.5);
  CHECK(parse_double("-2e3") == -2000.0);
  CHECK(parse_double("0") == 0.0);
  CHECK(parse_double("1e-400") == 0.0);
  CHECK(parse_double("-1e-5000") == 0.0);  // below long double, too
  CHECK(parse_double("0." + std::string(6000, '0') + "1") == 0.0);
  CHECK(parse_double("4.9e-324") == std::numeric_limits<double>::denorm_min());
  for (const char* text :
       {"", "nan", "NaN", "inf", "-inf", "Infinity", "1e400", "-1e400", "1e5000", "N/A", "1.5x", "0x10"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_double(text));
  }
}

}  // namespace tracedb
