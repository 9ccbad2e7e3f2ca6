#include "index/inventory.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <map>

#include "base/error.h"
#include "base/stream/content_hash.h"
#include "support/small_index.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

void write_index_of(const fs::path& index, const fs::path& trace, std::int64_t size, const ContentHash& hash) {
  write_small_index(index);
  Database(index, Database::Mode::kReadWrite)
      .execute(
          fmt::format("INSERT INTO meta VALUES ('source_path', '{}'), ('source_size', '{}'), ('source_hash', '{}')",
                      trace.string(), size, to_hex(hash)));
}

std::map<std::string, IndexState> states(const IndexInventory& inventory) {
  std::map<std::string, IndexState> found;
  for (const ListedIndex& index : inventory.indexes) found[index.path.filename().string()] = index.state;
  return found;
}

}  // namespace

TEST_CASE("every state is recognised, and nothing is written") {
  const TempDirectory directory;
  const ContentHash hash = hash_bytes("{}");
  for (const char* name : {"valid.json", "stale.json", "a\nb\xff.json"}) static_cast<void>(directory.write(name, "{}"));
  write_index_of(directory / "valid.json.tracedb", directory / "valid.json", 2, hash);
  write_index_of(directory / "stale.json.tracedb", directory / "stale.json", 2, hash_bytes("[]"));
  write_index_of(directory / "orphan.json.tracedb", directory / "orphan.json", 2, hash);
  write_index_of(directory / "odd.tracedb", directory / "a\\x0ab\\xff.json", 2, hash);
  const std::string cached = to_hex(hash) + "-gone.json.tracedb";
  write_index_of(directory / cached, "/nowhere/gone.json", 2, hash);
  write_index_of(directory / "pipe.tracedb", "-", 2, hash);
  write_small_index(directory / "version.tracedb");
  Database(directory / "version.tracedb", Database::Mode::kReadWrite).execute("PRAGMA user_version = 99");
  write_small_index(directory / "cut.tracedb");
  fs::resize_file(directory / "cut.tracedb", 50'000);
  write_small_index(directory / "unfinished.tracedb");
  Database(directory / "unfinished.tracedb", Database::Mode::kReadWrite)
      .execute("DELETE FROM meta WHERE key = 'complete'");
  for (const char* name : {"text.tracedb", "empty.tracedb"}) static_cast<void>(directory.write(name, name));
  fs::create_symlink("valid.json.tracedb", directory / "link.tracedb");
  REQUIRE(::mkfifo((directory / "fifo.tracedb").c_str(), 0600) == 0);

  const auto before = FileIdentity::of(directory / "valid.json.tracedb");
  const IndexInventory inventory = take_inventory({directory.path(), directory.path()}, nullptr);
  const std::map<std::string, IndexState> expected = {{"valid.json.tracedb", IndexState::kValid},
                                                      {"stale.json.tracedb", IndexState::kStale},
                                                      {"orphan.json.tracedb", IndexState::kOrphaned},
                                                      {"odd.tracedb", IndexState::kValid},
                                                      {cached, IndexState::kOrphaned},
                                                      {"pipe.tracedb", IndexState::kOrphaned},
                                                      {"version.tracedb", IndexState::kUnusable},
                                                      {"cut.tracedb", IndexState::kUnusable},
                                                      {"unfinished.tracedb", IndexState::kUnusable},
                                                      {"text.tracedb", IndexState::kForeign},
                                                      {"empty.tracedb", IndexState::kForeign},
                                                      {"link.tracedb", IndexState::kForeign},
                                                      {"fifo.tracedb", IndexState::kForeign}};
  CHECK(states(inventory) == expected);
  CHECK(inventory.indexes.size() == expected.size());
  for (const ListedIndex& index : inventory.indexes) {
    CHECK(index.cached == (index.path.filename() == cached));
    CHECK_FALSE(index.reason.empty());
  }
  CHECK(FileIdentity::of(directory / "valid.json.tracedb") == before);
}

TEST_CASE("folders below are searched, linked ones are not") {
  const TempDirectory directory, other;
  fs::create_directories(directory / "a/b");
  write_small_index(directory / "a/b/x.tracedb");
  write_small_index(other / "y.tracedb");
  fs::create_directory_symlink(other.path(), directory / "a/link");
  CHECK(states(take_inventory({directory.path()}, nullptr)).size() == 1);
  CHECK(states(take_inventory({directory / "a/link"}, nullptr)).size() == 1);
  CHECK_THROWS_AS(take_inventory({directory / "none"}, nullptr), Error);
  CHECK_THROWS_AS(take_inventory({directory / "a/b/x.tracedb"}, nullptr), Error);
}

}  // namespace tracedb
