#include "ingest/formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <system_error>

#include "base/error.h"
#include "base/failure.h"
#include "base/files/file_descriptor.h"
#include "base/files/input_file.h"
#include "base/stream/compressed_source.h"
#include "base/text/characters.h"
#include "ingest/ascend/readers.h"
#include "ingest/nsys/database.h"
#include "ingest/read/json_chunks.h"
#include "ingest/read/json_shape.h"
#include "ingest/rocm/readers.h"
#include "ingest/rows/source_rows.h"
#include "ingest/xla/readers.h"
#include "sql/source_database.h"
#include "trace/tile_events.h"

namespace tracedb {
namespace {

using std::string_view_literals::operator""sv;  // NOLINT(misc-unused-using-decls): used by the literals below

// How formats begin, by the magic numbers of their specifications and, of text formats, by the first keys and columns
// that their writers put out. `head`: after decompression of gzip and zstd.

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

bool begins_as_sqlite(std::string_view head) { return head.starts_with("SQLite format 3\0"sv); }
// SQLite that names tables of rocmProfileData.
bool begins_as_rpd(std::string_view head) { return begins_as_sqlite(head) && contains(head, "rocpd_"); }
// SQLite that names tables of an Nsight Systems export.
bool begins_as_nsys_sqlite(std::string_view head) {
  return begins_as_sqlite(head) && (contains(head, "CUPTI_ACTIVITY_KIND_") || contains(head, "TARGET_INFO_SYSTEM_ENV"));
}
// SQLite that names tables of Ascend's profiler.
bool begins_as_ascend_database(std::string_view head) {
  return begins_as_sqlite(head) && (contains(head, "CANN_API") || contains(head, "RANK_DEVICE_MAP"));
}

bool begins_as_rocprof_json(std::string_view head) {
  if (after(head, "{").starts_with("\"rocprofiler-sdk-tool\"")) return true;
  // The head may be damaged: its agents and symbols follow.
  return !contains(head, "\"traceEvents\"") &&
         (contains(head, "\"logical_node_type_id\"") || contains(head, "\"formatted_kernel_name\""));
}
// Events of tiles of AI Engines, in new or old spelling, or a process that is the trace of one: "core_trace for
// tile2,1". Either may stand further down.
bool begins_as_aie_trace(std::string_view head) {
  const auto any = [&](const auto& signs) {
    return std::ranges::any_of(signs, [&](std::string_view sign) { return contains(head, sign); });
  };
  constexpr std::array kNumbered = {"\"INSTR_EVENT_"sv, "\"PORT_RUNNING_"sv, "\"PortRunning"sv};
  if (any(kNumbered) || names_tile_event(head)) return true;
  if (!contains(head, "\"process_name\"")) return false;
  // As mlir-aie's parse.py names the four kinds of tiles, its core also without a place.
  constexpr std::array kProcesses = {"core_trace"sv, "mem_trace for "sv, "memtile_trace for "sv, "shim_trace for "sv,
                                     "intfc_trace for "sv};
  return any(kProcesses);
}
// What lists the graphs that were captured: an array of {"file": "...", "batch_size": 32, "mode": "FULL"}.
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
// By gzip or zstd: what decompressed to this was compressed twice.
bool begins_as_compressed(std::string_view head) { return is_gzip(head) || is_zstd(head); }

// A protobuf message that begins with a plane, as JAX and TensorFlow write it. The message in field 1: {1: id, 2: name
// of a plane}.
bool begins_as_xspace(std::string_view head) {
  const std::string_view begin = head.substr(0, 48);
  return begin.starts_with('\x0a') &&
         (contains(begin, "/host:") || contains(begin, "/device:") || contains(begin, "Task Environment"));
}
// One that begins with a type and its unit: {1: type, 2: unit}.
bool begins_as_pprof(std::string_view head) {
  const std::string_view begin = head.substr(0, 24);
  const bool numbers = begin.size() > 8 && begin[1] >= 4 && begin[1] <= 6 && begin[2] == '\x08';
  return begin.starts_with('\x0a') && numbers && contains(begin.substr(4, 3), "\x10");
}
// A protobuf message that holds messages, as the traces of Perfetto: field 1 with a length.
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

// A line of column names, the first ones in the order profilers write them.
bool begins_as_kernel_table(std::string_view head) {
  const std::string_view line = without_space(head);
  const std::string_view first = line.substr(0, line.find_first_of("\r\n"));
  return !first.starts_with('{') && !first.starts_with('[') && std::ranges::count(first, ',') >= 3 &&
         (contains(first, "Duration") || contains(first, "duration") || contains(first, "Kernel"));
}

// `position`: how far reading got, where the source is not what is read.
RowSink row_sink(const TraceInput& input, const IngestOptions& options, TraceStore& store,
                 const std::uint64_t* position = nullptr) {
  return {store, options.events.python_calls, [&, position](std::uint64_t rows) {
            check_cancelled(options);
            const std::uint64_t done = position == nullptr ? input.source.consumed() : *position;
            input.observer.progress({done, input.file_size, rows, false});
          }};
}

// Of a format that is read front to back.
template <void (*read)(ByteSource&, RowSink&, TraceFacts&)>
void read_rows(const TraceInput& input, const IngestOptions& options, TraceStore& store, TraceFacts& facts) {
  RowSink sink = row_sink(input, options, store);
  read(input.source, sink, facts);
  sink.finish();
}

void read_rocprof(const TraceInput& input, const IngestOptions& options, TraceStore& store, TraceFacts& facts) {
  RowSink sink = row_sink(input, options, store);
  if (!read_rocprof_json(input.source, sink, facts)) {
    throw Error(ErrorCode::kInput,
                fmt::format("{}: JSON of rocprofv3 {}", printable_path(input.file),
                            facts.complete ? "without \"buffer_records\"; record with --kernel-trace or --sys-trace"
                                           : "that is cut off before its kernels"));
  }
  sink.finish();
}

// Of a format that is a database: read in any order, from the file itself.
template <void (*read)(SourceTables&, RowSink&, TraceFacts&)>
void read_database(const TraceInput& input, const IngestOptions& options, TraceStore& store, TraceFacts& facts) {
  facts.bytes = input.file_size;
  RowSink sink = row_sink(input, options, store);
  SourceDatabase database(input.file, options.cancel);
  SourceTables tables(database, sink, facts);
  read(tables, sink, facts);
  tables.add_header("tables_not_read", tables.not_read());
  sink.finish();
}

// The bytes of `source` in a file without a name.
TempFile spooled(ByteSource& source, const std::filesystem::path& directory) {
  TempFile file(directory);
  std::string piece(std::size_t{1} << 20U, '\0');
  while (const std::size_t got = source.read(piece.data(), piece.size())) {
    file.append(std::as_bytes(std::span(piece.data(), got)));
  }
  return file;
}

// A protobuf is read in any order: from the file itself, or from a copy where it is compressed or comes from a pipe.
void read_xplane(const TraceInput& input, const IngestOptions& options, TraceStore& store, TraceFacts& facts) {
  std::uint64_t position = 0;
  RowSink sink = row_sink(input, options, store, &position);
  const auto read_all = [&](const ProtoFile::Read& read, std::uint64_t size) {
    facts.bytes = size;
    ProtoFile file(read, size);
    read_xspace(file, printable_path(input.file), sink, facts);
  };
  std::error_code error;
  std::string magic(4, '\0');
  const bool regular = input.file != "-" && std::filesystem::is_regular_file(input.file, error);
  std::optional<InputFile> own;
  if (regular) magic.resize(own.emplace(input.file, options.cancel).read_at(0, magic.data(), magic.size()));
  if (regular && !is_gzip(magic) && !is_zstd(magic)) {
    const auto read = [&](std::uint64_t at, char* into, std::size_t size) {
      position = at + size;
      return own->read_at(at, into, size);
    };
    read_all(read, own->size());
  } else {
    const TempFile copy = spooled(input.source, sink.spool_directory());
    const auto read = [&](std::uint64_t at, char* into, std::size_t size) {
      const auto there =
          static_cast<std::size_t>(std::min<std::uint64_t>(size, copy.size() - std::min(at, copy.size())));
      copy.read(at, std::as_writable_bytes(std::span(into, there)));
      return there;
    };
    read_all(read, copy.size());
  }
  sink.finish();
}

constexpr std::array kXplane = {".xplane.pb"sv, ".xplane.pb.gz"sv};
constexpr std::array kRiegeli = {".xplane.riegeli"sv};
constexpr std::array kNsys = {".nsys-rep"sv, ".qdrep"sv};
constexpr std::array kNcu = {".ncu-rep"sv};
constexpr std::array kCsv = {".csv"sv};

constexpr std::string_view kDecompress = "decompress it first; traces may be plain, gzip or zstd";
constexpr std::string_view kDatabase =
    "compressed, cut off, from a pipe or without its main tables it cannot be read; give the database as the profiler "
    "wrote it";
constexpr std::string_view kUnpack = "unpack it, and give the trace that is in it";

using Sign = bool (*)(std::string_view head);
// A recording, or an archive that may hold one.
constexpr TraceFormat recording(std::string_view name, Sign sign, std::string_view advice) {
  return {.name = name, .by_bytes = sign, .advice = advice};
}
// A recording, if it is no damaged JSON trace, which may begin like it.
constexpr TraceFormat doubtful(std::string_view name, Sign sign, std::string_view advice) {
  return {.name = name, .by_bytes = sign, .advice = advice, .certain = false};
}
// Told by the end of its name.
constexpr TraceFormat named(std::string_view name, std::span<const std::string_view> extensions,
                            std::string_view advice) {
  return {.name = name, .advice = advice, .extensions = extensions};
}

constexpr std::array kFormats = {
    TraceFormat{.name = "ascend-db", .by_tables = is_ascend_database, .read = read_database<read_ascend_database>},
    TraceFormat{.name = "nsys-sqlite", .by_tables = is_nsys_database, .read = read_database<read_nsys_database>},
    TraceFormat{.name = "rpd", .by_tables = is_rpd_database, .read = read_database<read_rpd_database>},
    TraceFormat{.name = "rocpd", .by_tables = is_rocpd_database, .read = read_database<read_rocpd_database>},
    recording("an RPD database of rocmProfileData or rocprofv3", begins_as_rpd, kDatabase),
    recording("an Nsight Systems SQLite export", begins_as_nsys_sqlite, kDatabase),
    recording("a database of Ascend's profiler", begins_as_ascend_database, kDatabase),
    recording("an SQLite database that is not a tracedb index", begins_as_sqlite,
              "give the trace itself, whole, or the index that trace-ingest made of it"),
    TraceFormat{.name = "xplane", .by_bytes = begins_as_xspace, .read = read_xplane, .extensions = kXplane},
    named("a JAX profile beyond 2 GiB (XSpace in Riegeli records)", kRiegeli,
          "profile fewer steps, so that JAX writes an xplane.pb, or turn its Python tracer off"),
    named("an Nsight Systems report", kNsys,
          "'nsys export --type sqlite' makes a database of it, which can be read here"),
    named("an Nsight Compute report", kNcu, "'ncu --import' reads it"),
    TraceFormat{.name = "rocprofv3-json", .by_bytes = begins_as_rocprof_json, .read = read_rocprof},
    recording("a list of captured graphs (execution_details.json)", begins_as_capture_list,
              "give the trace it lies beside, and with --capture the trace that it names"),
    recording("a zip archive", begins_as_zip, kUnpack),
    recording("a 7-Zip archive", begins_as_7zip, kUnpack),
    recording("a tar archive", begins_as_tar, kUnpack),
    recording("compressed by xz", begins_as_xz, kDecompress),
    recording("compressed by bzip2", begins_as_bzip2, kDecompress),
    recording("compressed by lz4", begins_as_lz4, kDecompress),
    recording("compressed twice", begins_as_compressed, "decompress it once"),
    doubtful("a Python pickle", begins_as_pickle,
             "docs.pytorch.org/memory_viz reads memory snapshots; give the profiler's trace here"),
    doubtful("a pprof profile, as JAX writes for the memory of its devices", begins_as_pprof,
             "'go tool pprof' reads it; jax.profiler.trace records an xplane.pb, which can be read here"),
    doubtful("a Perfetto trace (protobuf)", begins_as_perfetto,
             "ui.perfetto.dev and trace_processor read it; traceconv json makes a JSON trace of it"),
    TraceFormat{.name = "a git-lfs pointer, not the file itself",
                .by_bytes = begins_as_git_lfs,
                .advice = "run 'git lfs pull'",
                .irreplaceable = false},
    TraceFormat{.name = "an HTML or XML page, not a trace",
                .by_bytes = begins_as_markup,
                .advice = "download the file itself",
                .irreplaceable = false,
                .certain = false},
    TraceFormat{.name = "ascend-kernel-csv",
                .by_bytes = begins_as_ascend_kernel_csv,
                .read = read_rows<read_ascend_kernel_csv>},
    TraceFormat{.name = "a CSV table",
                .by_bytes = begins_as_kernel_table,
                .advice = "kernel tables of Ascend's profilers have columns Type, Start Time(us) and Duration(us); "
                          "give one of these, or the trace it was made from",
                .irreplaceable = false,
                .certain = false,
                .extensions = kCsv},
    TraceFormat{.name = "xla-json", .by_bytes = begins_as_xla_json, .read = read_rows<read_xla_json>},
    TraceFormat{.name = "aie", .by_bytes = begins_as_aie_trace, .read = read_aie},
    // Distinguished from the last line by the names of processes, which may be anywhere in it; the second one by any
    // sign of another program (ingest.h).
    TraceFormat{.name = "ascend-trace-view", .read = read_kineto},
    TraceFormat{.name = "chrome-json", .read = read_kineto},
    TraceFormat{.name = "kineto", .read = read_kineto},
};

bool has_extension(const TraceFormat& format, std::string_view name) {
  return std::ranges::any_of(format.extensions, [&](std::string_view extension) { return name.ends_with(extension); });
}

constexpr std::size_t kFirstLookAtFile = 4096;

// JSON says what it is in its first keys, but for that of XLA, whose processes may be named later; of everything else
// more may be needed.
std::string_view telling_head(PeekableSource& source) {
  const std::string_view head = source.peek(kFirstLookAtFile);
  const std::size_t first = head.find_first_not_of("\xEF\xBB\xBF \t\r\n");
  const bool json = first != std::string_view::npos && (head[first] == '{' || head[first] == '[');
  if (json && head.find("\"cat\"") != std::string_view::npos) return head;
  const std::string_view longer = source.peek(kFormatHead);
  return !json || begins_as_xla_json(longer) ? longer : longer.substr(0, kFirstLookAtFile);
}

std::string refusal(const TraceFormat& format) { return fmt::format("{}: {}", format.name, format.advice); }

[[noreturn]] void refuse(const std::filesystem::path& file, const TraceFormat& format) {
  throw Error(ErrorCode::kInput, fmt::format("{}: {}", printable_path(file), refusal(format)));
}

}  // namespace

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

std::span<const TraceFormat> trace_formats() { return kFormats; }

const TraceFormat& trace_format(std::string_view head, const std::filesystem::path& file) {
  // None where it cannot be opened as a database; a compressed one cannot.
  const std::vector<std::string> tables = begins_as_sqlite(head) ? table_names(file) : std::vector<std::string>();
  const auto found = std::ranges::find_if(kFormats, [&](const TraceFormat& format) {
    return has_extension(format, file.native()) || (format.by_tables != nullptr && format.by_tables(tables)) ||
           (format.by_bytes != nullptr && format.by_bytes(head));
  });
  return found == kFormats.end() ? kFormats.back() : *found;
}

bool is_readable_trace(const std::filesystem::path& file) {
  bool readable = false;
  static_cast<void>(catch_error([&] {
    const std::string head = read_head(file);
    const TraceFormat& format = trace_format(head, file);
    readable = format.read != nullptr && (&format != &kFormats.back() || begins_as_trace(head));
  }));
  return readable;
}

OpenedFormat open_format(const std::filesystem::path& file, const std::atomic<bool>* cancel) {
  std::unique_ptr<PeekableSource> source = open_byte_source(file, cancel);
  const TraceFormat& format = trace_format(telling_head(*source), file);
  if (format.read != nullptr) return {format, std::move(source), {}};
  if (format.certain) refuse(file, format);
  return {kFormats.back(), std::move(source), refusal(format)};
}

void refuse_unreadable(const std::filesystem::path& file) {
  const TraceFormat* refused = nullptr;
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return;
  static_cast<void>(catch_error([&] {
    const std::string head = read_head(file);
    const TraceFormat& format = trace_format(head, file);
    if (format.read == nullptr && (format.certain || !begins_as_trace(head))) refused = &format;
  }));
  if (refused != nullptr) refuse(file, *refused);
}

std::string read_head(const std::filesystem::path& file) {
  return std::string(open_byte_source(file)->peek(kFormatHead));
}

}  // namespace tracedb
