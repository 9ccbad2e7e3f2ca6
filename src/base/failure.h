// What a piece of work threw, as a value: for those few places where a failure is an answer and not the end, one trace
// of many or one candidate among others.
#pragma once

#include <exception>
#include <new>
#include <optional>

#include "base/error.h"

namespace tracedb {

template <class Work>
std::optional<Error> failure_of(Work work) {
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

}  // namespace tracedb
