// Cuts a JSON trace into chunks of whole events while it streams by. The events are under the key "traceEvents" at the
// top level, or in a bare array. The other top-level values are kept as text. Neither the events nor the issues depend
// on the chunk size.
//
// Where the text is broken so that elements cannot be separated (a quote or a bracket too many or too few), everything
// from the broken element to the next whole event becomes one damaged chunk, and cutting resumes there. Where the top
// level is broken (garbage before the document, a value that is no JSON), reading returns to where that began and
// continues at the first event after it; intact members of the header before the events are kept.
//
// Memory: one chunk, whatever the size of the trace; an event larger than the limit is skipped and counted. One thread
// at a time (the ingest pipeline calls next() under a lock).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/stream/byte_source.h"
#include "ingest/read/json_shape.h"
#include "ingest/read/structural_scan.h"
#include "ingest/read/trace_header.h"
#include "trace/issue.h"

namespace tracedb {

inline constexpr std::size_t kIssueSample = 200;  // most bytes of the trace that an issue quotes

// Text of consecutive array elements, comma-separated, in brackets: "[" elements "]", followed by kPadding bytes that
// may be read but mean nothing. `offset` is the position of the first element's bytes in the decompressed trace.
struct Chunk {
  static constexpr std::size_t kPadding = 64;
  std::vector<char> buffer;
  std::size_t size = 0;  // with the brackets, without the padding
  std::uint64_t offset = 0;
  bool damaged = false;  // no list of elements, but a piece of text in which there may be some
  [[nodiscard]] std::string_view text() const { return {buffer.data(), size}; }
  [[nodiscard]] std::string_view elements() const { return {buffer.data() + 1, size - 2}; }
};

// Sizes in bytes beyond which a value of the trace is passed over.
struct JsonLimits {
  std::size_t event = std::size_t{64} << 20U;         // with the white space before it
  std::size_t header_value = std::size_t{16} << 20U;  // of a top-level key that is not the events
  std::size_t header = kLargestHeader;                // of all these together
};

class JsonChunks {
 public:
  // `path` is only for messages, as is `otherwise`: what the file is where nothing like an event is in it. Borrows the
  // source.
  JsonChunks(ByteSource& source, std::string path, std::size_t chunk_size, const JsonLimits& limits = {},
             std::string otherwise = "not JSON");

  // The next chunk into `chunk` (its buffer is reused); false at the end of the trace. Throws Error{kInput} when the
  // file is no JSON trace at all, and nothing like an event is in it.
  bool next(Chunk& chunk);

  // After next() returned false:
  [[nodiscard]] const TraceHeader& header() const { return header_; }
  [[nodiscard]] const IssueLog& issues() const { return issues_; }
  [[nodiscard]] bool complete() const { return complete_; }  // false: the end is missing
  // A whole document with members, none of which a trace has: JSON of another kind.
  [[nodiscard]] bool is_other_json() const { return complete_ && members_ > 0 && !saw_events_ && !names_trace_; }
  [[nodiscard]] bool names_trace() const { return names_trace_; }
  [[nodiscard]] std::uint64_t oversized_events() const { return oversized_; }
  [[nodiscard]] std::uint64_t bytes() const { return base_ + window_.size(); }  // of the decompressed trace

 private:
  enum class Where : std::uint8_t { kStart, kTopLevel, kEvents, kEnd };

  // Of the top level.
  void scan_to_events();
  void scan_start();
  void begin_document();
  bool is_event_without_list();
  void scan_top_level();
  void scan_value(const std::string& key);
  bool begins_misnamed_events(const std::string& key);
  ShapeCheck value_ahead();
  bool may_end_at(std::size_t end);
  void pass_over_large_value(const std::string& key);
  // How much of the trace an event is looked for in before its list begins: never what tells that one is too large.
  [[nodiscard]] std::size_t longest_look() const { return std::min(kLongestEvent, limits_.event / 2); }
  [[nodiscard]] bool peek(char& c);
  [[nodiscard]] std::string_view ahead(std::size_t size);
  std::size_t solid_ahead(std::size_t from);
  bool skip_space(std::string_view also = {});
  bool refill();
  void truncated(std::string_view where);
  void begin_events();
  void require_something() const;
  [[noreturn]] void not_a_trace() const;  // says what it is instead

