// Resumes reading after damage: finds the next whole event, whatever surrounds it; what lies before
// it goes out as one damaged chunk, so that the outcome depends on the bytes of the trace alone.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/text/json_text.h"
#include "ingest/read/json_chunks.h"
#include "ingest/read/json_shape.h"
#include "ingest/read/trace_header.h"

namespace tracedb {
namespace {

constexpr std::size_t kDamagedPiece = std::size_t{64} << 10U;

// Finds the intact members of the top level of a trace after damage, up to the list of events or the end. Linear in the
// text; the number of attempts is bounded.
struct HeaderRest {
  TraceHeader members;                          // their texts as they are, their offsets in the text
  std::size_t events = std::string_view::npos;  // behind the bracket of "traceEvents"
};

constexpr std::string_view kQuotedEventsKey = "\"traceEvents\"";

bool is_at(std::string_view text, std::size_t i, char c) { return i < text.size() && text[i] == c; }

// Follows members of an object, one behind the other.
class MemberWalk {
 public:
  MemberWalk(std::string_view text, std::size_t from) : text_(text), at_(from) {}

  // Whether they reach the list of events, or the end of the text behind a bracket that closes the object.
  bool reaches_end(HeaderRest& rest) {
    while (is_at(text_, at_, '"')) {
      const ShapeCheck key = check_shape(text_.substr(at_), kAnyDepth);
      if (key.shape != Shape::kWhole) return false;
      const std::string_view token = text_.substr(at_, key.end);
      at_ = skip_json_space(text_, at_ + key.end);
      if (!is_at(text_, at_, ':')) return false;
      at_ = skip_json_space(text_, at_ + 1);
      if (token == kQuotedEventsKey && is_at(text_, at_, '[')) {
        rest.events = at_ + 1;
        return true;
      }
      if (!take_value(token, rest)) return false;
      if (is_at(text_, at_, '}')) return skip_json_space(text_, at_ + 1) == text_.size();
      if (!is_at(text_, at_, ',')) return false;
      at_ = skip_json_space(text_, at_ + 1);
    }
    return false;
  }

  [[nodiscard]] std::size_t at() const { return at_; }

 private:
  bool take_value(std::string_view key, HeaderRest& rest) {
    const ShapeCheck value = check_shape(text_.substr(at_), kAnyDepth);
    if (value.shape == Shape::kWhole) {
      rest.members.push_back({storable_text(raw_string(key)).text, std::string(text_.substr(at_, value.end)),
                              static_cast<std::int64_t>(at_)});
    }
    at_ = skip_json_space(text_, at_ + value.end);
    return value.shape == Shape::kWhole;
  }

