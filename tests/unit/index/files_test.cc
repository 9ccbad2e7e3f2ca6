#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <random>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/files/file_identity.h"
#include "base/files/file_lock.h"
#include "base/stream/content_hash.h"
#include "index/gc.h"
#include "index/index.h"
#include "index/leftovers.h"
#include "index/validity.h"
#include "index/verify.h"
#include "report/sql_report.h"
#include "sql/safety.h"
#include "support/asked_passes.h"
#include "support/places.h"
#include "support/refused.h"
#include "support/small_index.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

const ListedIndex& only(const IndexInventory& inventory) {
  REQUIRE(inventory.indexes.size() == 1);
  return inventory.indexes.front();
}

TEST_CASE("an index is removed if it is still the one that was listed") {
  const TempDirectory directory;
  const fs::path path = directory / "a.json.tracedb";
  write_small_index(path);
  const IndexInventory inventory = take_inventory({directory.path()}, nullptr);
  SUBCASE("untouched") {
    CHECK(remove_index(only(inventory)).outcome == RemovalOutcome::kRemoved);
    CHECK(fs::is_empty(directory.path()));
    CHECK(remove_index(only(inventory)).outcome == RemovalOutcome::kGone);
  }
  SUBCASE("replaced by another one") {
    fs::rename(path, directory / "aside");
    write_small_index(path);
    CHECK(remove_index(only(inventory)).outcome == RemovalOutcome::kChanged);
    CHECK(fs::exists(path));
  }
  SUBCASE("replaced by a link to itself") {
    fs::rename(path, directory / "aside");
    fs::create_symlink("aside", path);
    CHECK(remove_index(only(inventory)).outcome == RemovalOutcome::kChanged);
    CHECK(fs::exists(directory / "aside"));
  }
  SUBCASE("its folder replaced by a link") {
    fs::create_directory(directory / "sub");
    write_small_index(directory / "sub/b.json.tracedb");
    const IndexInventory below = take_inventory({directory / "sub"}, nullptr);
    fs::rename(directory / "sub", directory / "moved");
    fs::create_directory_symlink("moved", directory / "sub");
    CHECK(remove_index(only(below)).outcome == RemovalOutcome::kFailed);
    CHECK(fs::exists(directory / "moved/b.json.tracedb"));
  }
  SUBCASE("locked by a run") {
    const auto lock = FileLock::try_acquire(lock_path(path));
    CHECK(remove_index(only(inventory)).outcome == RemovalOutcome::kInUse);
    CHECK(fs::exists(path));
  }
  SUBCASE("no index any more") {
    ListedIndex index = only(inventory);
    static_cast<void>(directory.write("a.json.tracedb", "notes"));
    index.file = FileIdentity::of(path).value();
    CHECK(remove_index(index).outcome == RemovalOutcome::kChanged);
    CHECK(fs::exists(path));
  }
}

TEST_CASE("a journal is kept while its index needs it") {
  const TempDirectory directory;
  const std::string hot = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7 and more";
  for (const char* name : {"a.json.tracedb", "b.json.tracedb", "c.json.tracedb"}) write_small_index(directory / name);
  static_cast<void>(directory.write("a.json.tracedb-journal", hot));
  static_cast<void>(directory.write("b.json.tracedb-journal", std::string(600, '\0')));
  static_cast<void>(directory.write("c.json.tracedb-journal", "my notes"));
  static_cast<void>(directory.write("gone.json.tracedb-journal", hot));
  const IndexInventory inventory = take_inventory({directory.path()}, nullptr);
  REQUIRE(inventory.indexes.size() == 3);
  CHECK(inventory.indexes[0].state == IndexState::kUnusable);
  CHECK(inventory.indexes[1].state != IndexState::kUnusable);
  CHECK(inventory.indexes[2].state != IndexState::kUnusable);
  CHECK(inventory.leftovers.size() == 2);
  for (const ListedLeftover& leftover : inventory.leftovers) {
    CHECK(remove_leftover(leftover).outcome == RemovalOutcome::kRemoved);
  }
  CHECK(fs::exists(directory / "a.json.tracedb-journal"));
  CHECK(fs::exists(directory / "c.json.tracedb-journal"));
  CHECK_FALSE(fs::exists(directory / "b.json.tracedb-journal"));
  CHECK_FALSE(fs::exists(directory / "gone.json.tracedb-journal"));
}

