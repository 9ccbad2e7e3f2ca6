#include "ingest/read/format_signs.h"

#include <algorithm>
#include <array>
#include <memory>

#include "base/failure.h"
#include "base/stream/byte_source.h"
#include "base/stream/compressed_source.h"
#include "base/text/characters.h"
#include "ingest/read/json_chunks.h"
#include "ingest/read/json_shape.h"

namespace tracedb {
namespace {

using std::string_view_literals::operator""sv;  // NOLINT(misc-unused-using-decls): used by the literals below

std::string_view without_space(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

// The text behind `opening`, white space between its characters aside: after("[ {\"file\"", "[{") is "\"file\"".
std::string_view after(std::string_view head, std::string_view opening) {
  for (const char c : opening) {
    head = without_space(head);
    if (!head.starts_with(c)) return {};
    head.remove_prefix(1);
  }
  return without_space(head);
}

// Two whole events with a comma between them: one alone is also the sample of an issue, in a report.
bool holds_two_events(std::string_view text) {
  const EventSearch first = find_event(text, 0, More::kNo);
  if (!first.found() || behind_event(text, first.end) != Behind::kSeparator) return false;
  const EventSearch second = find_event(text, first.end, More::kNo);
  return second.found() &&
         text.substr(first.end, second.at - first.end).find_first_not_of(", \t\r\n") == std::string::npos;
}

}  // namespace

bool begins_as_sqlite(std::string_view head) { return head.starts_with("SQLite format 3\0"sv); }
bool begins_as_rpd(std::string_view head) { return begins_as_sqlite(head) && contains(head, "rocpd_"); }
bool begins_as_nsys_sqlite(std::string_view head) {
  return begins_as_sqlite(head) && (contains(head, "CUPTI_ACTIVITY_KIND_") || contains(head, "TARGET_INFO_SYSTEM_ENV"));
}
bool begins_as_ascend_database(std::string_view head) {
  return begins_as_sqlite(head) && (contains(head, "CANN_API") || contains(head, "RANK_DEVICE_MAP"));
}

bool begins_as_rocprof_json(std::string_view head) {
  if (after(head, "{").starts_with("\"rocprofiler-sdk-tool\"")) return true;
  // The head may be damaged: its agents and symbols follow.
  return !contains(head, "\"traceEvents\"") &&
         (contains(head, "\"logical_node_type_id\"") || contains(head, "\"formatted_kernel_name\""));
}
bool begins_as_aie_trace(std::string_view head) {
  if (without_space(head).starts_with('{') || !contains(head, "\"process_name\"")) return false;  // or damaged
  // As mlir-aie's parse.py names the four kinds of tiles, its core also without a place.
  constexpr std::array kProcesses = {"core_trace"sv, "mem_trace for "sv, "memtile_trace for "sv, "shim_trace for "sv,
                                     "intfc_trace for "sv};
  return std::ranges::any_of(kProcesses, [&](std::string_view process) { return contains(head, process); });
}
bool begins_as_capture_list(std::string_view head) {
  const std::string_view first = after(head, "[{");
  return first.starts_with("\"file\"") && contains(first.substr(0, first.find('}')), "\"batch_size\"");
}

bool begins_as_zip(std::string_view head) { return head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06"); }
bool begins_as_xz(std::string_view head) {
  return head.starts_with(
      "\xFD"
      "7zXZ\0"sv);
}
bool begins_as_bzip2(std::string_view head) {
  return head.starts_with("BZh") && contains(head.substr(0, 10), "1AY&SY");
}
bool begins_as_lz4(std::string_view head) { return head.starts_with("\x04\x22\x4D\x18"); }
bool begins_as_7zip(std::string_view head) { return head.starts_with("7z\xBC\xAF\x27\x1C"); }
bool begins_as_tar(std::string_view head) {
  constexpr std::size_t kMagicAt = 257;
  return head.size() > kMagicAt + 5 && head.substr(kMagicAt, 5) == "ustar";
}
bool begins_as_compressed(std::string_view head) { return is_gzip(head) || is_zstd(head); }

// The message in field 1: {1: id, 2: name of a plane}.
bool begins_as_xspace(std::string_view head) {
  const std::string_view begin = head.substr(0, 48);
  return begin.starts_with('\x0a') &&
         (contains(begin, "/host:") || contains(begin, "/device:") || contains(begin, "Task Environment"));
}
// The same: {1: type, 2: unit}.
bool begins_as_pprof(std::string_view head) {
  const std::string_view begin = head.substr(0, 24);
  const bool numbers = begin.size() > 8 && begin[1] >= 4 && begin[1] <= 6 && begin[2] == '\x08';
  return begin.starts_with('\x0a') && numbers && contains(begin.substr(4, 3), "\x10");
}
// Field 1 with a length.
bool begins_as_perfetto(std::string_view head) {
  if (!head.starts_with('\x0a')) return false;
  const std::string_view begin = head.substr(0, 64);
  return std::ranges::any_of(begin, [](char c) { return c != '\n' && c != '\r' && c != '\t' && c >= 0 && c < ' '; });
}
bool begins_as_pickle(std::string_view head) {
  return head.size() > 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5;
}

bool begins_as_git_lfs(std::string_view head) { return without_space(head).starts_with("version https://git-lfs"); }
bool begins_as_markup(std::string_view head) { return without_space(head).starts_with('<'); }

bool begins_as_kernel_table(std::string_view head) {
  const std::string_view line = without_space(head);
  const std::string_view first = line.substr(0, line.find_first_of("\r\n"));
  return !first.starts_with('{') && !first.starts_with('[') && std::ranges::count(first, ',') >= 3 &&
         (contains(first, "Duration") || contains(first, "duration") || contains(first, "Kernel"));
}

bool begins_as_trace(std::string_view head) {
  const std::unique_ptr<ByteSource> source = memory_byte_source(head);
  JsonChunks chunks(*source, "", head.size());
  Chunk chunk;
  bool found = false;
  static_cast<void>(catch_error([&] {
    if (!chunks.next(chunk)) return;
    const std::string_view begin = without_space(head);
    if (begin.starts_with('[')) found = find_event(chunk.elements(), 0, More::kNo).found();
    if (!begin.starts_with('[') && !begin.starts_with('{')) found = holds_two_events(head);
  }));
  return found || chunks.names_trace();
}

}  // namespace tracedb
