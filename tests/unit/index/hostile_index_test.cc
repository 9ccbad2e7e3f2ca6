// Indexes that were damaged or made to do harm: whatever is in the file, reading it ends in answers or in one Error
// that says to build it again.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <vector>

#include "base/error.h"
#include "index/index.h"
#include "index/validity.h"
#include "index/verify.h"
#include "report/sql_report.h"
#include "sql/meta_update.h"
#include "support/small_index.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

constexpr std::size_t kPage = 16384;

struct Specimen {
  TempDirectory directory;
  std::filesystem::path path = directory / "x.json.tracedb";
  std::string bytes;
  int answered = 0, refused = 0;

  Specimen() {
    write_small_index(path);
    std::ifstream file(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(file), {});
    (void)directory.write("x.json", "{}");
  }

  // Everything that reads indexes, each on its own.
  void read(const std::string& damaged, const std::string& what) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << damaged;
    attempt(what, [&] { Index::open(path); });
    attempt(what, [&] { check_validity(Index::open(path), directory / "x.json", Effort::kFullHash); });
    attempt(what, [&] { verify(Index::open(path), {}); });
    for (const char* report : {"info", "issues"}) {
      attempt(what, [&] { run_report(Index::open(path).database(), report, {}); });
    }
  }

 private:
  template <class Work>
  void attempt(const std::string& what, Work work) {
    try {
      work();
      ++answered;
    } catch (const Error& error) {
      const std::string text = error.what();
      INFO(what << ": " << text);
      CHECK(error.code() == ErrorCode::kInput);
      CHECK(text.find("trace-ingest") != std::string::npos);
      CHECK(text.find('\n') == std::string::npos);
      ++refused;
    }
  }
};

void run_sql(const std::filesystem::path& path, const std::string& sql) {
  Database(path, Database::Mode::kReadWrite).execute(sql);
}

std::string refusal(const std::filesystem::path& path) {
  try {
    const Index index = Index::open(path);
    run_report(index.database(), "kernels", {});
  } catch (const Error& error) {
    return error.what();
  }
  return "answered";
}

}  // namespace

TEST_CASE("an index cut anywhere") {
  Specimen specimen;
  std::vector<std::size_t> sizes = {0, 1, 15, 16, 17, 99, 100, 101, kPage - 1, kPage, kPage + 1};
  for (std::size_t size = 0; size < specimen.bytes.size(); size += kPage) sizes.push_back(size);
  for (std::size_t size = 999; size < specimen.bytes.size(); size += 29 * 1000) sizes.push_back(size);
  for (const std::size_t size : sizes) specimen.read(specimen.bytes.substr(0, size), fmt::format("{} bytes", size));
  CHECK(specimen.answered == 0);
}

TEST_CASE("an index cut anywhere that claims to be whole") {
  Specimen specimen;
  for (std::size_t size = kPage; size < specimen.bytes.size(); size += 3 * kPage) {
    std::string damaged = specimen.bytes.substr(0, size);
    damaged[30] = 0;
    damaged[31] = static_cast<char>(size / kPage);
    specimen.read(damaged, fmt::format("{} bytes", size));
  }
  CHECK(specimen.refused > 0);
}

TEST_CASE("bits that flipped") {
  Specimen specimen;
  std::minstd_rand chance(20240229);
  std::vector<std::size_t> places;
  for (std::size_t at = 0; at < 100; at += 1) places.push_back(at);  // the header
  for (std::size_t page = 0; page < specimen.bytes.size(); page += kPage) {
    const std::size_t head = page == 0 ? 100 : page;
    for (std::size_t at = head; at < head + 12; at += 3) places.push_back(at);
    places.push_back(page + chance() % kPage);
    places.push_back(page + kPage - 1 - chance() % 200);  // cells are at the end
  }
  for (const std::size_t at : places) {
    std::string damaged = specimen.bytes;
    const unsigned bit = 1U << chance() % 8;
    damaged[at] = static_cast<char>(static_cast<unsigned char>(damaged[at]) ^ bit);
    specimen.read(damaged, fmt::format("bit {} of byte {}", bit, at));
  }
  CHECK(specimen.refused > 50);
  CHECK(specimen.answered > 50);
}

TEST_CASE("pages of noise") {
  Specimen specimen;
  std::minstd_rand chance(7);
  for (std::size_t page = 0; page < specimen.bytes.size(); page += kPage) {
    std::string damaged = specimen.bytes;
    for (std::size_t at = page == 0 ? 100 : page; at < page + kPage; ++at) damaged[at] = static_cast<char>(chance());
    specimen.read(damaged, fmt::format("noise at {}", page));
  }
}

TEST_CASE("an index set to write-ahead logging is refused and nothing is made beside it") {
  const Specimen specimen;
  run_sql(specimen.path, "PRAGMA journal_mode = WAL");
  CHECK(refusal(specimen.path).find("another version") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(specimen.path.string() + "-wal"));
  CHECK_FALSE(std::filesystem::exists(specimen.path.string() + "-shm"));
}

TEST_CASE("tables that are not what they should be") {
  const Specimen specimen;
  SUBCASE("one is gone") { run_sql(specimen.path, "DROP TABLE kernel_name_sum"); }
  SUBCASE("a column is gone") { run_sql(specimen.path, "ALTER TABLE kernel_name_sum RENAME COLUMN total TO other"); }
  SUBCASE("a view stands for it and calls what can do harm") {
    run_sql(specimen.path,
            "ALTER TABLE kernel_name_sum RENAME TO kept; CREATE VIEW kernel_name_sum AS SELECT *, "
            "load_extension('/tmp/x.so') FROM kept");
  }
  SUBCASE("a text of a gigabyte") {
    run_sql(specimen.path,
            "ALTER TABLE kernel_name_sum RENAME TO kept; CREATE VIEW kernel_name_sum AS SELECT name_id, n, "
            "hex(zeroblob(1000000000)) AS total, min, max, sum_of_squares, median, p50, p90, p99 FROM kept");
  }
  const std::string text = refusal(specimen.path);
  INFO(text);
  CHECK(text.find("trace-ingest") != std::string::npos);
}

TEST_CASE("an index is opened so that its schema and its bytes can do nothing") {
  const Specimen specimen;
  const Index index = Index::open(specimen.path);
  const auto setting = [&](const char* name) { return index.database().query_int64(std::string("PRAGMA ") + name); };
  CHECK(setting("trusted_schema") == 0);
  CHECK(setting("cell_size_check") == 1);
  CHECK(setting("query_only") == 1);
  CHECK(setting("mmap_size").value_or(0) == 0);
  CHECK_THROWS_AS(index.database().execute("PRAGMA writable_schema = ON; DELETE FROM sqlite_schema"), Error);
  CHECK_THROWS_AS(index.database().execute("CREATE TEMP TABLE t (a)"), Error);
  CHECK_THROWS_AS(index.database().execute("SELECT load_extension('x')"), Error);
}

TEST_CASE("noting new times runs nothing of the index") {
  const Specimen specimen;
  run_sql(specimen.path,
          "CREATE TABLE harm (a); CREATE TRIGGER t AFTER UPDATE ON meta BEGIN INSERT INTO harm VALUES (1); END;"
          "INSERT OR REPLACE INTO meta VALUES ('source_inode', '1')");
  CHECK(update_meta(specimen.path, {{"source_inode", "2"}}));
  const Index index = Index::open(specimen.path);
  CHECK(index.meta("source_inode") == "2");
  CHECK(index.database().query_int64("SELECT count(*) FROM harm") == 0);
}

}  // namespace tracedb