  std::string_view text_;
  std::size_t at_;
};

// Where the last list under the key of events begins, whatever stands before it.
std::size_t last_list_of_events(std::string_view text) {
  for (std::size_t at = text.rfind(kQuotedEventsKey); at != std::string_view::npos;
       at = at == 0 ? at - 1 : text.rfind(kQuotedEventsKey, at - 1)) {
    const std::size_t colon = skip_json_space(text, at + kQuotedEventsKey.size());
    const std::size_t list = skip_json_space(text, colon + 1);
    if (is_at(text, colon, ':') && is_at(text, list, '[')) return list + 1;
  }
  return std::string_view::npos;
}

// `text` begins in a damaged place, and ends where the first event begins, or with the trace.
HeaderRest rest_of_header(std::string_view text) {
  // Each comma may cost a walk to the end of the text, and text made for it has a million of them.
  std::size_t bytes = std::size_t{64} << 20U;
  for (std::size_t at = text.find_first_of(",{"); at != std::string_view::npos; at = text.find_first_of(",{", at + 1)) {
    HeaderRest rest;
    const std::size_t begin = skip_json_space(text, at + 1);
    MemberWalk walk(text, begin);
    if (walk.reaches_end(rest)) return rest;
    const std::size_t walked = walk.at() - std::min(begin, walk.at());
    if (walked > bytes) break;
    bytes -= walked;
  }
  HeaderRest rest;
  rest.events = last_list_of_events(text);
  return rest;
}

}  // namespace

// The first element of the chunk is broken.
bool JsonChunks::resync(Chunk& chunk, std::size_t used) {
  const Astray astray = std::exchange(astray_, Astray::kNo);
  std::size_t from = astray == Astray::kNo ? 1 : 0;
  bool dropped = false;  // the beginning was too much to keep
  scan_ = {};
  comma_pending_ = false;
  read_size_ = std::min(kShortRead, chunk_size_);
  while (true) {
    const std::string_view rest(chunk.buffer.data() + 1, used);
    const EventSearch found = search(rest, from, astray);
    if (found.found()) {
      if (astray != Astray::kNo) return begin_astray_events(chunk, used, found, astray, dropped);
      keep(chunk, found.at, used);
      broken_ = found.end == 0;
      if (!dropped && trim_json_space(rest.substr(0, found.at)).ends_with('}')) {
        issues_.add(IssueKind::kMissingComma, static_cast<std::int64_t>(chunk.offset + found.at), {});
      }
      return !dropped && emit_damaged(chunk, found.at);
    }
    from = found.resume;
    if (source_ended_) {
      return astray == Astray::kNo ? finish_damaged(chunk, used, dropped) : finish_astray(rest, astray, dropped);
    }
    if (used > limits_.event) {
      if (!dropped && astray == Astray::kNo) {
        issues_.add(IssueKind::kOversizedEvent, static_cast<std::int64_t>(chunk.offset), rest.substr(0, kIssueSample));
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

// Where elements that do not end hold others that do not, each costs a walk to the end of the trace: after some, their
// pieces grow, so that there are few.
std::size_t JsonChunks::least_piece(Astray astray) const {
  constexpr unsigned kFew = 4, kBeforeDoubled = 8, kMostDoubled = 10;
  if (astray != Astray::kNo || unended_ <= kFew) return 0;
  return std::min(kDamagedPiece << std::min((unended_ - kFew) / kBeforeDoubled, kMostDoubled), limits_.event / 2);
}

// Where cutting may go on: at the next whole event. A piece of damage that is longer than needed to mend an event ends
// at the next one that is broken too, or of those that no commas tell apart.
EventSearch JsonChunks::search(std::string_view text, std::size_t from, Astray astray) const {
  const std::size_t longest = std::min(kLongestEvent, limits_.event);
  const std::size_t piece = astray == Astray::kNo ? std::min(kDamagedPiece, limits_.event / 2) : 0;
  const More more = source_ended_ ? More::kNo : More::kMayCome;
  const std::size_t least = least_piece(astray);
  EventFinder events(text, longest);
  EventSearch found = events.find(from, piece, more);
  while (found.at < std::max(piece, least)) {
    if (found.at < least && more == More::kNo) {
      found = events.find(std::max(found.end, found.at + 1), piece, more);
      continue;
    }
    if (found.at >= piece) break;
    const Behind behind = behind_event(text, found.end);
    if (behind == Behind::kEndOfText && more == More::kMayCome) return {EventSearch::kNone, found.at, 0};
    if (behind != Behind::kOther) break;
    found = events.find(found.end, piece, more);
  }
  return found;
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

// At at_ the text belongs nowhere: events may follow. `value` is the member it is the value of, for the message.
void JsonChunks::look_for_events(Astray where, std::string_view value) {
  lost_at_ = static_cast<std::int64_t>(position());
  lost_text_ = ahead(kIssueSample);
  lost_value_ = value;
  if (where == Astray::kBeforeDocument) issues_.add(IssueKind::kLeadingData, lost_at_, lost_text_);
  if (where == Astray::kInHeader) issues_.add(IssueKind::kMalformedHeader, lost_at_, lost_text_);
  where_ = Where::kEvents;
  broken_ = true;
  astray_ = where;
}

// One does. What is whole of the header before it is kept.
bool JsonChunks::begin_astray_events(const Chunk& chunk, std::size_t used, const EventSearch& found, Astray astray,
                                     bool dropped) {
  const std::string_view before(chunk.buffer.data() + 1, dropped ? 0 : found.at);
  const std::size_t list = take_header(before, chunk.offset);
  const std::size_t begin = list == std::string_view::npos ? find_phase(before) : list;
  const bool part_before = begin < before.size() && !trim_json_space(before.substr(begin)).empty();
  if (astray == Astray::kInCutHeader) issues_.add(IssueKind::kMalformedHeader, lost_at_, lost_text_);
  if (astray == Astray::kBeforeDocument) in_object_ = list != std::string_view::npos;
  saw_events_ = true;
  broken_ = part_before || found.end == 0;
  keep(chunk, part_before ? begin : found.at, used);
  return false;
}

// None does. A broken value of the top level may still be followed by its end.
bool JsonChunks::finish_astray(std::string_view rest, Astray astray, bool dropped) {
  if (!dropped) take_header(rest, base_);
  base_ += rest.size();
  where_ = Where::kEnd;
  const bool ended = saw_events_ && trim_json_space(rest).ends_with('}');
  if (astray == Astray::kInHeader && !saw_events_ && members_ == 0) not_a_trace();
  if (astray == Astray::kInCutHeader) truncated(lost_value_);
  if (astray == Astray::kInHeader && !ended) truncated("in the header");
  return false;
}

// The members of the header that `text`, which begins at `offset`, ends with. Returns where in it the list of events
// begins; npos: nowhere.
std::size_t JsonChunks::take_header(std::string_view text, std::uint64_t offset) {
  HeaderRest rest = rest_of_header(text);
  names_trace_ = names_trace_ || rest.events != std::string_view::npos;
  for (HeaderMember& member : rest.members) {
    if (find_header(header_, member.key) != nullptr || member.text.size() > limits_.header_value) continue;
    keep_member(std::move(member.key), member.text, offset + static_cast<std::uint64_t>(member.offset));
    ++members_;
  }
  return rest.events;
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
