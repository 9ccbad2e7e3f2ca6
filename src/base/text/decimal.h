// Decimal text to integer nanoseconds, exactly. Epoch microseconds with fractions have more digits than a double
// holds, so no time ever goes through floating point.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tracedb {

// "1234.5678" (microseconds) -> 1234568 ns: fractions of a nanosecond are rounded to the nearest one, halves away from
// zero, so that the error of a sum of many does not grow to one side. Accepts an optional sign, digits, fraction and
// exponent ("1.2e3"). nullopt for anything else (NaN, "", "N/A", "12x") and for values outside int64 nanoseconds.
std::optional<std::int64_t> parse_microseconds(std::string_view text);

// Whole text is one integer in range; "7.0" and "7.5" are not integers. nullopt otherwise.
std::optional<std::int64_t> parse_int64(std::string_view text);
std::optional<std::uint64_t> parse_uint64(std::string_view text);
// As parse_int64, and "7.0", "70e-1": any number whose value is an integer, exactly. Slower.
std::optional<std::int64_t> parse_integral(std::string_view text);
// Any JSON number; nullopt for non-numbers and for values that are not finite.
std::optional<double> parse_double(std::string_view text);

}  // namespace tracedb
