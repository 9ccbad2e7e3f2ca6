#include "ingest/link/launch_table.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

namespace tracedb {
namespace {

struct Case {
  std::string name;
  std::size_t buffer_bytes;
};
// Everything in memory; three pages of many in memory; less than one page asked for.
const Case kCases[] = {{"in memory", 1 << 20}, {"spilled", 50'000}, {"least", 1}};

LaunchTable table_of(const std::vector<LaunchRecord>& records, std::size_t buffer_bytes) {
  const SpoolOptions options{std::filesystem::temp_directory_path(), buffer_bytes};
  LaunchSorter sorter(options);
  for (const LaunchRecord& record : records) sorter.push(record);
  return LaunchTable(sorter, options);
}

LaunchRecord launch(std::int64_t correlation, std::uint32_t process, CallKind kind, std::int64_t ts) {
  LaunchRecord record{};
  record.correlation = correlation;
  record.process = process;
  record.kind = kind;
  record.ts = ts;
  return record;
}

}  // namespace

TEST_CASE("a launch table is a sorted list, wherever it keeps its pages") {
  std::mt19937 random(7);
  std::vector<LaunchRecord> records;
  for (std::uint32_t call = 0; call < 5000; ++call) {
    // Mostly counting up with some disorder and repetition, now and then anything at all.
    const std::int64_t correlation =
        call % 50 == 0 ? static_cast<std::int64_t>(random()) - (1LL << 31) : call / 3 + random() % 40;
    const CallKind kinds[] = {CallKind::kLaunch, CallKind::kSync, CallKind::kOther};
    records.push_back(launch(correlation, static_cast<std::uint32_t>(1 + random() % 3), kinds[random() % 3], call));
    records.back().origin.call = call;
  }
  std::vector<LaunchRecord> sorted = records;
  std::stable_sort(sorted.begin(), sorted.end(), ByLaunchKey{});
  for (const Case& tried : kCases) {
    CAPTURE(tried.name);
    LaunchTable table = table_of(records, tried.buffer_bytes);
    REQUIRE(table.size() == sorted.size());
    for (std::size_t i = 0; i < sorted.size(); ++i) REQUIRE(table.at(i).origin.call == sorted[i].origin.call);
    for (int i = 0; i < 3000; ++i) {
      const LaunchKey key{static_cast<std::int64_t>(random() % 2000) - 20, static_cast<std::uint32_t>(random() % 5),
                          static_cast<unsigned>(random() % 3), static_cast<std::int64_t>(random() % 5000)};
      const auto expected =
          std::find_if(sorted.begin(), sorted.end(), [&](const LaunchRecord& record) { return key_of(record) >= key; });
      CHECK(table.lower_bound(key) == static_cast<std::size_t>(expected - sorted.begin()));
    }
  }
}

TEST_CASE("the launch among the calls comes first") {
  LaunchTable table = table_of({launch(1, 1, CallKind::kSync, 5), launch(1, 1, CallKind::kOther, 6),
                                launch(1, 1, CallKind::kGraphLaunch, 7), launch(1, 1, CallKind::kCopy, 4)},
                               1);
  CHECK(table.at(0).kind == CallKind::kCopy);
  CHECK(table.at(1).kind == CallKind::kGraphLaunch);
  CHECK(table.at(2).kind == CallKind::kOther);
  CHECK(table.at(3).kind == CallKind::kSync);
}

TEST_CASE("a table without launches finds nothing") {
  LaunchTable table = table_of({}, 0);
  CHECK(table.size() == 0);
  CHECK(table.lower_bound({1, 0, 0, 0}) == 0);
}

}  // namespace tracedb
