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
#include "ingest/ascend/database.h"
#include "ingest/ascend/kernel_csv.h"
#include "ingest/nsys/database.h"
#include "ingest/pipeline.h"
#include "ingest/read/format_signs.h"
#include "ingest/rocm/databases.h"
#include "ingest/rocm/rocprof_json.h"
#include "ingest/rows/source_rows.h"
#include "ingest/xla/xla_json.h"
#include "ingest/xla/xplane.h"
#include "sql/source_database.h"

namespace tracedb {

class FileHead {
 public:
  FileHead(std::string_view bytes, const std::filesystem::path& file) : bytes_(bytes), file_(file) {}

  [[nodiscard]] std::string_view bytes() const { return bytes_; }
  [[nodiscard]] std::string_view name() const { return file_.native(); }
  // Empty if the file cannot be opened as a database; a compressed one cannot.
  [[nodiscard]] const std::vector<std::string>& tables() const {
    if (!tables_) tables_ = begins_as_sqlite(bytes_) ? table_names(file_) : std::vector<std::string>();
    return *tables_;
  }

 private:
  std::string_view bytes_;
  const std::filesystem::path& file_;
  mutable std::optional<std::vector<std::string>> tables_;
};

namespace {

using std::string_view_literals::operator""sv;  // NOLINT(misc-unused-using-decls): used by the literals below

using Sniff = bool (*)(const FileHead& head);
bool never(const FileHead&) { return false; }
bool always(const FileHead&) { return true; }
template <bool (*sign)(std::string_view)>
bool by_bytes(const FileHead& head) {
  return sign(head.bytes());
}
template <bool (*sign)(const std::vector<std::string>&)>
bool by_tables(const FileHead& head) {
  return sign(head.tables());
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

// Of a format that is a table, read front to back.
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
    store.derived_rows = read_xspace(file, printable_path(input.file), sink, facts);
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
    const TempFile copy = spooled(input.source, store.spool(1).directory);
    const auto read = [&](std::uint64_t at, char* into, std::size_t size) {
      const auto there =
          static_cast<std::size_t>(std::min<std::uint64_t>(size, copy.size() - std::min(at, copy.size())));
      copy.read(at, std::as_writable_bytes(std::span(into, there)));
      return there;
    };
    read_all(read, copy.size());
  }
  store.operators_by_external_id = true;
  sink.finish();
}

void read_xla_trace(const TraceInput& input, const IngestOptions& options, TraceStore& store, TraceFacts& facts) {
  RowSink sink = row_sink(input, options, store);
  store.derived_rows = read_xla_json(input.source, store.spool(1).directory, sink, facts);
  store.operators_by_external_id = true;
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

// A recording, or an archive that may hold one.
constexpr TraceFormat recording(std::string_view name, Sniff sniff, std::string_view advice) {
  return {.name = name, .sniff = sniff, .advice = advice};
}
// Told by the end of its name.
constexpr TraceFormat named(std::string_view name, std::span<const std::string_view> extensions,
                            std::string_view advice) {
  return {.name = name, .sniff = never, .advice = advice, .extensions = extensions};
}

constexpr std::array kFormats = {
    TraceFormat{
        .name = "ascend-db", .sniff = by_tables<is_ascend_database>, .read = read_database<read_ascend_database>},
    TraceFormat{.name = "nsys-sqlite", .sniff = by_tables<is_nsys_database>, .read = read_database<read_nsys_database>},
    TraceFormat{.name = "rpd", .sniff = by_tables<is_rpd_database>, .read = read_database<read_rpd_database>},
    TraceFormat{.name = "rocpd", .sniff = by_tables<is_rocpd_database>, .read = read_database<read_rocpd_database>},
    recording("an RPD database of rocmProfileData or rocprofv3", by_bytes<begins_as_rpd>, kDatabase),
    recording("an Nsight Systems SQLite export", by_bytes<begins_as_nsys_sqlite>, kDatabase),
    recording("a database of Ascend's profiler", by_bytes<begins_as_ascend_database>, kDatabase),
    recording("an SQLite database that is not a tracedb index", by_bytes<begins_as_sqlite>,
              "give the trace itself, whole, or the index that trace-ingest made of it"),
    TraceFormat{.name = "xplane", .sniff = by_bytes<begins_as_xspace>, .read = read_xplane, .extensions = kXplane},
    named("a JAX profile beyond 2 GiB (XSpace in Riegeli records)", kRiegeli,
          "profile fewer steps, so that JAX writes an xplane.pb, or turn its Python tracer off"),
    named("an Nsight Systems report", kNsys,
          "'nsys export --type sqlite' makes a database of it, which can be read here"),
    named("an Nsight Compute report", kNcu, "'ncu --import' reads it"),
    TraceFormat{.name = "rocprofv3-json", .sniff = by_bytes<begins_as_rocprof_json>, .read = read_rocprof},
    recording("a list of captured graphs (execution_details.json)", by_bytes<begins_as_capture_list>,
              "give the trace it lies beside, and with --capture the trace that it names"),
    recording("a zip archive", by_bytes<begins_as_zip>, kUnpack),
    recording("a 7-Zip archive", by_bytes<begins_as_7zip>, kUnpack),
    recording("a tar archive", by_bytes<begins_as_tar>, kUnpack),
    recording("compressed by xz", by_bytes<begins_as_xz>, kDecompress),
    recording("compressed by bzip2", by_bytes<begins_as_bzip2>, kDecompress),
    recording("compressed by lz4", by_bytes<begins_as_lz4>, kDecompress),
    recording("compressed twice", by_bytes<begins_as_compressed>, "decompress it once"),
    TraceFormat{.name = "a Python pickle",
                .sniff = by_bytes<begins_as_pickle>,
                .advice = "docs.pytorch.org/memory_viz reads memory snapshots; give the profiler's trace here",
                .certain = false},
    TraceFormat{.name = "a pprof profile, as JAX writes for the memory of its devices",
                .sniff = by_bytes<begins_as_pprof>,
                .advice = "'go tool pprof' reads it; jax.profiler.trace records an xplane.pb, which can be read here",
                .certain = false},
    TraceFormat{.name = "a Perfetto trace (protobuf)",
                .sniff = by_bytes<begins_as_perfetto>,
                .advice = "ui.perfetto.dev and trace_processor read it; traceconv json makes a JSON trace of it",
                .certain = false},
    TraceFormat{.name = "a git-lfs pointer, not the file itself",
                .sniff = by_bytes<begins_as_git_lfs>,
                .advice = "run 'git lfs pull'",
                .irreplaceable = false},
    TraceFormat{.name = "an HTML or XML page, not a trace",
                .sniff = by_bytes<begins_as_markup>,
                .advice = "download the file itself",
                .irreplaceable = false,
                .certain = false},
    TraceFormat{.name = "ascend-kernel-csv",
                .sniff = by_bytes<begins_as_ascend_kernel_csv>,
                .read = read_rows<read_ascend_kernel_csv>},
    TraceFormat{.name = "a CSV table",
                .sniff = by_bytes<begins_as_kernel_table>,
                .advice = "kernel tables of Ascend's profilers have columns Type, Start Time(us) and Duration(us); "
                          "give one of these, or the trace it was made from",
                .irreplaceable = false,
                .certain = false,
                .extensions = kCsv},
    TraceFormat{.name = "xla-json", .sniff = by_bytes<begins_as_xla_json>, .read = read_xla_trace},
    TraceFormat{.name = "aie", .sniff = by_bytes<begins_as_aie_trace>, .read = read_aie},
    // Distinguished from the last line by the names of processes, which may be anywhere in it; the second one by any
    // sign of another program (ingest.h).
    TraceFormat{.name = "ascend-trace-view", .sniff = never, .read = read_kineto},
    TraceFormat{.name = "chrome-json", .sniff = never, .read = read_kineto},
    TraceFormat{.name = "kineto", .sniff = always, .read = read_kineto},
};

bool has_extension(const TraceFormat& format, std::string_view name) {
  return std::ranges::any_of(format.extensions, [&](std::string_view extension) { return name.ends_with(extension); });
}

constexpr std::size_t kFirstLookAtFile = 4096;

// JSON says what it is in its first keys; of everything else more may be needed.
std::string_view telling_head(PeekableSource& source) {
  const std::string_view head = source.peek(kFirstLookAtFile);
  const std::size_t first = head.find_first_not_of("\xEF\xBB\xBF \t\r\n");
  const bool json = first != std::string_view::npos && (head[first] == '{' || head[first] == '[');
  return json ? head : source.peek(kFormatHead);
}

std::string refusal(const TraceFormat& format) { return fmt::format("{}: {}", format.name, format.advice); }

[[noreturn]] void refuse(const std::filesystem::path& file, const TraceFormat& format) {
  throw Error(ErrorCode::kInput, fmt::format("{}: {}", printable_path(file), refusal(format)));
}

}  // namespace

std::span<const TraceFormat> trace_formats() { return kFormats; }

const TraceFormat& trace_format(std::string_view head, const std::filesystem::path& file) {
  const FileHead begin(head, file);
  return *std::ranges::find_if(
      kFormats, [&](const TraceFormat& format) { return has_extension(format, begin.name()) || format.sniff(begin); });
}

bool is_readable_trace(const std::filesystem::path& file) {
  bool readable = false;
  static_cast<void>(catch_error([&] { readable = trace_format(read_head(file), file).read != nullptr; }));
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
