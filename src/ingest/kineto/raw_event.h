// One event while it is parsed: its fields as raw tokens, its position in the trace, and the batch that receives its
// records and issues. Owns nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ingest/kineto/event_fields.h"
#include "ingest/store/event_batch.h"

namespace tracedb {

// What the times of a trace count. Cycles are whole and are stored as they are, in place of nanoseconds.
enum class Clock : std::uint8_t { kMicroseconds, kCycles };
// Nanoseconds, or cycles, in a token, quoted or not. A fraction is rounded to the nearest one.
std::optional<std::int64_t> time_of(std::string_view token, Clock clock);

inline bool is_null_token(std::string_view token) { return token == "null"; }

// A number in a token, quoted or not; NaN for anything else.
double rate_of(std::string_view token);
// A quoted number and a number are the same key: old traces write both for one thread. Empty: absent or null.
TrackKey track_key(std::string_view token);

struct RawEvent {
  const EventFields& fields;
  std::int64_t offset;
  EventBatch& batch;
  Clock clock;

  [[nodiscard]] std::string_view operator[](EventField field) const { return fields[field]; }
  void issue(IssueKind kind, std::string_view sample) const { batch.issues.add(kind, offset, sample); }

  // Present, and not null.
  [[nodiscard]] bool gives(EventField field) const { return fields.has(field) && !is_null_token(fields[field]); }
  // kUnknownValue where the field is absent, null or no integer of 64 bits; the latter is an issue.
  [[nodiscard]] std::int64_t integer(EventField field) const;
  // Of "dur", in ns. kUnknownValue, with an issue, where the event gives no usable one.
  [[nodiscard]] std::int64_t duration() const;
};

}  // namespace tracedb
