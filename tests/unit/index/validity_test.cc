#include "index/validity.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <chrono>
#include <thread>

#include "base/files/file_identity.h"
#include "base/files/file_lock.h"
#include "base/stream/content_hash.h"
#include "index/leftovers.h"
#include "support/small_index.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

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

}  // namespace

TEST_CASE("a source of holes is not read, however long it is") {
  const Pair pair;
  const std::uintmax_t size = std::uintmax_t{4} << 40U;
  std::error_code error;
  std::filesystem::resize_file(pair.trace, size, error);
  if (error) return;  // the file system has no files of this size
  const std::string sample = to_hex(sample_hash_file(pair.trace));
  Database(pair.path, Database::Mode::kReadWrite)
      .execute("UPDATE meta SET value = " + std::to_string(size) + " WHERE key = 'source_size'; " +
               "UPDATE meta SET value = '" + sample + "' WHERE key = 'source_sample_hash'");
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
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(pair.directory.path())) ++files;
  CHECK(files == 2);
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

}  // namespace tracedb
