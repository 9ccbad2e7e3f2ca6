#include "ingest/index_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/error.h"
#include "base/input_file.h"
#include "sql/index_format.h"
#include "sql/scripts.h"

namespace tracedb {
namespace {

constexpr std::string_view kAnnotationKinds[] = {"user", "gpu"};
constexpr std::string_view kCallKinds[] = {"launch", "graph_launch", "copy", "sync", "other"};
constexpr std::string_view kKernelKinds[] = {"compute", "comm", "copy_kernel"};
constexpr std::string_view kMemoryKinds[] = {"memcpy", "memset"};
constexpr std::string_view kFlowPhases[] = {"s", "t", "f"};

struct TableLayout {
  std::string_view name;
  std::vector<BulkColumn> columns;
};

// In the order of EventTable; columns in the order the link passes send the cells.
std::vector<TableLayout> layouts() {
  return {
      {"annotation",
       {{"ts"}, {"dur"}, {"kind", kAnnotationKinds}, {"thread_id"}, {"stream_id"}, {"name_id"}, {"external_id"},
        {"parent_id"}}},
      {"cpu_op",
       {{"ts"}, {"dur"}, {"thread_id"}, {"name_id"}, {"external_id"}, {"parent_id"}, {"depth"}, {"sequence_number"},
        {"shape_id"}}},
      {"python_call", {{"ts"}, {"dur"}, {"thread_id"}, {"stack_id"}}},
      {"runtime_call",
       {{"ts"}, {"dur"}, {"thread_id"}, {"name_id"}, {"correlation"}, {"external_id"}, {"kind", kCallKinds},
        {"cpu_op_id"}, {"stack_id"}, {"annotation_id"}, {"step_id"}}},
      {"kernel",
       {{"ts"}, {"dur"}, {"name_id"}, {"stream_id"}, {"correlation"}, {"external_id"}, {"launch_id"}, {"cpu_op_id"},
        {"stack_id"}, {"annotation_id"}, {"step_id"}, {"graph_id"}, {"graph_node_id"}, {"launch_config_id"},
        {"kind", kKernelKinds}}},
      {"memory_op",
       {{"ts"}, {"dur"}, {"kind", kMemoryKinds}, {"direction", copy_directions()}, {"name_id"}, {"bytes"},
        {"stream_id"}, {"correlation"}, {"external_id"}, {"launch_id"}, {"cpu_op_id"}, {"stack_id"},
        {"annotation_id"}, {"step_id"}}},
      {"slice", {{"ts"}, {"dur"}, {"category_id"}, {"name_id"}, {"process_id"}, {"thread_id"}}},
      {"instant", {{"ts"}, {"category_id"}, {"name_id"}, {"process_id"}, {"thread_id"}, {"bytes"}}},
      {"flow_unmatched", {{"ts"}, {"category_id"}, {"ph", kFlowPhases}, {"flow_id"}, {"process_id"}, {"thread_id"}}},
  };
}

[[noreturn]] void fail(const std::filesystem::path& path, std::string_view doing, int error) {
  throw Error(ErrorCode::kResource, fmt::format("{}: cannot {}: {}", printable_path(path), doing, std::strerror(error)));
}

// Makes the name of a file last: its bytes first, then the directory entry.
void sync_path(const std::filesystem::path& path, int flags) {
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC);
  if (descriptor < 0) fail(path, "open", errno);
  const int result = ::fsync(descriptor);
  const int error = errno;
  ::close(descriptor);
  // Some file systems cannot sync a directory; the rename is still atomic there.
  if (result != 0 && !(error == EINVAL && (flags & O_DIRECTORY) != 0)) fail(path, "write", error);
}

std::filesystem::path directory_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

std::filesystem::path create_partial(const std::filesystem::path& index) {
  std::string name = index.string() + ".XXXXXX.partial";
  const int descriptor = ::mkostemps(name.data(), static_cast<int>(std::strlen(".partial")), O_CLOEXEC);
  if (descriptor < 0) fail(directory_of(index), "create a file there", errno);
  ::fchmod(descriptor, 0644);
  ::close(descriptor);
  return name;
}

}  // namespace

IndexWriter::IndexWriter(const std::filesystem::path& index) : index_(index), partial_(create_partial(index)) {
  database_ = std::make_unique<Database>(partial_, Database::Mode::kCreate);
  database_->execute(fmt::format("PRAGMA page_size = 16384; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                                 "PRAGMA locking_mode = EXCLUSIVE; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16384;"
                                 "PRAGMA application_id = {}; PRAGMA user_version = {}; BEGIN",
                                 kApplicationId, kSchemaVersion));
  database_->execute(script("core"));
  std::vector<TableLayout> tables = layouts();
  for (std::size_t i = 0; i < tables.size(); ++i) {
    tables_[i] = std::make_unique<BulkInserter>(*database_, tables[i].name, std::move(tables[i].columns));
  }
  meta_ = std::make_unique<Statement>(*database_, "INSERT OR REPLACE INTO meta VALUES (?, ?)");
}

IndexWriter::~IndexWriter() {
  if (published_) return;
  meta_.reset();
  for (auto& table : tables_) table.reset();
  database_.reset();
  std::error_code ignored;
  std::filesystem::remove(partial_, ignored);
}

void IndexWriter::add(const RowBlock& block) { tables_[static_cast<std::size_t>(block.table)]->insert(block.cells); }

void IndexWriter::meta(std::string_view key, std::string_view value) { meta_->bind(1, key).bind(2, value).run(); }
void IndexWriter::meta(std::string_view key, std::int64_t value) { meta(key, std::to_string(value)); }

std::uint64_t IndexWriter::publish() {
  database_->execute(script("indexes"));
  database_->execute(script("views"));
  meta_.reset();
  for (auto& table : tables_) table.reset();
  database_->execute("COMMIT");
  database_.reset();
  sync_path(partial_, O_RDONLY);
  const std::uint64_t size = std::filesystem::file_size(partial_);
  if (::rename(partial_.c_str(), index_.c_str()) != 0) fail(index_, "put the finished index in place", errno);
  published_ = true;
  sync_path(directory_of(index_), O_RDONLY | O_DIRECTORY);
  return size;
}

}  // namespace tracedb
