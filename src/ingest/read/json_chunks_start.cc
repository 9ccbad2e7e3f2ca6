// Finds where a document begins, and refuses files that are not traces.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "ingest/read/json_chunks.h"

namespace tracedb {
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
    if (documents_ == 0) throw Error(ErrorCode::kInput, fmt::format("{}: empty file", path_));
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
