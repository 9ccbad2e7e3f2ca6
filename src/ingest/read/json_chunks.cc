#include "ingest/read/json_chunks.h"

#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/text/json_text.h"

namespace tracedb {
namespace {

constexpr std::size_t kSkipPiece = 4096;

bool all_space(std::string_view text) { return trim_json_space(text).empty(); }

// Of an element that does not end: events inside it are none of its members, a bracket is missing before them.
bool holds_event(std::string_view element) {
  const std::size_t begin = element.find('{');
  return begin != std::string_view::npos && find_event(element, begin + 1, More::kNo).found();
}

}  // namespace

JsonChunks::JsonChunks(ByteSource& source, std::string path, std::size_t chunk_size, const JsonLimits& limits,
                       std::string otherwise)
    : source_(source),
      path_(std::move(path)),
      otherwise_(std::move(otherwise)),
      limits_(limits),
      chunk_size_(std::min(std::max<std::size_t>(chunk_size, 64), limits.event / 2)),
      read_size_(std::min(kShortRead, chunk_size_)) {}

bool JsonChunks::next(Chunk& chunk) {
  while (where_ != Where::kEnd) {
    if (where_ != Where::kEvents) scan_to_events();
    if (where_ == Where::kEvents && next_chunk(chunk)) return true;
  }
  require_something();
  // What follows the events is counted too, so that bytes() does not depend on how much was read at once.
  do {
    at_ = window_.size();
  } while (refill());
  return false;
}

// Moves what is left in the window to the front of the chunk and cuts. False: nothing to hand out this time; where_
// says whether the array goes on.
bool JsonChunks::next_chunk(Chunk& chunk) {
  const std::size_t carried = window_.size() - at_;
  chunk.offset = position();
  chunk.buffer.resize(std::max(chunk.buffer.size(), 1 + std::max(carried, chunk_size_) + 1 + Chunk::kPadding));
  std::memcpy(chunk.buffer.data() + 1, window_.data() + at_, carried);
  base_ += at_;
  window_.clear();
  at_ = 0;
  const std::size_t scanned = std::exchange(scanned_, 0);
  return std::exchange(broken_, false) ? resync(chunk, carried) : cut(chunk, carried, scanned);
}

// Reads on until at least one element is whole, and cuts behind the last whole one. The first `used` bytes are there,
// `done` of them scanned.
bool JsonChunks::cut(Chunk& chunk, std::size_t used, std::size_t done) {
  constexpr auto kLarge = static_cast<std::size_t>(ScanResult::kLargeElement);
  std::size_t unchecked = kLarge;  // an element that grows beyond this many bytes is looked at again
  std::size_t comma = ScanResult::kNone;
  while (true) {
    const char* first = chunk.buffer.data() + 1;
    const ScanResult result = scan_structure({first + done, used - done}, scan_);
    if (result.last_comma != ScanResult::kNone) comma = done + result.last_comma;
    const std::size_t element = comma == ScanResult::kNone ? 0 : comma + 1;
    if (result.end != ScanResult::kNone) return finish_array(chunk, used, done + result.end, comma);
    if (result.suspicion != Suspicion::kNone) {
      done += result.stop;
      if (result.suspicion == Suspicion::kLarge &&
          !is_broken({first + element, done - element}, chunk.offset + element))
        continue;
      if (comma == ScanResult::kNone) return resync(chunk, used);
      broken_ = true;
    }
    if (comma != ScanResult::kNone) return finish_chunk(chunk, used, comma);
    done = used;
    const Growth growth = judge({first, used}, chunk.offset, unchecked);
    if (growth == Growth::kBroken) return resync(chunk, used);
    if (growth == Growth::kOversized) {
      pass_over_oversized(chunk, used);
      return false;
    }
    const std::size_t count = read_more(chunk, used);
    if (count == 0) return finish_truncated(chunk, used);
    used += count;
  }
}

// An element that begins where another one did not end, and was walked over then, does not end either.
bool JsonChunks::is_broken(std::string_view element, std::uint64_t offset) {
  const std::uint64_t begin = offset + skip_json_space(element, 0), end = offset + element.size();
  if (end > open_until_ || !std::binary_search(open_.begin(), open_.end(), begin - open_from_)) {
    const ShapeCheck check = check_shape(element, kAnyDepth, &open_);
    open_from_ = offset;
    open_until_ = check.shape == Shape::kCut ? end : 0;
    if (check.shape == Shape::kBroken) return true;
    if (check.shape == Shape::kWhole && behind_event(element, check.end) == Behind::kOther) return true;
  }
  return is_list_of_events(element);
}

JsonChunks::Growth JsonChunks::judge(std::string_view element, std::uint64_t offset, std::size_t& unchecked) {
  const bool oversized = element.size() > limits_.event;
  if (element.size() <= unchecked && !oversized) return Growth::kFine;
  unchecked = 2 * element.size();
  if (is_broken(element, offset) || (oversized && holds_event(element))) return Growth::kBroken;
  return oversized ? Growth::kOversized : Growth::kFine;
}

// Hands out the elements before `comma`. What is behind it is kept, all of it scanned.
bool JsonChunks::finish_chunk(Chunk& chunk, std::size_t used, std::size_t comma) {
  keep(chunk, comma + 1, used);
  scanned_ = window_.size();
  comma_pending_ = true;
  if (!broken_) read_size_ = std::min(2 * read_size_, chunk_size_);
  return emit(chunk, comma);
}

// What the next chunk starts with.
void JsonChunks::keep(const Chunk& chunk, std::size_t from, std::size_t used) {
  const char* first = chunk.buffer.data() + 1;
  window_.assign(first + from, first + used);
  base_ += from;
}

std::size_t JsonChunks::read_more(Chunk& chunk, std::size_t used) {
  if (source_ended_) return 0;
  // Never more than tells that an event is too large: whether it is must not depend on how much was read at once.
  std::size_t target = used < read_size_ ? read_size_ : std::min(2 * used, limits_.event + 1);
  if (target <= used) target = used + read_size_;  // what was looked ahead at may be more already
  chunk.buffer.resize(std::max(chunk.buffer.size(), 1 + target + 1 + Chunk::kPadding));
  const std::size_t count = source_.read(chunk.buffer.data() + 1 + used, target - used);
  source_ended_ = count == 0;
  return count;
}

bool JsonChunks::emit(Chunk& chunk, std::size_t elements_end) {
  if (all_space({chunk.buffer.data() + 1, elements_end})) {
    issues_.add(IssueKind::kStrayComma, static_cast<std::int64_t>(chunk.offset), {});
    return false;
  }
  seal(chunk, elements_end);
  return true;
}

void JsonChunks::seal(Chunk& chunk, std::size_t elements_end) {
  chunk.damaged = false;
  chunk.size = elements_end + 2;
  chunk.buffer[0] = '[';
  chunk.buffer[elements_end + 1] = ']';
  std::memset(chunk.buffer.data() + chunk.size, ' ', Chunk::kPadding);
}

bool JsonChunks::finish_array(Chunk& chunk, std::size_t used, std::size_t end, std::size_t last_comma) {
  keep(chunk, end + 1, used);
  read_size_ = std::min(kShortRead, chunk_size_);
  const bool goes_on = pass_stray_bracket();
  if (!goes_on) where_ = in_object_ ? Where::kTopLevel : Where::kStart;
  const std::size_t element_start = last_comma == ScanResult::kNone ? 0 : last_comma + 1;
  const bool after_comma = last_comma != ScanResult::kNone || comma_pending_;
  comma_pending_ = goes_on;
  if (!all_space({chunk.buffer.data() + 1 + element_start, end - element_start})) return emit(chunk, end);
  if (after_comma) issues_.add(IssueKind::kStrayComma, static_cast<std::int64_t>(chunk.offset + element_start), {});
  return last_comma != ScanResult::kNone && emit(chunk, last_comma);
}

// The source ended inside the array. A last element that is whole is kept: some writers never close the array.
bool JsonChunks::finish_truncated(Chunk& chunk, std::size_t used) {
  const std::string_view rest(chunk.buffer.data() + 1, used);
  if (holds_event(rest) || is_broken(rest, chunk.offset)) {
    ++unended_;
    return resync(chunk, used);
  }
  where_ = Where::kEnd;
  complete_ = false;
  base_ += used;
  const std::string_view trimmed = trim_json_space(rest);
  const bool whole = scan_.depth == 0 && !scan_.in_string && !trimmed.empty() &&
                     (trimmed.back() == '}' || trimmed.back() == ']' || trimmed.back() == '"');
  const std::uint64_t begin = chunk.offset + static_cast<std::uint64_t>(trimmed.data() - rest.data());
  const auto offset = static_cast<std::int64_t>(whole || trimmed.empty() ? base_ : begin);
  issues_.add(IssueKind::kTruncated, offset, whole ? std::string_view{} : trimmed);
  return whole && emit(chunk, used);
}

// An element that outgrew the limit: reads on without keeping it until it ends.
void JsonChunks::pass_over_oversized(Chunk& chunk, std::size_t used) {
  issues_.add(IssueKind::kOversizedEvent, static_cast<std::int64_t>(chunk.offset),
              {chunk.buffer.data() + 1, std::min(used, kIssueSample)});
  ++oversized_;
  base_ += used;
  scan_.length = std::numeric_limits<std::int64_t>::min() / 2;  // that it is large is known
  const std::size_t piece_size = std::min(kSkipPiece, limits_.event);
  chunk.buffer = std::vector<char>(piece_size);
  while (!source_ended_) {
    const std::size_t count = source_.read(chunk.buffer.data(), piece_size);
    source_ended_ = count == 0;
    const std::string_view piece(chunk.buffer.data(), count);
    const ElementEnd end = element_end(piece, scan_);
    if (end.at == count) {
      base_ += count;
      continue;
    }
    broken_ = end.broken;
    comma_pending_ = !broken_ && piece[end.at] == ',';
    const std::size_t next = end.at + (comma_pending_ ? 1 : 0);
    window_.assign(piece.begin() + static_cast<std::ptrdiff_t>(next), piece.end());
    base_ += next;
    scan_ = {};
    return;
  }
}

// Finds where a document begins, and refuses files that are not traces.
namespace {

constexpr std::size_t kNamedHead = 4096;  // of JSON, in which its first names stand
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

void JsonChunks::scan_to_events() {
  while (where_ == Where::kStart) scan_start();
  while (where_ == Where::kTopLevel) scan_top_level();
}

// Between documents. Before the first one may be garbage; what follows a complete one is read only if it is another
// trace.
void JsonChunks::scan_start() {
  if (position() == 0 && ahead(kByteOrderMark.size()) == kByteOrderMark) {
    issues_.add(IssueKind::kByteOrderMark, 0, {});
    at_ = kByteOrderMark.size();
  }
  if (!skip_space()) {
    const bool whole = source_.damage() == StreamDamage::kNone;
    if (documents_ == 0)
      throw Error(
          ErrorCode::kInput,
          fmt::format("{}: {}", path_, whole ? "empty file" : "a compressed file, cut off or damaged at its start"));
    where_ = Where::kEnd;
    return;
  }
  const char c = window_[at_];
  const bool opens = c == '{' || c == '[';
  if (documents_++ > 0) {
    issues_.add(IssueKind::kTrailingData, static_cast<std::int64_t>(position()), ahead(kIssueSample));
    if (!opens) return look_for_events(Astray::kBehindDocument);
  } else if (!opens) {
    if (base_ == 0) at_ = 0;  // white space may belong to what stands there
    garbage_ = true;
    return look_for_events(Astray::kBeforeDocument);
  }
  begin_document();
}

// At a bracket.
void JsonChunks::begin_document() {
  in_object_ = window_[at_] == '{';
  if (in_object_ && is_event_without_list()) {
    issues_.add(IssueKind::kMalformedHeader, static_cast<std::int64_t>(position()), ahead(kIssueSample));
    in_object_ = false;
    return begin_events();
  }
  ++at_;
  if (!in_object_) return begin_events();
  where_ = Where::kTopLevel;
}

// Whether the object at at_ is an event, and others follow it: the bracket before them is missing.
bool JsonChunks::is_event_without_list() {
  if (!check_shape(ahead(std::min(kNamedHead, longest_look())), kAnyDepth).has_phase) return false;
  const ShapeCheck check = check_shape(ahead(longest_look()), kAnyDepth);
  if (check.shape != Shape::kWhole) return false;
  const std::size_t next = solid_ahead(check.end);
  return next != EventSearch::kNone && window_[at_ + next] == ',';
}

// At the end: a document that begins with garbage is one where events were found.
void JsonChunks::require_something() const {
  if (garbage_ && !saw_events_) not_a_trace();
}

void JsonChunks::not_a_trace() const { throw Error(ErrorCode::kInput, fmt::format("{}: {}", path_, otherwise_)); }

}  // namespace tracedb
