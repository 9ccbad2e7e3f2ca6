#include <doctest/doctest.h>

#include "ingest/device_owners.h"
#include "ingest/external_id_table.h"
#include "ingest/stack_trie.h"

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

TEST_CASE("DeviceOwners: the process whose calls come before the kernels") {
  DeviceOwners owners;
  CHECK(owners.owner(1) == 0);
  owners.vote(1, 10, 5, false);
  CHECK(owners.owner(1) == 10);
  owners.vote(1, 20, -5, false);
  CHECK(owners.owner(1) == 10);
  CHECK(owners.owner(2) == 0);
}

TEST_CASE("DeviceOwners: equal External ids count more, then closeness") {
  DeviceOwners owners;
  owners.vote(1, 10, 5, false);
  owners.vote(1, 20, 500, true);
  CHECK(owners.owner(1) == 20);
  owners.vote(2, 10, 5, false);
  owners.vote(2, 20, 4, false);
  CHECK(owners.owner(2) == 20);
}

TEST_CASE("DeviceOwners: no difference, no owner") {
  DeviceOwners owners;
  owners.vote(1, 10, 5, false);
  owners.vote(1, 20, 5, false);
  CHECK(owners.owner(1) == 0);
  owners.vote(1, 30, 5, true);
  CHECK(owners.owner(1) == 30);
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

}  // namespace tracedb
