// Finding back into the events behind damage. The next whole event counts, whatever stands around it; what lies before
// it goes out as one damaged chunk, so that the outcome depends on the bytes of the trace alone.
#include <algorithm>
#include <cstring>

#include "ingest/json_chunks.h"
#include "ingest/json_shape.h"

namespace tracedb {
namespace {

// Objects larger than this are not looked for: how far ahead an object is followed that may be none.
constexpr std::size_t kLongestEvent = std::size_t{1} << 20U;
constexpr std::size_t kSample = 200;

}  // namespace

// The first element of the chunk is broken.
bool JsonChunks::resync(Chunk& chunk, std::size_t used) {
  const std::size_t longest = std::min(kLongestEvent, limits_.event);
  std::size_t from = 1;
  bool dropped = false;  // the beginning was too much to keep
  scan_ = {};
  comma_pending_ = false;
  while (true) {
    const std::string_view rest(chunk.buffer.data() + 1, used);
    const EventSearch found = find_event(rest, from, longest, source_ended_ ? More::kNo : More::kMayCome);
    if (found.at != EventSearch::kNone) {
      keep(chunk, found.at, used);
      return !dropped && emit_damaged(chunk, found.at);
    }
    from = found.resume;
    if (source_ended_) return finish_damaged(chunk, used, dropped);
    if (used > limits_.event) {
      if (!dropped) {
        issues_.add(IssueKind::kOversizedEvent, static_cast<std::int64_t>(chunk.offset), rest.substr(0, kSample));
        ++oversized_;
        dropped = true;
      }
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

// Behind a bracket that seems to close the array: passes over it if events follow after all.
bool JsonChunks::pass_stray_bracket() {
  constexpr std::size_t kMostSpace = 4096;
  const std::string_view next = ahead(kMostSpace);
  std::size_t i = next.find_first_not_of(" \t\r\n");
  const bool comma = i != std::string_view::npos && next[i] == ',';
  if (comma) i = next.find_first_not_of(" \t\r\n", i + 1);
  if (i == std::string_view::npos || next[i] != '{' || !(comma || in_object_)) return false;
  issues_.add(IssueKind::kStrayText, static_cast<std::int64_t>(base_) - 1, "]");
  at_ = i;
  scan_ = {};
  return true;
}

}  // namespace tracedb
