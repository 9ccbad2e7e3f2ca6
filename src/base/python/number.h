// Numbers as Python reads and rounds them.
#pragma once

#include <optional>
#include <string_view>

namespace tracedb::python {

// x.strip() of a str.
std::string_view strip(std::string_view text);

// float(text): white space around it, "1e1", "1_0", "inf" and "nan" are fine; what is too large is infinite. nullopt:
// ValueError.
std::optional<double> to_float(std::string_view text);

// round(number, 1): the correctly rounded decimal of the exact binary value, ties to even.
double round_to_tenths(double number);

}  // namespace tracedb::python
