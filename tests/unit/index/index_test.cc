#include "index/index.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "support/small_index.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

std::string refusal(const std::filesystem::path& path) {
  try {
    Index::open(path);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::kInput);
    return error.what();
  }
  return "opened";
}

void change_by_sql(const std::filesystem::path& path, const std::string& sql) {
  Database(path, Database::Mode::kReadWrite).execute(sql);
}

}  // namespace

TEST_CASE("a whole index opens, read-only") {
  const TempDirectory directory;
  write_small_index(directory / "a.tracedb");
  const Index index = Index::open(directory / "a.tracedb");
  CHECK(index.complete());
  CHECK(index.meta_int64("events_read") == 12);
  CHECK_FALSE(index.meta("nothing"));
  CHECK_THROWS_AS(index.database().execute("DELETE FROM meta"), Error);
}

TEST_CASE("names that mean something in a URI are names") {
  const TempDirectory directory;
  for (const char* name : {"a?mode=memory", "b#c", "100%41", "file:x", "a b&c=d", "not-utf8-\xff"}) {
    write_small_index(directory / name);
    CHECK(Index::open(directory / name).meta_int64("events_read") == 12);
  }
}

TEST_CASE("what is no usable index is refused with advice") {
  const TempDirectory directory;
  const auto path = directory / "a.tracedb";
  CHECK(refusal(path).find("no such file") != std::string::npos);
  CHECK(refusal(directory.path()).find("is a directory") != std::string::npos);
  CHECK(refusal(directory.write("empty", "")).find("not an index") != std::string::npos);
  CHECK(refusal(directory.write("json", "{}")).find("not an index") != std::string::npos);
  CHECK(refusal(directory.write("head", std::string_view("SQLite format 3\0", 16))).find("not a tracedb index") !=
        std::string::npos);
  write_small_index(path);
  SUBCASE("another application") {
    change_by_sql(path, "PRAGMA application_id = 1");
    CHECK(refusal(path).find("not a tracedb index") != std::string::npos);
  }
  SUBCASE("another version") {
    change_by_sql(path, "PRAGMA user_version = 99");
    CHECK(refusal(path).find("another version") != std::string::npos);
  }
  SUBCASE("another version of the same schema number") {
    change_by_sql(path, "ALTER TABLE kernel ADD COLUMN other INTEGER");
    CHECK(refusal(path).find("made by another version of trace-ingest, or changed by another program (table kernel is "
                             "not as this version makes it); ingest the trace again with trace-ingest --force") !=
          std::string::npos);
  }
  SUBCASE("never finished") {
    change_by_sql(path, "DELETE FROM meta WHERE key = 'complete'");
    CHECK(refusal(path).find("never finished") != std::string::npos);
  }
  SUBCASE("without content") {
    change_by_sql(path, "DROP VIEW trace_info; DROP TABLE meta");
    CHECK(refusal(path).find("no content") != std::string::npos);
  }
  SUBCASE("cut at any page") {
    const auto size = std::filesystem::file_size(path);
    for (std::uintmax_t keep = 16384; keep < size; keep += 16384) {
      std::filesystem::resize_file(path, size - keep);
      CHECK(refusal(path) != "opened");
    }
  }
}

}  // namespace tracedb