  // Event cutting.
  bool next_chunk(Chunk& chunk);
  bool cut(Chunk& chunk, std::size_t used, std::size_t done);
  // What to do with an element that has no end yet. It is looked at again beyond `unchecked` bytes, which is moved on.
  enum class Growth { kFine, kBroken, kOversized };
  Growth judge(std::string_view element, std::uint64_t offset, std::size_t& unchecked);
  bool is_broken(std::string_view element, std::uint64_t offset);
  bool finish_chunk(Chunk& chunk, std::size_t used, std::size_t comma);
  void keep(const Chunk& chunk, std::size_t from, std::size_t used);
  std::size_t read_more(Chunk& chunk, std::size_t used);
  bool finish_array(Chunk& chunk, std::size_t used, std::size_t end, std::size_t last_comma);
  bool finish_truncated(Chunk& chunk, std::size_t used);
  bool emit(Chunk& chunk, std::size_t elements_end);
  static void seal(Chunk& chunk, std::size_t elements_end);
  void pass_over_oversized(Chunk& chunk, std::size_t used);

  // Behind damage.
  enum class Astray : std::uint8_t { kNo, kBeforeDocument, kInHeader, kInCutHeader, kBehindDocument };
  bool resync(Chunk& chunk, std::size_t used);
  [[nodiscard]] EventSearch search(std::string_view text, std::size_t from, Astray astray) const;
  [[nodiscard]] std::size_t least_piece(Astray astray) const;
  bool finish_damaged(Chunk& chunk, std::size_t used, bool dropped);
  bool emit_damaged(Chunk& chunk, std::size_t end);
  bool pass_stray_bracket();
  void look_for_events(Astray where, std::string_view value = {});
  bool begin_astray_events(const Chunk& chunk, std::size_t used, const EventSearch& found, Astray astray, bool dropped);
  bool finish_astray(std::string_view rest, Astray astray, bool dropped);
  std::size_t take_header(std::string_view text, std::uint64_t offset);
  void keep_member(std::string key, std::string_view text, std::uint64_t offset);

  [[nodiscard]] std::uint64_t position() const { return base_ + at_; }

  ByteSource& source_;
  std::string path_, otherwise_;
  JsonLimits limits_;
  // What was read but is not used yet is moved each time damage or the end of an array cuts a chunk short, so that
  // little is read at once where that may happen again.
  static constexpr std::size_t kShortRead = std::size_t{16} << 10U;
  std::size_t chunk_size_;
  std::size_t read_size_;  // at most chunk_size_
  Where where_ = Where::kStart;
  bool in_object_ = false;       // the top level is an object, not a bare array
  bool comma_pending_ = false;   // the chunk before ended at a comma: an element must follow
  bool broken_ = false;          // the element at at_ is broken
  Astray astray_ = Astray::kNo;  // and belongs to no event
  std::int64_t lost_at_ = 0;     // where that begins
  std::string lost_value_;       // the member it is the value of, or another place, for the message
  std::string lost_text_;        // how it begins
  bool source_ended_ = false;
  bool complete_ = true;
  bool saw_events_ = false;
  bool names_trace_ = false;   // there was a top-level member as traces have
  std::uint64_t members_ = 0;  // of the top level, but for arrays of events
  unsigned documents_ = 0;
  bool garbage_ = false;      // stands before the first one
  std::vector<char> window_;  // bytes read but not consumed: from at_ on
  std::size_t at_ = 0;
  std::uint64_t base_ = 0;  // position of window_[0] in the decompressed trace
  ScanState scan_;
  std::size_t scanned_ = 0;  // bytes of the window behind at_ the scan has seen already
  std::uint64_t oversized_ = 0;
  // Of the last element that did not end: how far it was walked over, and the values open there (check_shape), behind
  // `open_from_`.
  std::uint64_t open_from_ = 0, open_until_ = 0;
  std::vector<std::size_t> open_;
  unsigned unended_ = 0;          // elements that do not end, and have events in them
  std::size_t header_bytes_ = 0;  // of the members kept
  TraceHeader header_;
  IssueLog issues_;
};

}  // namespace tracedb
