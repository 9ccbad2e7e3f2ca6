// The top level of a trace, around the array of events.
#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "base/text/closest_name.h"
#include "base/text/json_text.h"
#include "ingest/read/json_chunks.h"

namespace tracedb {
namespace {

constexpr std::size_t kFirstLook = 4096;  // of a value: nearly all end within
const std::string kEventsKey = "traceEvents";

// Members that traces have at the top level, with or without events.
bool is_of_trace(std::string_view key) {
  constexpr std::string_view kNames[] = {
      "traceEvents",     "schemaVersion",       "deviceProperties", "computeProperties", "traceName",
      "distributedInfo", "baseTimeNanoseconds", "displayTimeUnit",  "with_stack",        "record_shapes",
      "trace_id",        "otherData",           "stackFrames",      "systemTraceEvents", "samples"};
  return std::find(std::begin(kNames), std::end(kNames), key) != std::end(kNames);
}

bool is_scalar(char first) { return first != '{' && first != '[' && first != '"'; }

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
  size = std::min(size, limits_.event / 2);  // never what tells that an event is too large
  while (window_.size() - at_ < size && refill()) {
  }
  return {window_.data() + at_, std::min(size, window_.size() - at_)};
}

bool JsonChunks::skip_space(std::string_view also) {
  for (char c = 0; peek(c); ++at_) {
    if (!is_json_space(c) && also.find(c) == std::string_view::npos) return true;
  }
  return false;
}

// How far ahead the first byte at `from` or behind it is that is no white space; kNone: the trace ends before it.
std::size_t JsonChunks::solid_ahead(std::size_t from) {
  for (std::size_t i = from;; ++i) {
    if (ahead(i + 1).size() <= i) return EventSearch::kNone;
    if (!is_json_space(window_[at_ + i])) return i;
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
  if (window_[at_] != '"') return look_for_events(Astray::kInHeader);
  const ShapeCheck key = value_ahead();
  if (key.shape == Shape::kBroken) return look_for_events(Astray::kInHeader);
  const std::size_t colon = key.shape == Shape::kWhole ? solid_ahead(key.end) : EventSearch::kNone;
  if (colon == EventSearch::kNone) return look_for_events(Astray::kInCutHeader, "in the header");
  if (window_[at_ + colon] != ':') return look_for_events(Astray::kInHeader);
  const std::size_t value = solid_ahead(colon + 1);
  if (value == EventSearch::kNone) return look_for_events(Astray::kInCutHeader, "in the header");
  const Unescaped name = storable_text(raw_string({window_.data() + at_, key.end}));
  issues_.add(IssueKind::kReplacedCharacter, static_cast<std::int64_t>(position()), name.text, name.replaced);
  at_ += value;
  scan_value(name.text);
}

// Of the member `key`. Where it turns out to be broken, events are looked for in it too.
void JsonChunks::scan_value(const std::string& key) {
  names_trace_ = names_trace_ || is_of_trace(key);
  if ((key == kEventsKey && window_[at_] == '[') || begins_misnamed_events(key)) {
    ++at_;
    return begin_events();
  }
  ++members_;
  const ShapeCheck value = value_ahead();
  if (value.end > limits_.header_value) return pass_over_large_value(key);
  if (value.shape == Shape::kCut) return look_for_events(Astray::kInCutHeader, key);
  if (value.shape == Shape::kBroken || !may_end_at(value.end)) return look_for_events(Astray::kInHeader);
  const std::string text(window_.data() + at_, value.end);
  // Where what was lost leaves valid JSON, the events behind it have become part of the value.
  if (find_phase(text) != std::string_view::npos && find_event(text, 0, More::kNo).found()) {
    const bool last = solid_ahead(value.end) == EventSearch::kNone;  // a bracket is missing, perhaps one of its own
    return look_for_events(last ? Astray::kInCutHeader : Astray::kInHeader, key);
  }
  if (key == kEventsKey) {
    issues_.add(IssueKind::kEventsNotAnArray, static_cast<std::int64_t>(position()), text);
  } else {
    keep_member(key, text, position());
  }
  at_ += value.end;
}

// `offset` is that of the value. What does not fit beside the others is passed over.
void JsonChunks::keep_member(std::string key, std::string_view text, std::uint64_t offset) {
  const std::size_t bytes = header_size(key, text);
  if (bytes > limits_.header - header_bytes_) {
    issues_.add(IssueKind::kOversizedHeader, static_cast<std::int64_t>(offset), key);
    return;
  }
  header_bytes_ += bytes;
  Unescaped value = storable_json(text);
  issues_.add(IssueKind::kReplacedCharacter, static_cast<std::int64_t>(offset), text, value.replaced);
  header_.push_back({std::move(key), std::move(value.text), static_cast<std::int64_t>(offset)});
}

// A list of events under a key that is nearly the right one.
bool JsonChunks::begins_misnamed_events(const std::string& key) {
  if (window_[at_] != '[' || key == kEventsKey || closest_name(key, std::span(&kEventsKey, 1)).empty()) return false;
  if (!is_list_of_events(ahead(longest_look()))) return false;
  issues_.add(IssueKind::kMisnamedEvents, static_cast<std::int64_t>(position()), key);
  names_trace_ = true;
  return true;
}

// Of the value at at_: kCut is one that goes on behind the end of the trace, or, with an `end` beyond the limit, behind
// what is kept of a value.
ShapeCheck JsonChunks::value_ahead() {
  for (std::size_t size = kFirstLook;; size *= 2) {
    const std::size_t wanted = std::min(size, limits_.header_value + 1);
    const std::string_view text = ahead(wanted);
    ShapeCheck check = check_shape(text, kAnyDepth);
    if (check.shape == Shape::kWhole && check.end == text.size() && is_scalar(text.front())) check.shape = Shape::kCut;
    if (check.shape != Shape::kCut || text.size() < wanted || wanted > limits_.header_value) return check;
  }
}

// Whether a value of the top level may end before `end`: behind it is a comma (which may be missing) or the end.
bool JsonChunks::may_end_at(std::size_t end) {
  const std::size_t next = solid_ahead(end);
  if (next == EventSearch::kNone) return true;
  const char c = window_[at_ + next];
  return c == ',' || c == '}' || (c == '"' && next > end);
}

// Of a value that is too large to keep, which tells little: a whole event in it tells that a bracket is missing.
void JsonChunks::pass_over_large_value(const std::string& key) {
  const std::uint64_t begin = position();
  const std::string sample(ahead(kIssueSample));
  ScanState state;
  state.length = std::numeric_limits<std::int64_t>::min() / 2;  // that it is large is known
  std::size_t scanned = 0;                                      // of what is ahead
  std::size_t searched = 0;
  while (true) {
    const std::string_view text(window_.data() + at_, window_.size() - at_);
    const std::size_t end = scanned + element_end(text.substr(scanned), state).at;
    const More more = end < text.size() || source_ended_ ? More::kNo : More::kMayCome;
    const EventSearch found = find_event(text.substr(0, end), searched, more);
    if (found.found()) {
      issues_.add(IssueKind::kMalformedHeader, static_cast<std::int64_t>(begin), sample);
      at_ += found.at;
      return begin_events();
    }
    scanned = end;
    searched = found.resume;
    if (end < text.size()) break;
    at_ += searched;
    scanned -= searched;
    searched = 0;
    if (!refill()) return truncated(key);
  }
  issues_.add(IssueKind::kOversizedHeader, static_cast<std::int64_t>(begin), key);
  at_ += scanned;
}

void JsonChunks::truncated(std::string_view where) {
  issues_.add(IssueKind::kTruncated, static_cast<std::int64_t>(position()), where);
  complete_ = false;
  where_ = Where::kEnd;
}

}  // namespace tracedb
