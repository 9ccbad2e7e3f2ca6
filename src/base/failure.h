// Catches an Error that must not reach the user yet (see error.h).
#pragma once

#include <exception>
#include <new>
#include <optional>
#include <string>

#include "base/error.h"

namespace tracedb {

// What a piece of work threw, as a value: for those few places where a failure is an answer and not the end, one trace
// of many or one candidate among others.
template <class Work>
std::optional<Error> catch_error(Work work) {
  try {
    work();
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return Error(ErrorCode::kResource, "out of memory; give --max-memory less, or run fewer --jobs");
  } catch (const std::exception& error) {
    return Error(ErrorCode::kResource, error.what());
  }
  return std::nullopt;
}

// Runs `work`. Where it finds no room, the message also says what advice(bytes written until then) says.
template <class Work, class Advice>
auto with_space_advice(Work work, Advice advice) {
  try {
    return work();
  } catch (const NoSpaceError& error) {
    throw Error(error.code(), std::string(error.what()) + "; " + advice(error.written()));
  }
}

}  // namespace tracedb
