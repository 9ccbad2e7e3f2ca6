#include "index/gc.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include "base/files/file_lock.h"
#include "index/leftovers.h"
#include "support/small_index.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

ListedIndex found(std::string_view name, IndexState state, std::uint64_t bytes, std::int64_t modified_ns) {
  ListedIndex index{.path = fs::path("/d") / (std::string(name) + ".json.tracedb"),
                    .source = fs::path("/d") / (std::string(name) + ".json"),
                    .state = state,
                    .reason = "because"};
  index.file.bytes = bytes;
  index.file.modified_ns = modified_ns;
  return index;
}

std::string names(const IndexInventory& inventory, const GcOptions& options) {
  std::string text;
  for (const PlannedRemoval& removal : plan_removals(inventory, options)) {
    text += inventory.indexes[removal.index].path.stem().stem().string() + " ";
  }
  return text;
}

IndexInventory one_of_each() {
  IndexInventory inventory;
  inventory.indexes = {found("valid", IndexState::kValid, 10, 300),     found("older", IndexState::kValid, 10, 200),
                       found("stale", IndexState::kStale, 10, 400),     found("orphan", IndexState::kOrphaned, 10, 100),
                       found("cached", IndexState::kOrphaned, 10, 500), found("unknown", IndexState::kUnknown, 10, 150),
                       found("broken", IndexState::kUnusable, 10, 1),   found("foreign", IndexState::kForeign, 10, 1)};
  inventory.indexes[4].cached = true;
  return inventory;
}

const ListedIndex& only(const IndexInventory& inventory) {
  REQUIRE(inventory.indexes.size() == 1);
  return inventory.indexes.front();
}

}  // namespace

TEST_CASE("by default what is stale goes, and what is orphaned in a cache") {
  CHECK(names(one_of_each(), {}) == "stale cached ");
  IndexInventory elsewhere = one_of_each();
  elsewhere.indexes[2].path = "/archive/monday.tracedb";  // of a trace that was overwritten since
  CHECK(names(elsewhere, {}) == "cached ");
}

TEST_CASE("age and size take valid ones, the oldest first, and never what is no index of ours") {
  GcOptions options;
  options.now_ns = 1000;
  options.older_than_ns = 750;
  CHECK(names(one_of_each(), options) == "older stale cached ");
  options.older_than_ns = std::nullopt;
  options.most_bytes = 45;  // valid, older, orphan, unknown and broken have 50
  CHECK(names(one_of_each(), options) == "stale cached older ");
  options.most_bytes = 1;
  CHECK(names(one_of_each(), options) == "stale cached older valid ");
  options.orphans = true;
  CHECK(names(one_of_each(), options) == "stale orphan cached unknown older valid ");
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

}  // namespace tracedb
