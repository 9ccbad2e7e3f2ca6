// Ids that one parse worker gives to values that repeat from event to event (texts, threads, streams, launch
// configurations, shapes) and to numbers too large for their field. The first use of an id puts its definition into the
// batch at hand; the TraceStore makes global ids of them.
//
// Ids count from 1 over the worker's whole life, not per batch; 0 means none. Defects are reported for every event, not
// only where an id is new, so that the counts do not depend on how many workers there are. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/kineto/event_fields.h"
#include "ingest/store/event_batch.h"

namespace tracedb {

// Classifies events by their category ("cat"), in the old and the new dialect of Kineto. An unknown category is kOther:
// its events are kept as slices and instants.

// Commands that an MTIA device runs: programs, copies, and waits and marks of its streams.
inline constexpr std::string_view kMtiaCategory = "mtia_ccp_events";

enum class EventCategory : std::uint8_t {
  kKernel,
  kMemcpy,
  kMemset,
  kOperator,
  kCall,
  kPython,
  kAnnotation,
  kGpuAnnotation,
  kMtia,
  kCounterRange,  // what hardware counters counted in a while
  kOther
};

class LocalIds {
 public:
  std::uint32_t text(std::string_view raw, const RawEvent& event);  // raw: still escaped, without quotes
  [[nodiscard]] EventCategory category(std::uint32_t text) const { return texts_about_[text - 1].category; }
  // Whether an operator of this name is an annotation (is_mark_among_operators()). raw: the text, as for text().
  bool is_mark(std::uint32_t text, std::string_view raw);

  // Integers of up to 64 bits; those that do not fit become wide, see records.h. Otherwise as RawEvent::integer().
  std::int64_t integer(const RawEvent& event, EventField field);
  // Absent and null are different things: null is what the outermost frame has for a parent.
  std::uint32_t python_id(const RawEvent& event, EventField field);

  // Of "id", else of "id2".
  EventId event_id(const RawEvent& event);
  // Within what that id is unique, for events of one category; 0: the whole trace.
  std::uint32_t scope(const RawEvent& event);

  // By pid and tid. Most events repeat the thread of the event before.
  std::uint32_t thread(const RawEvent& event) {
    const bool same = last_thread_ != 0 && event[EventField::kPid] == last_pid_ && event[EventField::kTid] == last_tid_;
    return same ? last_thread_ : other_thread(event);
  }
  // By the device and stream of its args, else by pid and tid.
  std::uint32_t stream(const RawEvent& event);
  std::uint32_t launch_config(const RawEvent& event);  // 0: the event has none
  std::uint32_t shape(const RawEvent& event);          // 0: the event has none

 private:
  enum class Mark : std::uint8_t { kNotAsked, kNo, kYes };
  struct AboutText {
    EventCategory category;
    bool has_replaced;  // characters that cannot be stored
    Mark mark = Mark::kNotAsked;
  };

  std::uint32_t other_thread(const RawEvent& event);
  std::uint32_t wide_number(std::string_view text, const RawEvent& event);  // 0, with an issue: no integer of 64 bits

  Interner texts_, numbers_, scopes_, threads_, streams_, configs_, shapes_;
  std::vector<AboutText> texts_about_;  // by text id - 1
  std::string key_;                     // scratch
  std::string last_pid_, last_tid_;
  std::array<std::string, 4> last_stream_tokens_;
  std::uint32_t last_thread_ = 0, last_stream_ = 0;
};

}  // namespace tracedb
