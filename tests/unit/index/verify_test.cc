#include "index/verify.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "support/small_index.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

std::vector<std::string> failures(const std::filesystem::path& path) {
  std::vector<std::string> failed;
  for (const VerifyFinding& finding : verify(Index::open(path), {})) {
    if (finding.outcome == VerifyFinding::Outcome::kFailed) failed.push_back(finding.check);
  }
  return failed;
}

}  // namespace

TEST_CASE("a sound index has no failed check") {
  const TempDirectory directory;
  write_small_index(directory / "a.tracedb");
  write_small_index(directory / "e.tracedb", SmallIndexContent::kEmpty);
  CHECK(failures(directory / "a.tracedb").empty());
  CHECK(failures(directory / "e.tracedb").empty());
}

TEST_CASE("each kind of damage to the numbers fails its own check") {
  const TempDirectory directory;
  const auto path = directory / "a.tracedb";
  write_small_index(path);
  const auto damaged = [&](const char* sql) {
    Database(path, Database::Mode::kReadWrite).execute(sql);
    return failures(path);
  };
  CHECK(damaged("UPDATE event_count SET skipped = 1 WHERE ph = 'M'") ==
        std::vector<std::string>{"conservation", "meta"});
  CHECK(damaged("UPDATE event_count SET skipped = 2 WHERE ph = 'M'; DELETE FROM cpu_op") ==
        std::vector<std::string>{"rows"});
  CHECK(damaged("INSERT INTO cpu_op (ts, thread_id, name_id, depth) VALUES (0, 1, 1, 0);"
                "UPDATE kernel SET dur = dur + 1 WHERE id = 1") == std::vector<std::string>{"totals", "coverage"});
  CHECK(damaged("UPDATE kernel SET dur = dur - 1, launch_id = 99 WHERE id = 1") ==
        std::vector<std::string>{"references"});
  CHECK(damaged("UPDATE kernel SET launch_id = NULL WHERE id = 1") == std::vector<std::string>{"coverage"});
  CHECK(damaged("UPDATE kernel SET launch_id = 1 WHERE id = 1; UPDATE memory_op SET id = 2") ==
        std::vector<std::string>{"rows"});
}

}  // namespace tracedb
