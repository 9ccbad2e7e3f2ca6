// Finding back into the events behind damage. The next whole event counts, whatever stands around it; what lies before
// it goes out as one damaged chunk, so that the outcome depends on the bytes of the trace alone.
#include <algorithm>
#include <cstring>
#include <utility>

#include "ingest/json_chunks.h"
#include "ingest/json_shape.h"
#include "ingest/json_text.h"

namespace tracedb {
namespace {

constexpr std::size_t kSample = 200;

}  // namespace

// The first element of the chunk is broken.
bool JsonChunks::resync(Chunk& chunk, std::size_t used) {
  const std::size_t longest = std::min(kLongestEvent, limits_.event);
  const Astray astray = std::exchange(astray_, Astray::kNo);
  std::size_t from = astray == Astray::kNo ? 1 : 0;
  bool dropped = false;  // the beginning was too much to keep
  scan_ = {};
  comma_pending_ = false;
  read_size_ = std::min(kShortRead, chunk_size_);
  while (true) {
    const std::string_view rest(chunk.buffer.data() + 1, used);
    const EventSearch found = find_event(rest, from, source_ended_ ? More::kNo : More::kMayCome, longest);
    if (found.at != EventSearch::kNone) {
      keep(chunk, found.at, used);
      saw_events_ = true;
      return astray == Astray::kNo && !dropped && emit_damaged(chunk, found.at);
    }
    from = found.resume;
    if (source_ended_) {
      return astray == Astray::kNo ? finish_damaged(chunk, used, dropped) : finish_astray(rest, astray);
    }
    if (used > limits_.event) {
      if (!dropped && astray == Astray::kNo) {
        issues_.add(IssueKind::kOversizedEvent, static_cast<std::int64_t>(chunk.offset), rest.substr(0, kSample));
        ++oversized_;
      }
      dropped = true;
      used -= from;
      std::memmove(chunk.buffer.data() + 1, chunk.buffer.data() + 1 + from, used);
      base_ += from;
      chunk.offset += from;
      from = 0;
    }
    used += read_more(chunk, used);
  }
}

// No event follows: the array ends somewhere in what is left, or its end is missing.
bool JsonChunks::finish_damaged(Chunk& chunk, std::size_t used, bool dropped) {
  const std::string_view rest(chunk.buffer.data() + 1, used);
  const std::size_t end = find_array_end(rest, in_object_ ? Container::kObject : Container::kArray);
  // Where the beginning was dropped, how much is left depends on how it was read.
  if (end != EventSearch::kNone && !dropped) {
    keep(chunk, end + 1, used);
    where_ = in_object_ ? Where::kTopLevel : Where::kStart;
    return emit_damaged(chunk, end);
  }
  where_ = Where::kEnd;
  complete_ = false;
  base_ += used;
  issues_.add(IssueKind::kTruncated, static_cast<std::int64_t>(base_), {});
  return !dropped && emit_damaged(chunk, used);
}

bool JsonChunks::emit_damaged(Chunk& chunk, std::size_t end) {
  seal(chunk, end);
  chunk.damaged = true;
  return true;
}

// In text that belongs nowhere and has its issue: events may follow.
void JsonChunks::look_for_events(Astray where) {
  where_ = Where::kEvents;
  broken_ = true;
  astray_ = where;
}

// None did. A broken value of the top level may still be followed by its end.
bool JsonChunks::finish_astray(std::string_view rest, Astray astray) {
  base_ += rest.size();
  const bool ended = saw_events_ && trim_json_space(rest).ends_with('}');
  if (astray == Astray::kInHeader && !ended) truncated("in the header");
  where_ = Where::kEnd;
  return false;
}

// Behind a bracket that seems to close the array: whether the events go on after all. Passes over it if so.
bool JsonChunks::pass_stray_bracket() {
  constexpr std::size_t kMostSpace = 4096;
  std::string_view next = ahead(kMostSpace);
  std::size_t i = next.find_first_not_of(" \t\r\n");
  if (i == std::string_view::npos) return false;
  const bool comma = next[i] == ',';
  if (!comma && (next[i] == '}' || (!in_object_ && next[i] != '{'))) return false;
  if (comma) i = next.find_first_not_of(" \t\r\n", i + 1);
  if (i == std::string_view::npos || (comma && next[i] != '{')) return false;
  // Without a comma, an object may be another document.
  if (!comma && !in_object_) {
    const auto event_follows = [&](std::size_t size) {
      next = ahead(i + size);
      return find_event(next, i, More::kNo).at == i;
    };
    if (!event_follows(kMostSpace) && !event_follows(kLongestEvent)) return false;
  }
  issues_.add(IssueKind::kStrayText, static_cast<std::int64_t>(base_) - 1, "]");
  at_ = i;
  broken_ = next[i] != '{';
  scan_ = {};
  return true;
}

}  // namespace tracedb
