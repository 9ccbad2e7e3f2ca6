#include "ingest/store/external_sorter.h"

#include <doctest/doctest.h>

#include <random>

#include "support/temp_directory.h"

namespace tracedb {
namespace {

struct Item {
  std::int64_t key;
  std::int64_t order;  // when it was pushed: shows stability
  friend bool operator==(const Item&, const Item&) = default;
};
struct ByKey {
  bool operator()(const Item& a, const Item& b) const { return a.key < b.key; }
};
using Sorter = ExternalSorter<Item, ByKey>;

std::vector<Item> items(std::size_t count, std::int64_t keys, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<Item> out;
  for (std::size_t i = 0; i < count; ++i) {
    out.push_back(
        {static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(keys)), static_cast<std::int64_t>(i)});
  }
  return out;
}

std::vector<Item> read(Sorter& sorter) {
  std::vector<Item> out;
  sorter.start();
  for (; const Item* item = sorter.peek(); sorter.pop()) out.push_back(*item);
  return out;
}

std::vector<Item> sorted(std::vector<Item> input) {
  std::stable_sort(input.begin(), input.end(), ByKey{});
  return input;
}

}  // namespace

TEST_CASE("spilled or not, the order is that of a stable sort") {
  const TempDirectory directory;
  for (const std::size_t records : {16U, 17U, 100U, 1000U, 100000U}) {
    for (const std::size_t count : {0U, 1U, 15U, 16U, 17U, 32U, 33U, 1000U, 5000U}) {
      for (const std::int64_t keys : {1, 7, 1000000}) {
        const std::vector<Item> input = items(count, keys, static_cast<std::uint32_t>(count + records));
        Sorter sorter({directory.path(), records * sizeof(Item)});
        for (const Item& item : input) sorter.push(item);
        CAPTURE(records);
        CAPTURE(count);
        CAPTURE(keys);
        CHECK(sorter.size() == count);
        CHECK(read(sorter) == sorted(input));
        CHECK(read(sorter) == sorted(input));  // once more
      }
    }
  }
  CHECK(std::filesystem::is_empty(directory.path()));
}

TEST_CASE("a reading given up half-way starts again from the smallest record") {
  const TempDirectory directory;
  const std::vector<Item> input = items(3000, 50, 3);
  for (const std::size_t records : {std::size_t{64}, std::size_t{10000}}) {
    Sorter sorter({directory.path(), records * sizeof(Item)});
    for (const Item& item : input) sorter.push(item);
    sorter.start();
    for (int i = 0; i < 1234; ++i) sorter.pop();
    CHECK(read(sorter) == sorted(input));
  }
}

TEST_CASE("runs in order, in reverse order, and interleaved") {
  const TempDirectory directory;
  for (const int step : {1, -1, 7919}) {
    Sorter sorter({directory.path(), 64 * sizeof(Item)});
    std::vector<Item> input;
    for (std::int64_t i = 0; i < 4000; ++i) input.push_back({(i * step) % 4001, i});
    for (const Item& item : input) sorter.push(item);
    CHECK(read(sorter) == sorted(input));
  }
}

TEST_CASE("orders of records: longer intervals first") {
  struct Interval {
    std::int64_t ts, dur;
  };
  CHECK(ByTime{}(Interval{1, 5}, Interval{2, 9}));
  CHECK(ByTime{}(Interval{1, 5}, Interval{1, 4}));
  CHECK_FALSE(ByTime{}(Interval{1, 5}, Interval{1, 5}));
  CHECK_FALSE(ByTimestamp{}(Interval{1, 5}, Interval{1, 4}));
}

TEST_CASE("a directory that does not exist is an error when it is needed") {
  Sorter sorter({"/nonexistent/for/tests", 16 * sizeof(Item)});
  for (std::int64_t i = 0; i < 16; ++i) sorter.push({i, i});
  CHECK_THROWS(sorter.push({16, 16}));
}

}  // namespace tracedb
