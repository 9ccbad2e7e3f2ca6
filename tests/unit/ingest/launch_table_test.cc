#include "ingest/launch_table.h"

#include <doctest/doctest.h>

#include <map>
#include <random>

using namespace tracedb;

namespace {

struct Case {
  std::string name;
  std::size_t buffer_bytes;
};
// Everything in memory; three pages of many in memory; less than one page asked for.
const Case kCases[] = {{"in memory", 1 << 20}, {"spilled", 50'000}, {"least", 1}};

LaunchTable table_of(const std::vector<LaunchRecord>& records, std::size_t buffer_bytes) {
  const SpoolOptions options{std::filesystem::temp_directory_path(), buffer_bytes};
  LaunchTable::Sorter sorter(options);
  for (const LaunchRecord& record : records) sorter.push(record);
  return LaunchTable(sorter, options);
}

std::vector<std::uint32_t> calls(std::span<const LaunchRecord> found) {
  std::vector<std::uint32_t> out;
  for (const LaunchRecord& record : found) out.push_back(record.call);
  return out;
}

}  // namespace

TEST_CASE("launches are found under their correlation, in order of time, wherever the table keeps them") {
  std::mt19937 random(7);
  std::vector<LaunchRecord> records;
  std::map<std::int64_t, std::vector<std::uint32_t>> expected;
  for (std::uint32_t call = 1; call <= 5000; ++call) {
    LaunchRecord record{};
    // Mostly counting up with some disorder and repetition, now and then anything at all.
    record.correlation = call % 50 == 0 ? static_cast<std::int64_t>(random()) - (1LL << 31) : call / 3 + random() % 40;
    record.ts = call;
    record.call = call;
    records.push_back(record);
    expected[record.correlation].push_back(call);
  }
  for (const Case& tried : kCases) {
    CAPTURE(tried.name);
    LaunchTable table = table_of(records, tried.buffer_bytes);
    for (const auto& [correlation, found] : expected) CHECK(calls(table.find(correlation)) == found);
    for (int i = 0; i < 2000; ++i) {
      const auto correlation = static_cast<std::int64_t>(random() % 2000) - 20;
      const auto known = expected.find(correlation);
      CHECK(calls(table.find(correlation)) == (known == expected.end() ? std::vector<std::uint32_t>{} : known->second));
    }
  }
}

TEST_CASE("launches under one correlation may fill several pages") {
  std::vector<LaunchRecord> records(2000);
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    records[i].correlation = i < 100 ? 1 : i < 1900 ? 2 : 3;
    records[i].call = i;
  }
  for (const Case& tried : kCases) {
    CAPTURE(tried.name);
    LaunchTable table = table_of(records, tried.buffer_bytes);
    CHECK(table.find(3).size() == 100);
    CHECK(table.find(2).size() == 1800);
    CHECK(table.find(2).front().call == 100);
    CHECK(table.find(2).back().call == 1899);
    CHECK(table.find(1).size() == 100);
    CHECK(table.find(0).empty());
    CHECK(table.find(4).empty());
  }
}

TEST_CASE("a table without launches finds nothing") {
  LaunchTable table = table_of({}, 0);
  CHECK(table.find(1).empty());
  CHECK(table.find(kUnset).empty());
}
