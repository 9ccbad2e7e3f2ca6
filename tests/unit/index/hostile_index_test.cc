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
#include "support/asked_passes.h"
#include "support/places.h"
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
      attempt(what, [&] { run_report(Index::open(path).database(), report_script(report), {}); });
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
  std::vector<std::size_t> bytes = places(0, 100, 0);  // the header
  for (std::size_t page = 0; page < specimen.bytes.size(); page += kPage) {
    const std::size_t head = page == 0 ? 100 : page;
    for (const std::size_t third : places(0, 4, page / kPage)) bytes.push_back(head + 3 * third);
    bytes.push_back(page + chance() % kPage);
    bytes.push_back(page + kPage - 1 - chance() % 200);  // cells are at the end
  }
  for (const std::size_t at : bytes) {
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
  CHECK_THROWS_WITH_AS(Index::open(specimen.path), doctest::Contains("another version"), Error);
  CHECK_FALSE(std::filesystem::exists(specimen.path.string() + "-wal"));
  CHECK_FALSE(std::filesystem::exists(specimen.path.string() + "-shm"));
}

TEST_CASE("an index with other tables and views than ours is refused when it is opened") {
  const Specimen specimen;
  const auto refused = [&](const char* sql) {
    CAPTURE(sql);
    std::ofstream(specimen.path, std::ios::binary | std::ios::trunc) << specimen.bytes;
    run_sql(specimen.path, sql);
    std::string text = "opened";
    try {
      Index::open(specimen.path);
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::kInput);
      text = error.what();
    }
    CHECK(text.find("trace-ingest --force") != std::string::npos);
  };
  refused("DROP TABLE kernel_name_sum");
  refused("DROP VIEW kernels");
  refused("DROP INDEX string_value");
  refused("ALTER TABLE kernel_name_sum RENAME COLUMN total TO other");
  refused("CREATE TABLE more (a)");
  refused("CREATE VIEW more AS SELECT 1");
  refused("CREATE INDEX more ON kernel (dur)");
  refused("CREATE TRIGGER more AFTER UPDATE ON meta BEGIN DELETE FROM meta; END");
  refused(
      "DROP TABLE kernel_name_sum; CREATE VIEW kernel_name_sum AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n "
      "+ 1 FROM r) SELECT n AS name_id, n, n AS total FROM r");
  refused("DROP VIEW trace_info; CREATE VIEW trace_info AS SELECT key, load_extension('/tmp/x.so') AS value FROM meta");
  refused("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = sql || ' ' WHERE name = 'kernels'");
  refused("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = NULL WHERE name = 'kernels'");
  refused("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(hex(zeroblob(8000000)), '0', ' ')");
}

TEST_CASE("an index that was analysed or vacuumed is ours") {
  const Specimen specimen;
  run_sql(specimen.path, "ANALYZE; VACUUM");
  CHECK(Index::open(specimen.path).complete());
}

TEST_CASE("a text that is too long for any trace is damage") {
  const Specimen specimen;
  const Index index = Index::open(specimen.path);
  const auto read = [&](int bytes) {
    return index.database().query_int64(fmt::format("SELECT length(zeroblob({}))", bytes));
  };
  CHECK(read(200'000'000) == 200'000'000);
  CHECK_THROWS_WITH_AS(read(300'000'000), doctest::Contains("impossible value"), Error);
}

TEST_CASE("ids that no table of the file can have are damage") {
  const Specimen specimen;
  for (const char* sql :
       {"UPDATE kernel_name SET id = 2147483648 WHERE id = 1", "UPDATE kernel_name SET id = -5 WHERE id = 1",
        "UPDATE kernel SET id = 4611686018427387904 WHERE id = 3", "UPDATE kernel SET name_id = 4294967290",
        "UPDATE kernel SET name_id = -7 WHERE id = 2"}) {
    CAPTURE(sql);
    std::ofstream(specimen.path, std::ios::binary | std::ios::trunc) << specimen.bytes;
    run_sql(specimen.path, sql);
    const Index index = Index::open(specimen.path);
    CHECK_THROWS_AS(ask_passes(index, "SELECT * FROM kernels_by_name"), Error);
  }
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
  Database database(specimen.path, Database::Mode::kReadOnly);
  CHECK(database.query_text("SELECT value FROM meta WHERE key = 'source_inode'") == "2");
  CHECK(database.query_int64("SELECT count(*) FROM harm") == 0);
}

}  // namespace tracedb
