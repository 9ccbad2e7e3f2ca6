// Wrong use of a program as an Error: what was given, and what there is instead.
#pragma once

#include <fmt/format.h>

#include <utility>

#include "base/error.h"

namespace tracedb {

template <class... Values>
Error usage_error(fmt::format_string<Values...> text, Values&&... values) {
  return {ErrorCode::kUsage, fmt::format(text, std::forward<Values>(values)...)};
}

}  // namespace tracedb
