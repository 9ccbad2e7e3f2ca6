#include "index/index.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "base/files/file_descriptor.h"
#include "base/files/input_file.h"
#include "base/text/decimal.h"
#include "index/leftovers.h"
#include "index/packed_tables.h"
#include "sql/file/byte_order.h"
#include "sql/file/column_scan.h"
#include "sql/safety.h"
#include "sql/user/functions.h"

namespace tracedb {
namespace {

// Of version 5 python_call and flow_unmatched were tables; version 6 kept no detail of operators, no split sizes and no
// counters of ranges.
constexpr std::int32_t kUpgradable[] = {5, 6};

std::string_view advice(FileKind kind) {
  constexpr std::string_view kAdvice[] = {
      "no regular file; copy its content into one",
      "not an index; make one with trace-ingest --force",
      "an SQLite database, but not a tracedb index; make one from the trace with trace-ingest --output",
      "an index of another version, or written by another program since; ingest the trace again with trace-ingest",
      "the index is truncated; ingest the trace again with trace-ingest --force",
  };
  return kAdvice[static_cast<std::size_t>(kind)];
}

// 0: none can be read.
std::int32_t schema_version(const std::filesystem::path& path) {
  std::array<std::byte, kFileHeader> header{};
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!file.is_open() || file.read_at(0, header).value_or(0) < header.size()) return 0;
  return static_cast<std::int32_t>(get_big32(&header[kUserVersionAt]));
}

std::string advice(FileKind kind, const std::filesystem::path& path) {
  const std::int32_t version = schema_version(path);
  if (kind != FileKind::kOtherVersion || version == kSchemaVersion) return std::string(advice(kind));
  return fmt::format(
      "an index of another version ({}, and this program has {}); {}ingest the trace again with trace-ingest", version,
      kSchemaVersion,
      is_upgradable(path)        ? "bring it to this one with trace-ingest --upgrade, or "
      : version > kSchemaVersion ? "use the newer program that made it, or "
                                 : "");
}

}  // namespace

FileKind file_kind(const FileDescriptor& file) {
  struct stat status {};
  std::array<std::byte, kFileHeader> header{};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return FileKind::kMissing;
  const std::optional<std::size_t> got = file.read_at(0, header);
  if (!got) return FileKind::kMissing;
  if (*got < kFileMagic.size() || std::memcmp(header.data(), kFileMagic.data(), kFileMagic.size()) != 0) {
    return FileKind::kNotSqlite;
  }
  const auto number_at = [&](std::size_t at) { return static_cast<std::int32_t>(get_big32(&header[at])); };
  if (number_at(kApplicationIdAt) != kApplicationId) return FileKind::kOtherSqlite;
  // Another format is write-ahead logging: to read it, SQLite would make files beside the index.
  const bool is_rollback_format = get_big16(&header[kFormatVersionsAt]) == 0x0101;
  if (number_at(kUserVersionAt) != kSchemaVersion || !is_rollback_format) return FileKind::kOtherVersion;
  const std::uint64_t expected = std::uint64_t{page_size_in(header)} * get_big32(&header[kPageCountAt]);
  return static_cast<std::uint64_t>(status.st_size) < expected ? FileKind::kTruncated : FileKind::kIndex;
}

bool is_upgradable(const std::filesystem::path& path) {
  return file_kind(path) == FileKind::kOtherVersion &&
         std::ranges::find(kUpgradable, schema_version(path)) != std::end(kUpgradable);
}

FileKind file_kind(const std::filesystem::path& path) {
  // Not blocking: the file may be a FIFO by now.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  return file.is_open() ? file_kind(file) : FileKind::kMissing;
}

Index Index::open(const std::filesystem::path& path) {
  const FileKind kind = file_kind(path);
  std::error_code error;
  if (kind == FileKind::kMissing && !std::filesystem::is_fifo(path, error)) {
    const InputFile file(path);  // throws, and says why
  }
  if (kind != FileKind::kIndex)
    throw Error(ErrorCode::kInput, fmt::format("{}: {}", path.string(), advice(kind, path)));
  if (journal_state(journal_path(path)) == JournalState::kHot) {
    throw Error(ErrorCode::kInput, fmt::format("{}: a change to it by another program is not finished, see {}; open it "
                                               "with that program, or ingest the trace again with trace-ingest --force",
                                               printable_path(path), printable_path(journal_path(path).filename())));
  }
  auto opened = std::make_unique<Database>(path, Database::Mode::kReadOnly);
  Database& database = *opened;
  harden(database);
  register_functions(database);
  if (!database.query_int64("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'meta'").value_or(0)) {
    throw Error(ErrorCode::kInput, fmt::format("{}: the index has no content; {}", path.string(),
                                               "ingest the trace again with trace-ingest --force"));
  }
  if (const std::string difference = schema_difference(database.handle()); !difference.empty()) {
    throw Error(ErrorCode::kInput, fmt::format("{}: made by another version of trace-ingest, or changed by another "
                                               "program ({}); ingest the trace again with trace-ingest --force",
                                               printable_path(path), difference));
  }
  // Those with texts of any length, which many questions read as a whole.
  std::uint64_t left = std::filesystem::file_size(path, error);
  for (const char* table : {"string", "kernel_name", "op_shape", "task_info"}) require_own_pages(database, table, left);
  add_packed_tables(database, [&database]() -> Database& { return database; });
  Index index(std::move(opened));
  if (!index.meta("complete")) {
    throw Error(ErrorCode::kInput, fmt::format("{}: the index was never finished; {}", path.string(),
                                               "ingest the trace again with trace-ingest --force"));
  }
  return index;
}

std::optional<std::string> Index::meta(std::string_view key) const {
  return database_->query_text("SELECT value FROM meta WHERE key = ?1", key);
}

std::optional<std::int64_t> Index::meta_int64(std::string_view key) const {
  const auto text = meta(key);
  return text ? parse_int64(*text) : std::nullopt;
}

std::string without_device(const Index& index) {
  constexpr const char* kSql =
      "SELECT sample FROM issue WHERE kind IN ('no_events', 'no_device_events', 'foreign_format') ORDER BY kind LIMIT "
      "1";
  return index.database().query_text(kSql).value_or("");
}

}  // namespace tracedb
