// Wrong use of a program as an Error: what was given, and what there is instead.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"

namespace tracedb {

template <class... Values>
Error usage_error(fmt::format_string<Values...> text, Values&&... values) {
  return {ErrorCode::kUsage, fmt::format(text, std::forward<Values>(values)...)};
}

// "a, b and 3 more": of a list of any length, for a message.
inline std::string first_names(std::span<const std::string> names, std::size_t most) {
  const std::size_t more = names.size() - std::min(names.size(), most);
  return fmt::format("{}{}", fmt::join(names.first(names.size() - more), ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

}  // namespace tracedb
