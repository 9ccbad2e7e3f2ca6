// Values and sets as Python prints them.
#pragma once

#include <string>
#include <vector>

#include "base/python/value.h"

namespace tracedb::python {

std::string str(const Value& value);   // str(x)
std::string repr(const Value& value);  // repr(x)

// str(x) of a set that got these values one after the other, none equal to another. The order is Python's where all are
// numbers; Python's own order of texts differs from run to run.
std::string set_text(const std::vector<Value>& values);

}  // namespace tracedb::python
