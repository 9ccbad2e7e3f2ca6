// The top level of a trace, around the array of events.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "ingest/json_chunks.h"
#include "ingest/json_text.h"
#include "ingest/known_formats.h"

namespace tracedb {
namespace {

constexpr std::size_t kSample = 200;
constexpr std::size_t kNamedHead = 4096;  // of JSON, in which its first names stand
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// Members that traces have at the top level, with or without events.
bool is_of_trace(std::string_view key) {
  constexpr std::string_view kNames[] = {
      "traceEvents",     "schemaVersion",       "deviceProperties", "computeProperties", "traceName",
      "distributedInfo", "baseTimeNanoseconds", "displayTimeUnit",  "with_stack",        "record_shapes",
      "trace_id",        "otherData",           "stackFrames",      "systemTraceEvents", "samples"};
  return std::find(std::begin(kNames), std::end(kNames), key) != std::end(kNames);
}

}  // namespace

bool JsonChunks::refill() {
  if (source_ended_) return false;
  base_ += at_;
  window_.erase(window_.begin(), window_.begin() + static_cast<std::ptrdiff_t>(at_));
  at_ = 0;
  const std::size_t kept = window_.size();
  window_.resize(kept + read_size_);
  const std::size_t count = source_.read(window_.data() + kept, read_size_);
  window_.resize(kept + count);
  source_ended_ = count == 0;
  return count > 0;
}

bool JsonChunks::peek(char& c) {
  if (at_ == window_.size() && !refill()) return false;
  c = window_[at_];
  return true;
}

// What comes next, up to `size` bytes, without consuming it.
std::string_view JsonChunks::ahead(std::size_t size) {
  while (window_.size() - at_ < size && refill()) {
  }
  return {window_.data() + at_, std::min(size, window_.size() - at_)};
}

bool JsonChunks::skip_space(std::string_view also) {
  for (char c = 0; peek(c); ++at_) {
    if (!is_space(c) && also.find(c) == std::string_view::npos) return true;
  }
  return false;
}

void JsonChunks::scan_to_events() {
  while (where_ == Where::kStart) scan_start();
  while (where_ == Where::kTopLevel) scan_top_level();
}

// Between documents: the first one must be JSON; what follows a complete one is read only if it is another trace.
void JsonChunks::scan_start() {
  if (position() == 0 && ahead(kByteOrderMark.size()) == kByteOrderMark) {
    issues_.add(IssueKind::kByteOrderMark, 0, {});
    at_ = kByteOrderMark.size();
  }
  if (!skip_space()) {
    if (documents_ == 0) not_a_trace();
    where_ = Where::kEnd;
    return;
  }
  const char c = window_[at_];
  if (documents_++ > 0) {
    issues_.add(IssueKind::kTrailingData, static_cast<std::int64_t>(position()), ahead(kSample));
    if (c != '{' && c != '[') return look_for_events(Astray::kBehindDocument);
  } else if (c == '{' || c == '[') {
    if (const KnownFormat* format = known_format(ahead(std::min(kNamedHead, chunk_size_)), path_)) refuse(*format);
  }
  if (c == '[') {
    ++at_;
    in_object_ = false;
    begin_events();
  } else if (c == '{') {
    ++at_;
    in_object_ = true;
    where_ = Where::kTopLevel;
  } else {
    not_a_trace();
  }
}

void JsonChunks::begin_events() {
  if (saw_events_ && in_object_) {
    issues_.add(IssueKind::kDuplicateEventsArray, static_cast<std::int64_t>(position()), {});
  }
  saw_events_ = true;
  where_ = Where::kEvents;
  scan_ = {};
  comma_pending_ = false;
}

void JsonChunks::scan_top_level() {
  if (!skip_space(",")) return truncated("in the header");
  if (window_[at_] == '}') {
    ++at_;
    where_ = Where::kStart;
    return;
  }
  std::string key;
  if (window_[at_] != '"') {
    if (!saw_events_ && header_.empty()) not_a_trace();
    return skip_broken_header(static_cast<std::int64_t>(position()), ahead(kSample));
  }
  const auto offset = static_cast<std::int64_t>(position());
  switch (value_text(key)) {
    case Value::kCut:
      return truncated("in the header");
    case Value::kBroken:
      return skip_broken_header(offset, key);
    case Value::kWhole:
      break;
  }
  if (!skip_space()) return truncated("in the header");
  if (window_[at_] != ':') return skip_broken_header(offset, key);
  ++at_;
  if (!skip_space()) return truncated("in the header");
  scan_value(unescape(raw_string(key)).text);
}

void JsonChunks::scan_value(const std::string& key) {
  names_trace_ = names_trace_ || is_of_trace(key);
  if (key == "traceEvents" && window_[at_] == '[') {
    ++at_;
    begin_events();
    return;
  }
  const auto offset = static_cast<std::int64_t>(position());
  ++members_;
  std::string text;
  const Value value = value_text(text);
  if (value == Value::kCut) return truncated(key);
  if (value == Value::kBroken) return skip_broken_header(offset, text);
  if (key == "traceEvents") {
    issues_.add(IssueKind::kEventsNotAnArray, offset, text);
  } else if (text.empty()) {
    issues_.add(IssueKind::kOversizedHeader, offset, key);
  } else {
    header_.emplace_back(key, std::move(text));
  }
}

// Consumes one JSON value and leaves its text in `out`, or nothing if it is larger than the limit. Broken: as in the
// scan for elements, at a byte no well-formed value has there; `out` is the text up to it.
JsonChunks::Value JsonChunks::value_text(std::string& out) {
  std::string open;
  bool in_string = false;
  bool escaped = false;
  char before = '\0';  // a quote that closed a string, else nothing
  std::size_t size = 0;
  const auto finished = [&] {
    if (size > limits_.header_value) out.clear();
    return Value::kWhole;
  };
  for (char c = 0; peek(c); ++at_) {
    const bool opens = !in_string && (c == '{' || c == '[');
    const bool closes = !in_string && (c == '}' || c == ']');
    if (open.empty() && size > 0 && !in_string && (closes || c == ',' || is_space(c))) return finished();
    if (before == '"' && !is_space(c) && !closes && c != ',' && c != ':') return Value::kBroken;
    if (closes && (open.empty() || open.back() != (c == '}' ? '{' : '['))) return Value::kBroken;
    if (++size <= limits_.header_value) out += c;
    const bool quote = c == '"' && !escaped;
    escaped = in_string && !escaped && c == '\\';
    if (quote) in_string = !in_string;
    before = quote && !in_string ? '"' : '\0';
    if (opens && open.size() == limits_.header_value) return Value::kBroken;
    if (opens) open += c;
    if (closes) open.pop_back();
    if (!open.empty() || in_string || !(closes || quote)) continue;
    ++at_;
    return finished();
  }
  return Value::kCut;
}

// Behind a broken top-level value nothing is known until the events begin, or go on.
void JsonChunks::skip_broken_header(std::int64_t offset, std::string_view text) {
  issues_.add(IssueKind::kMalformedHeader, offset, text);
  look_for_events(Astray::kInHeader);
}

void JsonChunks::truncated(std::string_view where) {
  issues_.add(IssueKind::kTruncated, static_cast<std::int64_t>(position()), where);
  complete_ = false;
  where_ = Where::kEnd;
}

void JsonChunks::refuse(const KnownFormat& format) const {
  throw Error(ErrorCode::kInput, fmt::format("{}: {}", path_, refusal(format)));
}

void JsonChunks::not_a_trace() {
  if (base_ == 0) at_ = 0;  // white space may be what a format begins with
  const std::string_view head = ahead(kFormatHead);
  if (head.find_first_not_of(" \t\r\n") == std::string_view::npos)
    throw Error(ErrorCode::kInput, fmt::format("{}: empty file", path_));
  if (const KnownFormat* format = known_format(head, path_)) refuse(*format);
  throw Error(ErrorCode::kInput, fmt::format("{}: not JSON", path_));
}

}  // namespace tracedb
