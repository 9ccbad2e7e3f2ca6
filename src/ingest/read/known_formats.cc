#include "ingest/read/known_formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <system_error>

#include "base/byte_source.h"
#include "base/error.h"
#include "base/failure.h"
#include "base/input_file.h"
#include "base/stream_decoder.h"
#include "index/index.h"
#include "index/leftovers.h"
#include "ingest/read/json_chunks.h"
#include "ingest/read/json_shape.h"

namespace tracedb {
namespace {

using std::string_view_literals::operator""sv;  // NOLINT(misc-unused-using-decls): used by the literals below

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

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

bool is_sqlite(std::string_view head) { return head.starts_with("SQLite format 3\0"sv); }
bool is_rpd(std::string_view head) { return is_sqlite(head) && contains(head, "rocpd_"); }
bool is_nsys_sqlite(std::string_view head) {
  return is_sqlite(head) && (contains(head, "CUPTI_ACTIVITY_KIND_") || contains(head, "TARGET_INFO_SYSTEM_ENV"));
}
bool is_ascend_database(std::string_view head) {
  return is_sqlite(head) && (contains(head, "CANN_API") || contains(head, "RANK_DEVICE_MAP"));
}

bool is_rocprof_json(std::string_view head) { return after(head, "{").starts_with("\"rocprofiler-sdk-tool\""); }
// What lists the graphs that were captured: an array of {"file": "...", "batch_size": 32, "mode": "FULL"}.
bool is_capture_list(std::string_view head) {
  const std::string_view first = after(head, "[{");
  return first.starts_with("\"file\"") && contains(first.substr(0, first.find('}')), "\"batch_size\"");
}

bool is_zip(std::string_view head) { return head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06"); }
bool is_xz(std::string_view head) {
  return head.starts_with(
      "\xFD"
      "7zXZ\0"sv);
}
bool is_bzip2(std::string_view head) { return head.starts_with("BZh") && contains(head.substr(0, 10), "1AY&SY"); }
bool is_lz4(std::string_view head) { return head.starts_with("\x04\x22\x4D\x18"); }
bool is_7zip(std::string_view head) { return head.starts_with("7z\xBC\xAF\x27\x1C"); }
bool is_tar(std::string_view head) {
  constexpr std::size_t kMagicAt = 257;
  return head.size() > kMagicAt + 5 && head.substr(kMagicAt, 5) == "ustar";
}
bool is_compressed_again(std::string_view head) { return is_gzip(head) || is_zstd(head); }

// A message that holds messages: field 1 with a length, as the traces of Perfetto begin.
bool is_perfetto(std::string_view head) {
  if (!head.starts_with('\x0a')) return false;
  const std::string_view begin = head.substr(0, 64);
  return std::any_of(begin.begin(), begin.end(),
                     [](char c) { return c != '\n' && c != '\r' && c != '\t' && c >= 0 && c < ' '; });
}
bool is_pickle(std::string_view head) { return head.size() > 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5; }

bool is_git_lfs(std::string_view head) { return without_space(head).starts_with("version https://git-lfs"); }
bool is_markup(std::string_view head) { return without_space(head).starts_with('<'); }

// A line of column names, the first ones in the order profilers write them.
bool is_kernel_table(std::string_view head) {
  const std::string_view line = without_space(head);
  const std::string_view first = line.substr(0, line.find_first_of("\r\n"));
  return !first.starts_with('{') && !first.starts_with('[') && std::count(first.begin(), first.end(), ',') >= 3 &&
         (contains(first, "Duration") || contains(first, "duration") || contains(first, "Kernel"));
}

bool never(std::string_view) { return false; }

constexpr std::array kXplane = {".xplane.pb"sv};
constexpr std::array kNsys = {".nsys-rep"sv, ".qdrep"sv};
constexpr std::array kNcu = {".ncu-rep"sv};
constexpr std::span<const std::string_view> kByContent;

constexpr std::string_view kDecompress = "decompress it first; traces may be plain, gzip or zstd";
constexpr std::string_view kUnpack = "unpack it, and give the trace that is in it";

constexpr std::array kFormats = {
    KnownFormat{"an RPD database of rocmProfileData", is_rpd, kByContent,
                "sqlite3 and rocmProfileData's own tools read it; record with the PyTorch profiler for reports here",
                true},
    KnownFormat{"an Nsight Systems SQLite export", is_nsys_sqlite, kByContent,
                "'nsys stats' reads it; record with the PyTorch profiler for reports here", true},
    KnownFormat{"a database of Ascend's profiler", is_ascend_database, kByContent,
                "MindStudio Insight reads it; trace_view.json of the same run can be read here", true},
    KnownFormat{"an SQLite database that is no index of ours", is_sqlite, kByContent,
                "give the trace itself, or the index that trace-ingest made of it", true},
    KnownFormat{"a TensorFlow or JAX profile (XSpace protobuf)", never, kXplane,
                "TensorBoard's profile plugin reads it; the trace.json.gz beside it can be read here", true},
    KnownFormat{"an Nsight Systems report", never, kNsys,
                "'nsys stats' reads it; record with the PyTorch profiler for reports here", true},
    KnownFormat{"an Nsight Compute report", never, kNcu, "'ncu --import' reads it", true},
    KnownFormat{"JSON of rocprofv3", is_rocprof_json, kByContent,
                "ui.perfetto.dev reads rocprofv3's --output-format pftrace; record with the PyTorch profiler for "
                "reports here",
                true},
    KnownFormat{"a list of captured graphs (execution_details.json)", is_capture_list, kByContent,
                "give the trace it lies beside, and with --capture the trace that it names", true},
    KnownFormat{"a zip archive", is_zip, kByContent, kUnpack, true},
    KnownFormat{"a 7-Zip archive", is_7zip, kByContent, kUnpack, true},
    KnownFormat{"a tar archive", is_tar, kByContent, kUnpack, true},
    KnownFormat{"compressed by xz", is_xz, kByContent, kDecompress, true},
    KnownFormat{"compressed by bzip2", is_bzip2, kByContent, kDecompress, true},
    KnownFormat{"compressed by lz4", is_lz4, kByContent, kDecompress, true},
    KnownFormat{"compressed twice", is_compressed_again, kByContent, "decompress it once", true},
    KnownFormat{"a Python pickle", is_pickle, kByContent,
                "docs.pytorch.org/memory_viz reads memory snapshots; give the profiler's trace here", true, false},
    KnownFormat{"a Perfetto trace (protobuf)", is_perfetto, kByContent,
                "ui.perfetto.dev and trace_processor read it; traceconv json makes a JSON trace of it", true, false},
    KnownFormat{"a git-lfs pointer, not the file itself", is_git_lfs, kByContent, "run 'git lfs pull'", false},
    KnownFormat{"an HTML or XML page, not a trace", is_markup, kByContent, "download the file itself", false, false},
    KnownFormat{"a CSV table", is_kernel_table, kByContent, "give the trace it was made from", false, false},
};

bool has_extension(const KnownFormat& format, std::string_view name) {
  return std::any_of(format.extensions.begin(), format.extensions.end(),
                     [&](std::string_view extension) { return name.ends_with(extension); });
}

// Up to kFormatHead bytes of what the file holds.
std::string read_head(const std::filesystem::path& file) {
  const std::unique_ptr<ByteSource> source = open_byte_source(file);
  std::string head(kFormatHead, '\0');
  std::size_t done = 0;
  for (std::size_t got = 1; got > 0 && done < head.size(); done += got) {
    got = source->read(head.data() + done, head.size() - done);
  }
  head.resize(done);
  return head;
}

// Two whole events with a comma between them: one alone is also the sample of an issue, in a report.
bool holds_two_events(std::string_view text) {
  const EventSearch first = find_event(text, 0, More::kNo);
  if (!first.found() || behind_event(text, first.end) != Behind::kSeparator) return false;
  const EventSearch second = find_event(text, first.end, More::kNo);
  return second.found() &&
         text.substr(first.end, second.at - first.end).find_first_not_of(", \t\r\n") == std::string::npos;
}

// As the reader sees it: events under "traceEvents", in a bare array, or behind damage.
bool begins_as_trace(std::string_view head) {
  const std::unique_ptr<ByteSource> source = memory_byte_source(head);
  JsonChunks chunks(*source, "", kFormatHead);
  Chunk chunk;
  bool found = false;
  static_cast<void>(failure_of([&] {
    if (!chunks.next(chunk)) return;
    const std::string_view begin = without_space(head);
    if (begin.starts_with('[')) found = find_event(chunk.elements(), 0, More::kNo).found();
    if (!begin.starts_with('[') && !begin.starts_with('{')) found = holds_two_events(head);
  }));
  return found || chunks.names_trace();
}

}  // namespace

std::span<const KnownFormat> known_formats() { return kFormats; }

const KnownFormat* known_format(std::string_view head, const std::filesystem::path& name) {
  const std::string& file = name.native();
  const auto* const found = std::find_if(kFormats.begin(), kFormats.end(), [&](const KnownFormat& format) {
    return has_extension(format, file) || format.sniff(head);
  });
  return found == kFormats.end() ? nullptr : found;
}

void refuse_known_format(const std::filesystem::path& file) {
  const KnownFormat* format = nullptr;
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return;
  static_cast<void>(failure_of([&] {  // the reader tells of failures
    const std::string head = read_head(file);
    format = known_format(head, file);
    if (format != nullptr && !format->certain && begins_as_trace(head)) format = nullptr;
  }));
  if (format == nullptr) return;
  throw Error(ErrorCode::kInput, fmt::format("{}: {}", printable_path(file), refusal(*format)));
}

std::string refusal(const KnownFormat& format) { return fmt::format("{}: {}", format.name, format.advice); }

FileKind replaced_kind(const std::filesystem::path& output) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(output, error)) return FileKind::kMissing;
  const FileKind kind = file_kind(output);
  if (kind != FileKind::kMissing || !std::filesystem::exists(output, error)) return kind;
  throw Error(ErrorCode::kResource, fmt::format("{}: is there already and cannot be read, so it is not replaced; give "
                                                "the output another name",
                                                printable_path(output)));
}

std::string recording_in(const std::filesystem::path& file) {
  const FileKind kind = replaced_kind(file);
  if (kind == FileKind::kMissing) return {};
  if (is_ours(kind)) return "an index of traces";
  std::string found;
  const std::optional<Error> failure = failure_of([&] {
    const std::string head = read_head(file);
    const KnownFormat* format = known_format(head, file);
    if (format != nullptr && format->irreplaceable) found = format->name;
    if ((format == nullptr || !format->certain) && begins_as_trace(head)) found = "a trace";
  });
  if (failure && failure->code() == ErrorCode::kResource) throw Error(*failure);  // it may hold a trace all the same
  return found;
}

}  // namespace tracedb
