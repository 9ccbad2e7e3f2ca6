// Classifies events by their category ("cat"), in the old and the new dialect of Kineto. An unknown category is kOther:
// its events are kept as slices and instants.
#pragma once

#include <cstdint>
#include <string_view>

namespace tracedb {

enum class EventCategory : std::uint8_t {
  kKernel,
  kMemcpy,
  kMemset,
  kOperator,
  kCall,
  kPython,
  kAnnotation,
  kGpuAnnotation,
  kOther
};

EventCategory event_category(std::string_view name);

}  // namespace tracedb
