#include "fleet/catalogue.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "support/temp_directory.h"

namespace tracedb {
namespace {

TraceSummary sample() {
  TraceSummary out;
  out.source = "/data/a\tb\n\\c.json";
  out.source_bytes = 12;
  out.vendor = "nvidia";
  out.model = "";
  out.gpu = "=H100";
  out.rank = 3;
  out.kernels = 77;
  out.date_ns = 1'763'000'000'000'000'000;
  out.complete = false;
  out.phases = {{"decode", 9, 500, 1234, std::nullopt}, {"prefill", 1, 200, std::nullopt, 99}};
  return out;
}

FileIdentity identity(std::uint64_t bytes) { return {1, 2, bytes, 3, 4}; }

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void check_same(const TraceSummary* found) {
  REQUIRE(found != nullptr);
  const TraceSummary expected = sample();
  CHECK(found->source == expected.source);
  CHECK(found->source_bytes == 12);
  CHECK_FALSE(found->source_inode);
  CHECK(found->gpu == "=H100");
  CHECK(found->model == "");
  CHECK_FALSE(found->framework);
  CHECK(found->rank == 3);
  CHECK(found->kernels == 77);
  CHECK(found->date_ns == expected.date_ns);
  CHECK_FALSE(found->complete);
  REQUIRE(found->phases.size() == 2);
  CHECK(found->phases[0].period == 1234);
  CHECK_FALSE(found->phases[0].span);
  CHECK(found->phases[1].phase == "prefill");
  CHECK(found->phases[1].span == 99);
}

TEST_CASE("summaries come back as they were, for the same state of the file only") {
  const TempDirectory folder;
  const auto place = folder.path() / "cache";
  {
    SummaryCache cache(place);
    cache.add("/x/i.tracedb", identity(10), sample());
    cache.save();
  }
  CHECK(std::filesystem::exists(place / "CACHEDIR.TAG"));
  const SummaryCache cache(place);
  check_same(cache.find("/x/i.tracedb", identity(10)));
  check_same(cache.find("/x/../x/i.tracedb", identity(10)));
  CHECK(cache.find("/x/i.tracedb", identity(11)) == nullptr);
  CHECK(cache.find("/x/j.tracedb", identity(10)) == nullptr);
}

TEST_CASE("two writers keep what the other wrote") {
  const TempDirectory folder;
  SummaryCache first(folder.path()), second(folder.path());
  first.add("/a", identity(1), sample());
  second.add("/b", identity(2), sample());
  first.save();
  second.save();
  const SummaryCache cache(folder.path());
  CHECK(cache.find("/a", identity(1)) != nullptr);
  CHECK(cache.find("/b", identity(2)) != nullptr);
}

TEST_CASE("a damaged file counts as none, byte by byte") {
  const TempDirectory folder;
  {
    SummaryCache cache(folder.path());
    cache.add("/a", identity(1), sample());
    cache.save();
  }
  const auto file = folder.path() / "summaries";
  const std::string whole = bytes_of(file);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    std::ofstream(file, std::ios::binary) << damaged;
    CHECK(SummaryCache(folder.path()).find("/a", identity(1)) == nullptr);
    std::ofstream(file, std::ios::binary | std::ios::trunc) << whole.substr(0, at);
    CHECK(SummaryCache(folder.path()).find("/a", identity(1)) == nullptr);
  }
  std::ofstream(file, std::ios::binary) << whole;
  CHECK(SummaryCache(folder.path()).find("/a", identity(1)) != nullptr);
}

TEST_CASE("a place that cannot be written is no failure") {
  const TempDirectory folder;
  std::ofstream(folder.path() / "file") << "text";
  for (const auto& place : {folder.path() / "file", std::filesystem::path()}) {
    SummaryCache cache(place);
    cache.add("/a", identity(1), sample());
    cache.save();
    CHECK(SummaryCache(place).find("/a", identity(1)) == nullptr);
  }
}

}  // namespace
}  // namespace tracedb
