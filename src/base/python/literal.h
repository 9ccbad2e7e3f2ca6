// Source of Python's constants as its repr() prints them: numbers, texts, None, and lists and tuples of these.
#pragma once

#include <optional>
#include <string_view>

#include "base/python/value.h"

namespace tracedb::python {

// nullopt: anything else, also where Python itself could read it: dicts, sets, bytes, True and False, numbers that are
// no JSON, texts with escapes other than \\ \' \" \n \t \r.
std::optional<Value> parse_literal(std::string_view source);

}  // namespace tracedb::python
