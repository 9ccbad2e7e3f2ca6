// Failures of the Python programs that the compatible modes reproduce: an Error whose message is the last line of the
// traceback, and whose code is the exit code of such a program, 1.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/error.h"

namespace tracedb::python {

// failure("ValueError", "cannot convert float NaN to integer")
inline Error failure(std::string_view type, std::string_view message) {
  return {ErrorCode::kAnswerIsNo, fmt::format("{}: {}", type, message)};
}

}  // namespace tracedb::python