TEST_CASE("leftovers go when their lock is free") {
  const TempDirectory directory;
  const fs::path index = directory / "a.json.tracedb";
  write_small_index(directory / "a.json.tracedb.abcdef.partial");
  for (const char* name : {"a.json.tracedb.ghijkl.partial", "b.json.tracedb.lock", "notes.abcdef.partial", "x.lock"}) {
    static_cast<void>(directory.write(name, ""));
  }
  static_cast<void>(directory.write("c.json.tracedb.lock", "content"));
  static_cast<void>(directory.write("d.json.tracedb.abcdef.partial", "content"));
  {
    const auto lock = FileLock::try_acquire(lock_path(index));
    const IndexInventory busy = take_inventory({directory.path()}, nullptr);
    CHECK(busy.leftovers.size() == 4);
    for (const ListedLeftover& leftover : busy.leftovers) {
      CHECK(leftover.in_use == (leftover.index == index));
      if (leftover.in_use) CHECK(remove_leftover(leftover).outcome == RemovalOutcome::kInUse);
    }
  }
  const IndexInventory inventory = take_inventory({directory.path()}, nullptr);
  CHECK(inventory.leftovers.size() == 3);
  for (const ListedLeftover& leftover : inventory.leftovers) {
    CHECK(remove_leftover(leftover).outcome == RemovalOutcome::kRemoved);
    CHECK_FALSE(fs::exists(leftover.path));
  }
  CHECK(take_inventory({directory.path()}, nullptr).leftovers.empty());
  for (const char* name : {"notes.abcdef.partial", "x.lock", "c.json.tracedb.lock", "d.json.tracedb.abcdef.partial"}) {
    CHECK(fs::exists(directory / name));
  }
}

// Indexes that were damaged or made to do harm: whatever is in the file, reading it ends in answers or in one Error
// that says to build it again.

constexpr std::size_t kPage = 16384;

struct Specimen {
  TempDirectory directory;
  std::filesystem::path path = directory / "x.json.tracedb";
  std::string bytes;
  int answered = 0, refused = 0;

  Specimen() {
    write_small_index(path);
    bytes = bytes_of(path);
    (void)directory.write("x.json", "{}");
  }

  // Everything that reads indexes, each on its own.
  void read(const std::string& damaged, const std::string& what) {
    write_anew(path, damaged);
    attempt(what, [&] { Index::open(path); });
    attempt(what, [&] { check_validity(Index::open(path), directory / "x.json", Effort::kFullHash); });
    attempt(what, [&] { verify(Index::open(path), {}); });
    for (const char* report : {"info", "issues"}) {
      attempt(what, [&] {
        const Index index = Index::open(path);
        declare_pass_tables(index.database());
        run_report(index.database(), report_script(report), {});
      });
    }
  }

 private:
  template <class Work>
  void attempt(const std::string& what, Work work) {
    const std::string text = tracedb::refused(ErrorCode::kInput, work);
    if (text.empty()) {
      ++answered;
      return;
    }
    INFO(what << ": " << text);
    CHECK(text.find("trace-ingest") != std::string::npos);
    CHECK(text.find('\n') == std::string::npos);
    ++refused;
  }
};

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
  change_by_sql(specimen.path, "PRAGMA journal_mode = WAL");
  CHECK_THROWS_WITH_AS(Index::open(specimen.path), doctest::Contains("another version"), Error);
  CHECK_FALSE(std::filesystem::exists(specimen.path.string() + "-wal"));
  CHECK_FALSE(std::filesystem::exists(specimen.path.string() + "-shm"));
}

