#include "ingest/json_chunks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "ingest/json_text.h"

namespace tracedb {
namespace {

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

constexpr std::size_t kSkipPiece = 4096;
constexpr std::size_t kSample = 200;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Where the element that `state` is in the middle of ends: at its comma, or at the bracket that closes the array.
std::size_t element_end(std::string_view piece, ScanState state) {
  for (std::size_t i = 0; i < piece.size(); ++i) {
    const ScanResult result = scan_structure_scalar(piece.substr(i, 1), state);
    if (result.end != ScanResult::kNone || result.last_comma != ScanResult::kNone) return i;
  }
  return piece.size();
}

bool all_space(std::string_view text) { return std::all_of(text.begin(), text.end(), is_space); }

}  // namespace

JsonChunks::JsonChunks(ByteSource& source, std::string path, std::size_t chunk_size, const JsonLimits& limits)
    : source_(source),
      path_(std::move(path)),
      limits_(limits),
      chunk_size_(std::min(std::max<std::size_t>(chunk_size, 64), limits.event / 2)) {}

bool JsonChunks::next(Chunk& chunk) {
  while (where_ != Where::kEnd) {
    if (where_ != Where::kEvents) scan_to_events();
    if (where_ == Where::kEvents && next_chunk(chunk)) return true;
  }
  // What follows the events is counted too, so that bytes() does not depend on how much was read at once.
  do {
    at_ = window_.size();
  } while (refill());
  return false;
}

// ---- cutting -------------------------------------------------------------------------------------------------------

// Moves what is left in the window to the front of the chunk, reads on until at least one element is whole, and cuts
// behind the last whole one. False: nothing to hand out this time; where_ says whether the array goes on.
bool JsonChunks::next_chunk(Chunk& chunk) {
  const std::size_t carried = window_.size() - at_;
  chunk.offset = position();
  chunk.buffer.resize(std::max(chunk.buffer.size(), 1 + std::max(carried, chunk_size_) + 1 + Chunk::kPadding));
  std::memcpy(chunk.buffer.data() + 1, window_.data() + at_, carried);
  std::size_t used = carried;
  std::size_t done = std::exchange(scanned_, 0);
  base_ += at_;
  window_.clear();
  at_ = 0;
  while (true) {
    const ScanResult result = scan_structure({chunk.buffer.data() + 1 + done, used - done}, scan_);
    const std::size_t comma = result.last_comma == ScanResult::kNone ? ScanResult::kNone : done + result.last_comma;
    if (result.end != ScanResult::kNone) return finish_array(chunk, used, done + result.end, comma);
    if (comma != ScanResult::kNone) {
      const char* first = chunk.buffer.data() + 1;
      window_.assign(first + comma + 1, first + used);
      base_ += comma + 1;
      scanned_ = window_.size();
      comma_pending_ = true;
      return emit(chunk, comma);
    }
    done = used;
    if (used > limits_.event) {
      pass_over_oversized(chunk, used);
      return false;
    }
    const std::size_t count = read_more(chunk, used);
    if (count == 0) return finish_truncated(chunk, used);
    used += count;
  }
}

std::size_t JsonChunks::read_more(Chunk& chunk, std::size_t used) {
  if (source_ended_) return 0;
  // Never more than tells that an event is too large: whether it is must not depend on how much was read at once.
  const std::size_t target = used < chunk_size_ ? chunk_size_ : std::min(2 * used, limits_.event + 1);
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
  chunk.size = elements_end + 2;
  chunk.buffer[0] = '[';
  chunk.buffer[elements_end + 1] = ']';
  std::memset(chunk.buffer.data() + chunk.size, ' ', Chunk::kPadding);
  return true;
}

bool JsonChunks::finish_array(Chunk& chunk, std::size_t used, std::size_t end, std::size_t last_comma) {
  window_.assign(chunk.buffer.data() + 1 + end + 1, chunk.buffer.data() + 1 + used);
  base_ += end + 1;
  where_ = in_object_ ? Where::kTopLevel : Where::kStart;
  const std::size_t element_start = last_comma == ScanResult::kNone ? 0 : last_comma + 1;
  const bool after_comma = last_comma != ScanResult::kNone || comma_pending_;
  comma_pending_ = false;
  if (!all_space({chunk.buffer.data() + 1 + element_start, end - element_start})) return emit(chunk, end);
  if (after_comma) issues_.add(IssueKind::kStrayComma, static_cast<std::int64_t>(chunk.offset + element_start), {});
  return last_comma != ScanResult::kNone && emit(chunk, last_comma);
}

// The source ended inside the array. A last element that is whole is kept: some writers never close the array.
bool JsonChunks::finish_truncated(Chunk& chunk, std::size_t used) {
  where_ = Where::kEnd;
  complete_ = false;
  base_ += used;
  const std::string_view rest(chunk.buffer.data() + 1, used);
  const std::string_view trimmed = trim_json_space(rest);
  const bool whole = scan_.depth == 0 && !scan_.in_string && !trimmed.empty() &&
                     (trimmed.back() == '}' || trimmed.back() == ']' || trimmed.back() == '"');
  const auto offset = static_cast<std::int64_t>(whole || trimmed.empty() ? base_ : chunk.offset);
  issues_.add(IssueKind::kTruncated, offset, whole ? std::string_view{} : trimmed);
  return whole && emit(chunk, used);
}

// An element that outgrew the limit: reads on without keeping it until it ends.
void JsonChunks::pass_over_oversized(Chunk& chunk, std::size_t used) {
  issues_.add(IssueKind::kOversizedEvent, static_cast<std::int64_t>(chunk.offset),
              {chunk.buffer.data() + 1, std::min(used, kSample)});
  ++oversized_;
  base_ += used;
  const std::size_t piece_size = std::min(kSkipPiece, limits_.event);
  chunk.buffer = std::vector<char>(piece_size);
  while (!source_ended_) {
    const std::size_t count = source_.read(chunk.buffer.data(), piece_size);
    source_ended_ = count == 0;
    const std::string_view piece(chunk.buffer.data(), count);
    const ScanState before = scan_;
    const ScanResult result = scan_structure(piece, scan_);
    if (result.last_comma == ScanResult::kNone && result.end == ScanResult::kNone) {
      base_ += count;
      continue;
    }
    const std::size_t end = element_end(piece, before);
    comma_pending_ = piece[end] == ',';
    const std::size_t next = end + (comma_pending_ ? 1 : 0);
    window_.assign(piece.begin() + static_cast<std::ptrdiff_t>(next), piece.end());
    base_ += next;
    scan_ = {};
    return;
  }
}

// ---- top level -----------------------------------------------------------------------------------------------------

bool JsonChunks::refill() {
  if (source_ended_) return false;
  base_ += at_;
  window_.erase(window_.begin(), window_.begin() + static_cast<std::ptrdiff_t>(at_));
  at_ = 0;
  const std::size_t kept = window_.size();
  window_.resize(kept + chunk_size_);
  const std::size_t count = source_.read(window_.data() + kept, chunk_size_);
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
    if (documents_ == 0) not_a_trace({});
    where_ = Where::kEnd;
    return;
  }
  const char c = window_[at_];
  if (documents_++ > 0) {
    issues_.add(IssueKind::kTrailingData, static_cast<std::int64_t>(position()), ahead(kSample));
    if (c != '{' && c != '[') {
      where_ = Where::kEnd;
      return;
    }
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
    not_a_trace(ahead(kSample));
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
    if (!saw_events_ && header_.empty()) not_a_trace("{");
    return truncated("at a key that is no string");
  }
  if (!value_text(key) || !skip_space(":")) return truncated("in the header");
  scan_value(unescape(raw_string(key)).text);
}

