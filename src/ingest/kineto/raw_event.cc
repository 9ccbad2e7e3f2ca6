#include "ingest/kineto/raw_event.h"

#include <cmath>
#include <limits>

#include "base/text/decimal.h"
#include "base/unknown.h"
#include "ingest/read/json_text.h"

namespace tracedb {

namespace {

std::optional<std::int64_t> parse_cycles(std::string_view text) {
  if (const auto plain = parse_int64(text)) return plain;
  if (const auto whole = parse_integral(text)) return whole;
  const auto number = parse_double(text);
  if (!number || !(std::fabs(*number) < static_cast<double>(kTimeLimit))) return std::nullopt;
  return std::llround(*number);
}

}  // namespace

std::optional<std::int64_t> time_of(std::string_view token, Clock clock) {
  const auto time = clock == Clock::kCycles ? parse_cycles(number_text(token)) : parse_microseconds(number_text(token));
  return time && is_time(*time) ? time : std::nullopt;
}

double rate_of(std::string_view token) {
  return parse_double(number_text(token)).value_or(std::numeric_limits<double>::quiet_NaN());
}

TrackKey track_key(std::string_view token) {
  if (is_null_token(token)) return {};
  const auto number = is_json_string(token) ? parse_int64(number_text(token)) : parse_integral(token);
  if (number) return {*number, {}};
  return {kUnknownValue, unescape(raw_string(token)).text};
}

std::int64_t RawEvent::integer(EventField field) const {
  const std::string_view token = fields[field];
  if (token.empty() || is_null_token(token)) return kUnknownValue;
  if (const auto value = parse_integral(number_text(token))) return *value;
  issue(IssueKind::kBadNumber, token);
  return kUnknownValue;
}

std::int64_t RawEvent::duration() const {
  const std::string_view token = fields[EventField::kDur];
  if (const auto value = time_of(token, clock)) {
    if (*value >= 0) return *value;
    issue(IssueKind::kNegativeDuration, token);
    return kUnknownValue;
  }
  const bool missing = token.empty() || is_null_token(token);
  issue(missing ? IssueKind::kMissingDuration : IssueKind::kBadDuration, token);
  return kUnknownValue;
}

}  // namespace tracedb
