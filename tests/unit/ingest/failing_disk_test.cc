// SQLite's own calls fail one after the other, until an index is written, or new times are noted in one.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <vector>

#include "base/error.h"
#include "index/index.h"
#include "index/validity.h"
#include "support/failing_vfs.h"
#include "support/ingested.h"
#include "support/places.h"
#include "support/small_index.h"

namespace tracedb {
namespace {

std::string small_trace() {
  std::string events;
  for (int i = 0; i < 200; ++i) {
    events += event("kernel", fmt::format("kernel_{}", i), kGpuStream, std::to_string(10 * i), "3",
                    fmt::format(R"("stream":7,"correlation":{})", i));
    events += event("cpu_op", fmt::format("aten::op_{}", i), kMainThread, std::to_string(10 * i), "3");
  }
  return trace_of(events);
}

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t files_in(const TempDirectory& directory) {
  const std::filesystem::directory_iterator files(directory.path());
  return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

// The exit code of an ingest; 0: done.
int outcome(const std::filesystem::path& trace, const std::filesystem::path& index) {
  try {
    ingest_trace(trace, index, Ingested::small_options());
  } catch (const Error& error) {
    INFO(error.what());
    CHECK(std::string_view(error.what()).find('\n') == std::string_view::npos);
    return static_cast<int>(error.code());
  }
  return 0;
}

// How often an ingest failed before one got through, where each call fails in turn, or one of test_stride(). There are
// few calls of most kinds: of these the first fails (round 0).
std::size_t failures(VfsCall call, int code, std::size_t round = 0) {
  const TempDirectory directory;
  const auto trace = directory.write("t.json", small_trace());
  const auto index = directory.write("index", "the old one");
  std::size_t failed = 0;
  for (const std::size_t at : places(1, 1000, round)) {
    INFO("call " << at);
    const FailingVfs vfs(call, static_cast<int>(at), code);
    const int result = outcome(trace, index);
    if (!vfs.failed()) {
      CHECK(result == 0);
      return failed;
    }
    ++failed;
    CHECK(result == static_cast<int>(ErrorCode::kResource));
    CHECK(bytes_of(index) == "the old one");
    CHECK(files_in(directory) == 2);
  }
  FAIL("never through");
  return failed;
}

}  // namespace

TEST_CASE("whatever call of SQLite fails, the old index stays and nothing else") {
  const std::size_t stride = test_stride();
  CHECK(failures(VfsCall::kOpen, SQLITE_CANTOPEN) > 1 / stride);
  CHECK(failures(VfsCall::kWrite, SQLITE_FULL) > 10 / stride);
  CHECK(failures(VfsCall::kWrite, SQLITE_IOERR_WRITE, 1) > 10 / stride);
  CHECK(failures(VfsCall::kRead, SQLITE_IOERR_READ) > 1 / stride);
  CHECK(failures(VfsCall::kRead, SQLITE_IOERR_NOMEM) > 1 / stride);
  // Nothing of an unfinished file is synced, shortened or journalled by SQLite: see index_writer.cc.
  CHECK(failures(VfsCall::kSync, SQLITE_IOERR_FSYNC) == 0);
  CHECK(failures(VfsCall::kTruncate, SQLITE_IOERR_TRUNCATE) == 0);
  CHECK(failures(VfsCall::kDelete, SQLITE_IOERR_DELETE) == 0);
}

TEST_CASE("new times are noted wholly or not at all, whatever call fails") {
  for (const VfsCall call : {VfsCall::kOpen, VfsCall::kRead, VfsCall::kWrite, VfsCall::kSync, VfsCall::kDelete}) {
    for (int at = 1, failed = 1; failed != 0; ++at) {
      REQUIRE(at < 100);
      const TempDirectory directory;
      const auto path = directory / "index";
      write_small_index(path);
      Database(path, Database::Mode::kReadWrite)
          .execute("INSERT INTO meta VALUES ('source_inode', '1'), ('source_mtime_ns', '1')");
      const Index index = Index::open(path);
      bool noted = false;
      {
        const FailingVfs vfs(call, at, SQLITE_IOERR);
        noted = refresh_stat(index, {2, 2, {1'700'000'000, 0}});
        failed = vfs.failed() ? 1 : 0;
      }
      INFO("kind " << static_cast<int>(call) << ", call " << at);
      CHECK((noted || failed != 0));
      CHECK(files_in(directory) == 1);
      const Index after = Index::open(path);
      for (const char* key : {"source_inode", "source_mtime_ns"}) CHECK(after.meta(key) == (noted ? "2" : "1"));
      CHECK(after.database().query_text("PRAGMA integrity_check") == "ok");
    }
  }
}

}  // namespace tracedb
