// Checks the JSON structure of text and finds where events begin in it, to resume reading after damage. Strict about
// strings, brackets and separators; lenient about scalars, because NaN and N/A concern one event only, and about
// escapes and control characters in strings (except NUL).
//
// Byte for byte, for damaged places only. Linear in the text. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

enum class Shape : std::uint8_t {
  kWhole,   // a value, which ends at `end`
  kCut,     // the beginning of a value
  kBroken,  // no text behind it makes it a value; `end` is the first byte that cannot be
};

struct ShapeCheck {
  Shape shape = Shape::kCut;
  std::size_t end = 0;
  bool has_phase = false;  // it is an object with a member "ph" that is a string, as every event has
};

// Of the value that `text` starts with (white space before it is passed over). Deeper than `max_depth` is broken.
// `open` (may be null): where the outermost of the values begin that are open at the end of the walk, the first one
// included.
ShapeCheck check_shape(std::string_view text, std::size_t max_depth, std::vector<std::size_t>* open = nullptr);

inline constexpr std::size_t kAnyDepth = static_cast<std::size_t>(-1);
bool is_value(std::string_view text);  // a whole one, and nothing behind it
// Deeper objects are no events to start from: without a bound, nested ones would each be walked to the end.
inline constexpr std::size_t kDeepestEvent = 32;

struct EventSearch {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t at = kNone;  // where the event begins
  std::size_t resume = 0;  // nothing found: where to go on once there is more text
  std::size_t end = 0;     // behind the event; 0: it is broken
  [[nodiscard]] bool found() const { return at != kNone; }
};

// Larger objects are not looked for: how far ahead one is followed that may be none.
inline constexpr std::size_t kLongestEvent = std::size_t{1} << 20U;

enum class More : bool { kNo, kMayCome };

class ShapeReader;

// Finds events in one text, from place to place. What the walk over an object proved of those in it is remembered, so
// that nested ones which are none cost no walk each. Borrows the text. One thread.
class EventFinder {
 public:
  // Events of at most `longest` bytes.
  explicit EventFinder(std::string_view text, std::size_t longest = kLongestEvent);
  ~EventFinder();

  // The first event at `from` or behind it: a whole object that has a phase, whatever stands around it. With
  // More::kMayCome an object that the text cuts off is left for a later search.
  // From `broken_from` on broken events count too: each broken object that is no member's value and gives a phase
  // before another one begins. A heuristic: in a list of objects among its arguments an event seems to begin.
  EventSearch find(std::size_t from, std::size_t broken_from, More more);

  // Of the value at `at`, of which at most `longest` bytes are looked at; no deeper than an event may be. Its `end` is
  // a place in the text.
  ShapeCheck check(std::size_t at, std::size_t longest);

 private:
  std::string_view text_;
  std::size_t longest_;
  std::unique_ptr<ShapeReader> walk_;
  bool broken_ = false;  // the object of walk_ is, so that it tells the same of those open in it
};

// The first event at `from` or behind it, be it the only one that is looked for.
EventSearch find_event(std::string_view text, std::size_t from, More more);

// The first member "ph" at `from` or behind it, whatever stands around it; npos: none.
std::size_t find_phase(std::string_view text, std::size_t from = 0);

// What follows a whole event, apart from white space: a comma, the end of the array, or something that cannot.
enum class Behind : std::uint8_t { kSeparator, kOther, kEndOfText };
Behind behind_event(std::string_view text, std::size_t end);

// Whether `element`, with its white space, is the beginning of a list of events: a bracket too many before events.
bool is_list_of_events(std::string_view element);

// In the end of a trace, which holds no whole event: the bracket that closes the array of events, behind which stand
// nothing but further top-level members (where the array is one itself) and the end. kNone: there is none, or it would
// take too long to tell.
enum class Container : std::uint8_t { kArray, kObject };
std::size_t find_array_end(std::string_view text, Container top_level);

// Repairs the text of a damaged event where it is clear what was meant.
// Invalid UTF-8 becomes U+FFFD, a raw control character in a string its \u escape (unless there are many zeros), and a
// quote inside a value (one behind which the value cannot end) \". Everything else stays as it is, so the result may
// still be no JSON.
std::string repaired_event(std::string_view text);

}  // namespace tracedb
