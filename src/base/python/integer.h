// Integers as Python's int() makes them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/python/value.h"

namespace tracedb::python {

// int(text) in decimal digits as Python prints them: "007" is "7", " 1_000 " is "1000". nullopt: ValueError. Of the
// digits and spaces of other scripts none is known here.
std::optional<std::string> parse_int(std::string_view text);

// int(value): floats lose their fraction, texts must be integers. Throws failure(): TypeError, ValueError,
// OverflowError.
std::string to_int(const Value& value);

}  // namespace tracedb::python
