#include <doctest/doctest.h>

#include <limits>

#include "ingest/link/cpu_links.h"
#include "ingest/link/device_links.h"
#include "ingest/link/external_id_table.h"

namespace tracedb {

TEST_CASE("StackTrie: one number for each distinct path") {
  StackTrie trie;
  const std::uint32_t main = trie.child(0, 1);
  const std::uint32_t step = trie.child(main, 2);
  CHECK(main == 1);
  CHECK(step == 2);
  CHECK(trie.child(0, 2) == 3);
  CHECK(trie.child(main, 2) == step);
  CHECK(trie.child(step, 2) == 4);  // recursion
  CHECK(trie.nodes()[3].parent == step);
  CHECK(trie.nodes()[3].frame == 2);
  CHECK(trie.nodes()[3].depth == 3);
  CHECK(trie.nodes()[2].depth == 1);
}

TEST_CASE("StackTrie: numbers outlive growth, deep and wide") {
  StackTrie trie;
  std::uint32_t deep = 0;
  for (std::uint32_t i = 1; i <= 10000; ++i) {
    deep = trie.child(deep, i % 3 + 1);
    REQUIRE(deep == i);
  }
  for (std::uint32_t i = 1; i <= 10000; ++i) REQUIRE(trie.child(1, 100 + i) == 10000 + i);
  std::uint32_t again = 0;
  for (std::uint32_t i = 1; i <= 10000; ++i) again = trie.child(again, i % 3 + 1);
  CHECK(again == deep);
  CHECK(trie.nodes()[deep - 1].depth == 10000);
  CHECK(trie.nodes().size() == 20000);
}

TEST_CASE("DeviceOwners: no evidence, no owner; one process, that one") {
  DeviceOwners owners;
  CHECK(owners.owner(1) == 0);
  CHECK(owners.mostly_unique(1));
  owners.vote(1, 10, 5, false);
  CHECK(owners.owner(1) == 10);
  CHECK(owners.owner(2) == 0);
}

TEST_CASE("DeviceOwners: a process whose calls come too late, are too few or far too old is ruled out") {
  DeviceOwners owners;
  for (int i = 0; i < 100; ++i) {
    for (const std::uint32_t device : {1U, 2U, 3U, 4U}) owners.vote(device, 10, 50'000, false);
    owners.vote(1, 20, i < 10 ? -5 : 40'000, false);
    if (i < 40) owners.vote(2, 20, 40'000, false);
    owners.vote(3, 20, 600'000, false);
    owners.vote(4, 20, i < 3 ? -5 : 200'000, false);  // clocks may disagree a little
  }
  CHECK(owners.owner(1) == 10);
  CHECK(owners.owner(2) == 10);
  CHECK(owners.owner(3) == 10);
  CHECK(owners.owner(4) == 0);
}

TEST_CASE("DeviceOwners: of those left, equal External ids tell, closeness does not") {
  DeviceOwners owners;
  owners.vote(1, 10, 5000, false);
  owners.vote(1, 20, 4000, false);
  CHECK(owners.owner(1) == 0);
  owners.vote(2, 10, 4000, false);
  owners.vote(2, 20, 5000, true);
  CHECK(owners.owner(2) == 20);
  owners.vote(3, 10, 4000, true);
  owners.vote(3, 20, 4000, true);
  CHECK(owners.owner(3) == 0);
}

TEST_CASE("DeviceOwners: delays may be as long as they like") {
  DeviceOwners owners;
  for (int i = 0; i < 3; ++i) owners.vote(1, 10, std::numeric_limits<std::int64_t>::max(), false);
  CHECK(owners.owner(1) == 10);
}

TEST_CASE("DeviceOwners: correlations most of which only one process has speak for themselves") {
  DeviceOwners owners;
  for (int i = 0; i < 4; ++i) owners.count_kernel(1, i == 0, 1);
  for (int i = 0; i < 4; ++i) owners.count_kernel(2, i < 2, 1);
  CHECK(owners.mostly_unique(1));
  CHECK_FALSE(owners.mostly_unique(2));
}

TEST_CASE("DeviceOwners: votes are linear in the kernels, and pairs of device and process bounded") {
  DeviceOwners owners;
  std::size_t votes = 0;
  for (int i = 0; i < 1000; ++i) votes += owners.count_kernel(1, true, 1000) ? 1000 : 0;
  CHECK(votes > 0);
  CHECK(votes <= 64 * 1000);
  DeviceOwners many;
  const auto vote = [&](std::uint32_t device) {
    for (std::uint32_t process = 1; process <= 64; ++process) many.vote(device, process, process == 1 ? 5 : -5, false);
  };
  for (std::uint32_t device = 1; device <= 4096; ++device) vote(device);
  CHECK(many.owner(4096) == 1);
  vote(4097);
  CHECK(many.owner(4097) == 0);  // not a guess from some of its processes
  CHECK_FALSE(many.count_kernel(4097, true, 1));
  CHECK(many.owner(1) == 1);
}

TEST_CASE("ExternalIdTable: dense, sparse and negative numbers") {
  ExternalIdTable table;
  const std::int64_t ids[] = {0, 1, 63, 64, 65, 30000000, std::int64_t{1} << 62U, -1, -64, -65};
  std::uint32_t row = 0;
  for (const std::int64_t id : ids) table.set(id, ++row);
  row = 0;
  for (const std::int64_t id : ids) CHECK(table.find(id) == ++row);
  CHECK(table.find(2) == 0);
  CHECK(table.find(-2) == 0);
  CHECK(table.find(1000) == 0);
  table.set(1, 99);
  CHECK(table.find(1) == 99);
}

TEST_CASE("OperatorTable: rows and starts, near and far apart") {
  OperatorTable table;
  const std::int64_t ids[] = {0, 1, 63, 64, 65, 30000000, std::int64_t{1} << 62U, -1, -64, -65};
  std::uint32_t row = 0;
  const auto start_of = [](std::uint32_t number) { return std::int64_t{1} << number * 5; };  // near and far apart
  for (const std::int64_t id : ids) {
    ++row;
    table.set(id, 1, row, start_of(row));
  }
  row = 0;
  for (const std::int64_t id : ids) {
    ++row;
    CHECK(table.find(id).row == row);
    CHECK(table.find(id).ts == start_of(row));
  }
  CHECK(table.find(2).row == 0);
  CHECK(table.find(-2).row == 0);
  CHECK(table.find(1000).row == 0);
  table.set(1, 1, 99, 7);
  CHECK(table.find(1).row == 99);
  CHECK(table.find(1).ts == 7);
}

TEST_CASE("OperatorTable: an id that several processes have is none") {
  OperatorTable table;
  table.set(1, 1, 10, 5);
  table.set(2, 2, 20, 6);  // of one page
  table.set(3, 1, 30, 7);
  CHECK(table.find(2).row == 20);
  CHECK(table.find(3).row == 30);
  table.set(1, 2, 11, 8);
  table.set(2, 2, 21, 9);
  CHECK(table.find(1).row == 0);
  CHECK(table.find(2).row == 21);
  table.set(1, 1, 12, 10);
  CHECK(table.find(1).row == 0);
}

}  // namespace tracedb