void JsonChunks::scan_value(const std::string& key) {
  if (key == "traceEvents" && window_[at_] == '[') {
    ++at_;
    begin_events();
    return;
  }
  const auto offset = static_cast<std::int64_t>(position());
  std::string text;
  if (!value_text(text)) return truncated(key);
  if (key == "traceEvents") {
    issues_.add(IssueKind::kEventsNotAnArray, offset, text);
  } else if (text.empty()) {
    issues_.add(IssueKind::kOversizedHeader, offset, key);
  } else {
    header_.emplace_back(key, std::move(text));
  }
}

// Consumes one JSON value and leaves its text in `out`, or nothing if it is larger than the limit. False: the source
// ended inside it.
bool JsonChunks::value_text(std::string& out) {
  int depth = 0;
  bool in_string = false;
  bool escaped = false;
  std::size_t size = 0;
  const auto finished = [&] {
    if (size > limits_.header_value) out.clear();
    return true;
  };
  for (char c = 0; peek(c); ++at_) {
    const bool opens = !in_string && (c == '{' || c == '[');
    const bool closes = !in_string && (c == '}' || c == ']');
    if (depth == 0 && size > 0 && !in_string && (closes || c == ',' || is_space(c))) return finished();
    if (++size <= limits_.header_value) out += c;
    const bool quote = c == '"' && !escaped;
    escaped = in_string && !escaped && c == '\\';
    if (quote) in_string = !in_string;
    depth += opens ? 1 : closes ? -1 : 0;
    if (depth > 0 || in_string || !(closes || quote)) continue;
    ++at_;
    return finished();
  }
  return false;
}

void JsonChunks::truncated(std::string_view where) {
  issues_.add(IssueKind::kTruncated, static_cast<std::int64_t>(position()), where);
  complete_ = false;
  where_ = Where::kEnd;
}

// `text` is how the file begins, white space aside.
void JsonChunks::not_a_trace(std::string_view text) const {
  std::string why = "not JSON";
  if (text.empty()) why = "empty file";
  if (text.starts_with("version https://git-lfs")) why = "a git-lfs pointer, not the file itself: run 'git lfs pull'";
  if (text.starts_with("<")) why = "an HTML or XML page, not a trace";
  throw Error(ErrorCode::kInput, fmt::format("{}: {}", path_, why));
}

}  // namespace tracedb