TEST_CASE("an index with other tables and views than ours is refused when it is opened") {
  const Specimen specimen;
  for (const char* sql :
       {"DROP TABLE kernel_name_sum", "DROP VIEW kernels", "DROP INDEX string_value",
        "ALTER TABLE kernel_name_sum RENAME COLUMN total TO other", "CREATE TABLE more (a)",
        "CREATE VIEW more AS SELECT 1", "CREATE INDEX more ON kernel (dur)",
        "CREATE TRIGGER more AFTER UPDATE ON meta BEGIN DELETE FROM meta; END",
        "DROP TABLE kernel_name_sum; CREATE VIEW kernel_name_sum AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT "
        "n + 1 FROM r) SELECT n AS name_id, n, n AS total FROM r",
        "DROP VIEW trace_info; CREATE VIEW trace_info AS SELECT key, load_extension('/tmp/x.so') AS value FROM meta",
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = sql || ' ' WHERE name = 'kernels'",
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = NULL WHERE name = 'kernels'",
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(hex(zeroblob(8000000)), '0', ' ')"}) {
    CAPTURE(sql);
    write_anew(specimen.path, specimen.bytes);
    change_by_sql(specimen.path, sql);
    CHECK(tracedb::refused(ErrorCode::kInput, [&] { Index::open(specimen.path); }).find("trace-ingest --force") !=
          std::string::npos);
  }
}

TEST_CASE("an index that was analysed or vacuumed is ours") {
  const Specimen specimen;
  change_by_sql(specimen.path, "ANALYZE; VACUUM");
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
    write_anew(specimen.path, specimen.bytes);
    change_by_sql(specimen.path, sql);
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
  change_by_sql(specimen.path,
                "CREATE TABLE harm (a); CREATE TRIGGER t AFTER UPDATE ON meta BEGIN INSERT INTO harm VALUES (1); END;"
                "INSERT OR REPLACE INTO meta VALUES ('source_inode', '1')");
  CHECK(update_meta(specimen.path, {{"source_inode", "2"}}));
  Database database(specimen.path, Database::Mode::kReadOnly);
  CHECK(database.query_text("SELECT value FROM meta WHERE key = 'source_inode'") == "2");
  CHECK(database.query_int64("SELECT count(*) FROM harm") == 0);
}

// A trace of 10 MB, at rest for an hour, and its index.
struct Pair {
  TempDirectory directory;
  std::filesystem::path trace = directory.write("t.json", std::string(10 << 20, 'x'));
  std::filesystem::path path = directory / "t.json.tracedb";

  Pair() {
    rest();
    struct stat status {};
    REQUIRE(stat(trace.c_str(), &status) == 0);
    write_small_index(path);
    Database database(path, Database::Mode::kReadWrite);
    Statement insert(database, "INSERT INTO meta VALUES (?1, ?2)");
    const auto put = [&](std::string_view key, const std::string& value) {
      insert.bind(1, key).bind(2, std::string_view(value)).run();
    };
    put("source_path", trace.string());
    put("source_size", std::to_string(status.st_size));
    put("source_mtime_ns", std::to_string(status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec));
    put("source_inode", std::to_string(status.st_ino));
    put("source_hash", to_hex(hash_file(trace)));
    put("source_sample_hash", to_hex(sample_hash_file(trace)));
  }
  void rest(int hours = 1) const {
    std::filesystem::last_write_time(trace, std::filesystem::file_time_type::clock::now() - std::chrono::hours(hours));
  }
  void poke(std::streamoff at) const {
    std::fstream file(trace, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(at);
    file.put('y');
  }
  // As if the trace had been at rest when the index was made.
  void renew_index() const {
    std::this_thread::sleep_for(std::chrono::milliseconds(2100));
    std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now());
  }
  [[nodiscard]] ValidityResult check(Effort effort = Effort::kQuick) const {
    return check_validity(Index::open(path), trace, effort);
  }
};

bool is(const ValidityResult& result, Validity validity, int tier) {
  return result.validity == validity && result.tier == tier;
}

TEST_CASE("a source of holes is not read, however long it is") {
  const Pair pair;
  const std::uintmax_t size = std::uintmax_t{4} << 40U;
  std::error_code error;
  std::filesystem::resize_file(pair.trace, size, error);
  if (error) return;  // the file system has no files of this size
  const std::string sample = to_hex(sample_hash_file(pair.trace));
  change_by_sql(pair.path, fmt::format("UPDATE meta SET value = {} WHERE key = 'source_size'; "
                                       "UPDATE meta SET value = '{}' WHERE key = 'source_sample_hash'",
                                       size, sample));
  const ValidityResult result = pair.check();
  CHECK(result.validity == Validity::kUnknown);
  CHECK(result.reason.find("holes") != std::string::npos);
}

TEST_CASE("an untouched trace is valid by its stat") {
  const Pair pair;
  CHECK(is(pair.check(), Validity::kValid, 3));  // touched a moment before the index was made
  pair.renew_index();
  CHECK(is(pair.check(), Validity::kValid, 1));
  std::filesystem::last_write_time(pair.path, std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
  CHECK(is(pair.check(), Validity::kValid, 3));  // by a clock that was wrong
  CHECK(is(pair.check(Effort::kFullHash), Validity::kValid, 3));
}

TEST_CASE("a touched trace is hashed once, then trusted again") {
  const Pair pair;
  pair.rest(2);
  CHECK(is(pair.check(), Validity::kValid, 3));
  CHECK(is(pair.check(), Validity::kValid, 3));  // too early to be noted
  std::this_thread::sleep_for(std::chrono::milliseconds(2100));
  CHECK(is(pair.check(), Validity::kValid, 3));
  CHECK(is(pair.check(), Validity::kValid, 1));
}

TEST_CASE("the stat is noted in a copy that takes the index's place") {
  const Pair pair;
  std::filesystem::permissions(pair.path, std::filesystem::perms(0640));
  const auto before = FileIdentity::of(pair.path);
  const Index open = Index::open(pair.path);
  std::this_thread::sleep_for(std::chrono::milliseconds(2100));
  SUBCASE("and nothing else is left") {
    CHECK(is(pair.check(), Validity::kValid, 3));
    CHECK(FileIdentity::of(pair.path)->inode != before->inode);
    CHECK(std::filesystem::status(pair.path).permissions() == std::filesystem::perms(0640));
    CHECK(open.meta_int64("events_read") == 12);
    CHECK(is(pair.check(), Validity::kValid, 1));
  }
  SUBCASE("unless the index is being built") {
    const auto lock = FileLock::try_acquire(lock_path(pair.path));
    CHECK(is(pair.check(), Validity::kValid, 3));
    CHECK(FileIdentity::of(pair.path) == before);
  }
  SUBCASE("unless it is only looked at") {
    CHECK(is(pair.check(Effort::kReadOnly), Validity::kValid, 3));
    CHECK(FileIdentity::of(pair.path) == before);
  }
  CHECK(pair.directory.files().size() == 2);
}

TEST_CASE("a stat taken too early is not trusted") {
  const Pair pair;
  std::filesystem::last_write_time(pair.path, std::filesystem::last_write_time(pair.trace) + std::chrono::seconds(1));
  CHECK(is(pair.check(), Validity::kValid, 3));
}

TEST_CASE("new times are written into a plain file of one name only") {
  const Pair pair;
  std::this_thread::sleep_for(std::chrono::milliseconds(2100));
  const auto old = Index::open(pair.path).meta("source_inode");
  std::filesystem::copy_file(pair.trace, pair.directory / "copy");  // a new inode, nothing else
  std::filesystem::rename(pair.directory / "copy", pair.trace);
  std::this_thread::sleep_for(std::chrono::milliseconds(2100));
  const auto real = pair.directory / "real";
  SUBCASE("a symbolic link") {
    std::filesystem::rename(pair.path, real);
    std::filesystem::create_symlink(real, pair.path);
  }
  SUBCASE("a second name") { std::filesystem::create_hard_link(pair.path, real); }
  CHECK(is(pair.check(), Validity::kValid, 3));
  CHECK(Index::open(real).meta("source_inode") == old);
}

TEST_CASE("changes are found by the cheapest tier that can see them") {
  const Pair pair;
  SUBCASE("size") {
    std::filesystem::resize_file(pair.trace, 5);
    CHECK(is(pair.check(), Validity::kStale, 1));
  }
  SUBCASE("a byte at the head") {
    pair.poke(0);
    CHECK(is(pair.check(), Validity::kStale, 2));
  }
  SUBCASE("a byte somewhere, with the old time put back") {
    pair.poke((3 << 20) + 12345);
    pair.rest();
    CHECK(pair.check(Effort::kFullHash).validity == Validity::kStale);
  }
  SUBCASE("a byte somewhere, with the very same time put back") {
    pair.renew_index();
    const auto time = std::filesystem::last_write_time(pair.trace);
    pair.poke((3 << 20) + 12345);
    std::filesystem::last_write_time(pair.trace, time);
    CHECK(is(pair.check(), Validity::kStale, 3));
  }
}

TEST_CASE("no trace, no answer, but the index stays usable") {
  const Pair pair;
  std::filesystem::remove(pair.trace);
  CHECK(pair.check().validity == Validity::kSourceMissing);
  CHECK(check_validity(Index::open(pair.path), pair.directory.path(), Effort::kQuick).validity == Validity::kUnknown);
}

TEST_CASE("the trace of an index is the file beside it, else the recorded one") {
  const Pair pair;
  CHECK(source_of(Index::open(pair.path)) == pair.trace);
  const auto moved = pair.directory / "other.tracedb";
  std::filesystem::copy_file(pair.path, moved);
  CHECK(source_of(Index::open(moved)) == pair.trace);
}

}  // namespace
}  // namespace tracedb
