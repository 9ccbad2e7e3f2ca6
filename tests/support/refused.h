// What a call that is refused says.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "base/error.h"
#include "base/failure.h"

namespace tracedb {

// The message of the error that `work` ends with, which must have this code; "" if it ends without one.
template <class Work>
std::string refused(ErrorCode code, Work work) {
  const auto failed = catch_error(std::move(work));
  if (failed) CHECK(failed->code() == code);
  return failed ? failed->what() : "";
}

}  // namespace tracedb
