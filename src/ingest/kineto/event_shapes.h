// Reads events by their shape: the text of an event without its values. A trace has few shapes (5 to 33 in real ones),
// so most events need no parser: the text between the values is compared byte for byte with that of an event that
// simdjson accepted, and only the values are looked at.
//
// What matches is an event to simdjson too, with the same fields; whatever is in doubt does not match. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/kineto/event_fields.h"

namespace tracedb {

// Whether the brackets of a list or object, of which simdjson counts both kinds alike, close each other.
bool has_sound_brackets(std::string_view container);

class EventShapes {
 public:
  static constexpr std::size_t kPadding = sizeof(std::uint64_t);

  // The length of the event that `text` starts with, its fields in `fields`; 0: no shape matches, and `fields` holds
  // nothing of use. kPadding bytes behind `text` must be readable.
  std::size_t match(std::string_view text, EventFields& fields);
  // Remembers the shape of the event that `text` starts with; `fields`: what simdjson finds in it. Not where a match
  // would find anything else, nor of long events. kPadding as above.
  void learn(std::string_view text, const EventFields& fields);

 private:
  static constexpr std::size_t kLongest = std::size_t{8} << 10U;  // bytes of an event: what is kept has a bound
  static constexpr std::size_t kMostTried = 256;                  // events that were to be learned; more are of no use
  // A search among all shapes that finds nothing is paid by as many matches: whatever a trace looks like, an event
  // costs few comparisons on the average.
  static constexpr std::size_t kMostCredit = std::size_t{1} << 15U;

  enum class Value : std::uint8_t {
    kText,       // a string, without its quotes
    kNumber,     // digits, signs, point and exponent; what they say is judged where they are used
    kContainer,  // a list, or an object that is no "args"
    kFixed,      // the same in all events of the shape, and part of its text: phase, category, true, false, null
    kArguments,  // where the object begins
    kEnd         // of the event
  };
  struct Part {
    std::size_t size = 0;  // bytes of the shape's text before the value
    Value value = Value::kEnd;
    EventField field = EventField::kCount;
    std::size_t fixed = 0;  // bytes of that text that are the value
  };
  struct Shape {
    std::vector<std::uint64_t> words;  // the text before each value, in words, the last one filled up with zeros
    std::vector<Part> parts;
    std::uint64_t present = 0;  // of EventFields
    std::size_t next = 0;       // the shape that followed it last

    void add_part(const char* from, const char* to, Part part);
    bool add_members(std::string_view object, const char*& from, EventField (*field_of)(std::string_view));
    std::size_t match(std::string_view event, EventFields& fields) const;
  };

  std::vector<Shape> shapes_;
  std::size_t last_ = 0, tried_ = 0, credit_ = kMostCredit;
};

}  // namespace tracedb
