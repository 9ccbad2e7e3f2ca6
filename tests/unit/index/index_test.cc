#include "index/index.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/stream/content_hash.h"
#include "base/text/characters.h"
#include "index/column_codec.h"
#include "index/inventory.h"
#include "index/locate.h"
#include "index/verify.h"
#include "support/refused.h"
#include "support/small_index.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

using Values = std::vector<std::int64_t>;

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

std::vector<std::byte> packed(const Values& values, ColumnCoding coding) {
  std::vector<std::byte> block;
  for (std::size_t i = 0; i < values.size(); i += kFrameRows) {
    append_frame(block, coding, std::span(values).subspan(i, std::min(kFrameRows, values.size() - i)));
  }
  end_block(block);
  return block;
}

// As an allocation of its own, lest reading beyond it go unnoticed.
template <class T>
bool unpacks(const std::vector<std::byte>& block, std::size_t rows, std::vector<T>& values) {
  const std::vector<std::byte> exact(block.begin(), block.end());
  values.assign(rows, T{0});
  return unpack_block(exact, std::span<T>(values));
}

// Bytes it took; both codings, into 64 and 32 bits.
std::size_t round_trip(const Values& values, ColumnCoding coding) {
  const std::vector<std::byte> block = packed(values, coding);
  Values wide;
  REQUIRE(unpacks(block, values.size(), wide));
  CHECK(wide == values);
  std::vector<std::uint32_t> narrow;
  REQUIRE(unpacks(block, values.size(), narrow));
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i) wrong += narrow[i] == static_cast<std::uint32_t>(values[i]) ? 0 : 1;
  CHECK(wrong == 0);
  return block.size();
}

constexpr ColumnCoding kCodings[] = {ColumnCoding::kValues, ColumnCoding::kDifferences};

TEST_CASE("what is packed comes back, for values of any size") {
  std::mt19937_64 chance(7);
  for (const ColumnCoding coding : kCodings) {
    for (unsigned width = 0; width <= 64; ++width) {
      for (const std::size_t rows : {1U, 2U, 63U, 1023U, 1024U, 1025U, 3000U}) {
        Values values(rows);
        const auto base = static_cast<std::int64_t>(chance());
        for (std::int64_t& value : values) {
          const std::uint64_t part = width == 0 ? 0 : chance() >> (64 - width);
          value = static_cast<std::int64_t>(static_cast<std::uint64_t>(base) + part);
          if (chance() % 97 == 0) value = chance() % 2 == 0 ? kLeast : static_cast<std::int64_t>(chance());
        }
        CAPTURE(width);
        CAPTURE(rows);
        round_trip(values, coding);
      }
    }
  }
}

TEST_CASE("extremes") {
  for (const ColumnCoding coding : kCodings) {
    round_trip({}, coding);
    for (const std::int64_t value : {kLeast, kMost, std::int64_t{0}, std::int64_t{-1}}) round_trip({value}, coding);
    round_trip({kLeast, kMost, kLeast, kMost, 0}, coding);
    Values alternating(5000);
    for (std::size_t i = 0; i < alternating.size(); ++i) alternating[i] = i % 2 == 0 ? kMost : kLeast;
    round_trip(alternating, coding);
    Values first_is_odd(2000, 5);
    first_is_odd[0] = kLeast;
    first_is_odd[1024] = kMost;
    round_trip(first_is_odd, coding);
  }
}

TEST_CASE("what says little takes little") {
  constexpr std::size_t kRows = 10 * kFrameRows, kFrameHeader = 20, kEnd = 8;
  Values constant(kRows, 123'456'789), steps(kRows), outliers(kRows, 7);
  for (std::size_t i = 0; i < kRows; ++i) steps[i] = static_cast<std::int64_t>(i) * 1000 - 5;
  CHECK(round_trip(constant, ColumnCoding::kValues) <= 10 * kFrameHeader + kEnd);
  CHECK(round_trip(constant, ColumnCoding::kDifferences) <= 10 * kFrameHeader + kEnd);
  CHECK(round_trip(steps, ColumnCoding::kDifferences) <= 10 * kFrameHeader + kEnd);
  CHECK(round_trip(Values(kRows, kLeast), ColumnCoding::kValues) <= 10 * kFrameHeader + kEnd);
  // A few odd ones cost ten bytes each, above and below the others alike.
  for (std::size_t i = 0; i < kRows; ++i) outliers[i] += static_cast<std::int64_t>(i % 2);
  for (std::size_t i = 100; i < kRows; i += 1000) outliers[i] = i % 2000 == 100 ? kLeast : kMost;
  CHECK(round_trip(outliers, ColumnCoding::kValues) <= 10 * (kFrameHeader + kFrameRows / 8 + 2 * 10) + kEnd);
}

TEST_CASE("a block of another number of rows is refused") {
  Values values(3000), out;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int64_t>(i * i);
  const std::vector<std::byte> block = packed(values, ColumnCoding::kValues);
  for (const std::size_t rows : {0U, 1U, 1024U, 2048U, 4096U, 100'000U}) CHECK_FALSE(unpacks(block, rows, out));
  CHECK_FALSE(unpacks({}, 0, out));
  CHECK_FALSE(unpacks({}, 1, out));
}

TEST_CASE("any damage is refused or gives other numbers, never a crash") {
  std::mt19937_64 chance(3);
  Values values(1500), out;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<std::int64_t>(i * 50 + chance() % 32);
    if (chance() % 60 == 0) values[i] = static_cast<std::int64_t>(chance());
  }
  int refused = 0;
  for (const ColumnCoding coding : kCodings) {
    const std::vector<std::byte> block = packed(values, coding);
    for (std::size_t at = 0; at < block.size(); ++at) {
      for (const unsigned flip : {0x01U, 0x80U, 0xffU}) {
        std::vector<std::byte> damaged = block;
        damaged[at] ^= static_cast<std::byte>(flip);
        refused += unpacks(damaged, values.size(), out) ? 0 : 1;
      }
    }
    for (std::size_t size = 0; size < block.size(); ++size) {
      const std::vector<std::byte> cut(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(size));
      CHECK_FALSE(unpacks(cut, values.size(), out));
    }
  }
  CHECK(refused > 0);
}

std::string refusal(const std::filesystem::path& path) {
  return refused(ErrorCode::kInput, [&] { Index::open(path); });
}

TEST_CASE("names that mean something in a URI are names") {
  const TempDirectory directory;
  for (const char* name : {"a?mode=memory", "b#c", "100%41", "file:x", "a b&c=d", "not-utf8-\xff"}) {
    write_small_index(directory / name);
    CHECK(Index::open(directory / name).meta_int64("events_read") == 12);
  }
}

TEST_CASE("what is no usable index is refused with advice") {
  const TempDirectory directory;
  const auto path = directory / "a.tracedb";
  const auto says = [](const std::filesystem::path& file, std::string_view what) {
    CAPTURE(what);
    CHECK(refusal(file).find(what) != std::string::npos);
  };
  says(path, "no such file");
  says(directory.path(), "is a directory");
  says(directory.write("empty", ""), "not an index");
  says(directory.write("json", "{}"), "not an index");
  says(directory.write("head", std::string_view("SQLite format 3\0", 16)), "not a tracedb index");
  const std::pair<const char*, const char*> changes[] = {
      {"PRAGMA application_id = 1", "not a tracedb index"},
      {"PRAGMA user_version = 99",
       "another version (99, and this program has 7); use the newer program that made it, or"},
      {"PRAGMA user_version = 6", "(6, and this program has 7); bring it to this one with trace-ingest --upgrade, or"},
      {"PRAGMA user_version = 4",
       "another version (4, and this program has 7); ingest the trace again with trace-ingest"},
      {"ALTER TABLE kernel ADD COLUMN other INTEGER",
       "made by another version of trace-ingest, or changed by another program (table kernel is not as this version "
       "makes it); ingest the trace again with trace-ingest --force"},
      {"DELETE FROM meta WHERE key = 'complete'", "never finished"},
      {"DROP VIEW trace_info; DROP TABLE meta", "no content"}};
  for (const auto& [change, what] : changes) {
    write_small_index(path);
    change_by_sql(path, change);
    says(path, what);
    std::filesystem::remove(path);
  }
  write_small_index(path);
  const auto size = std::filesystem::file_size(path);
  for (std::uintmax_t keep = 16384; keep < size; keep += 16384) {
    std::filesystem::resize_file(path, size - keep);
    CHECK_FALSE(refusal(path).empty());
  }
}

namespace fs = std::filesystem;

std::map<std::string, IndexState> states(const IndexInventory& inventory) {
  std::map<std::string, IndexState> found;
  for (const ListedIndex& index : inventory.indexes) found[index.path.filename().string()] = index.state;
  return found;
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

TEST_CASE("the sidecar's name is the trace's whole name and a suffix") {
  CHECK(sidecar_path("d/x.pt.trace.json.gz") == "d/x.pt.trace.json.gz.tracedb");
}

TEST_CASE("candidates: the sidecar first, then cached indexes of the same base name") {
  const TempDirectory directory;
  const auto trace = directory.write("t.json", "{}");
  const TempDirectory cache;
  CHECK(index_candidates(trace, cache.path()).empty());
  CHECK(index_candidates(trace, cache / "missing").empty());
  const auto cached = cache_path(cache.path(), ContentHash{1, 2}, trace);
  CHECK(cached.filename() == "00000000000000010000000000000002-t.json.tracedb");
  (void)cache.write(cached.filename().string(), "");
  (void)cache.write("00000000000000010000000000000002-other.json.tracedb", "");
  (void)cache.write("zz-t.json.tracedb", "");
  CHECK(index_candidates(trace, cache.path()) == std::vector<std::filesystem::path>{cached});
  const auto sidecar = directory.write("t.json.tracedb", "");
  CHECK(index_candidates(trace, cache.path()) == std::vector<std::filesystem::path>{sidecar, cached});
}

TEST_CASE("a name that is too long for a sidecar: the cache, under a part of the name") {
  const TempDirectory directory, cache;
  const std::string name(120, 'x');
  const auto short_one = directory.write(name + name.substr(0, 112), "{}");  // 232 bytes: just fits
  CHECK(new_index_path(short_one, {}) == sidecar_path(short_one));
  std::string umlauts = "xx";
  for (int i = 0; i < 120; ++i) umlauts += "\xc3\xa4";
  const auto long_one = directory.write(umlauts, "{}");
  const auto cached = new_index_path(long_one, cache.path());
  CHECK(cached.parent_path() == cache.path());
  CHECK(cached.filename().native().size() == 239);  // a whole character less than 240
  (void)cache.write(cached.filename().string(), "");
  CHECK(index_candidates(long_one, cache.path()) == std::vector<std::filesystem::path>{cached});
}

TEST_CASE("source paths are recorded as UTF-8 and read back, whatever their bytes") {
  for (const std::string name : {"/a/b.json", "-", "not-utf8-\xff\xfe.json", "line\nfeed", "\x7f", "\\", "\\x", "\\x4",
                                 "\\x41", "\\\\x41\\x0A", "\\x5cx41", "\xe6\x97\xa5\xe6", "", "50%20"}) {
    const std::string text = source_path_text(name);
    CHECK(valid_utf8(text).replaced == 0);
    CHECK(text.find('\n') == std::string::npos);
    CHECK(source_path(text) == name);
  }
  CHECK(source_path_text("/\xe6\x97\xa5/a b.json") == "/\xe6\x97\xa5/a b.json");
  CHECK(source_path_text("a\xff.json") == "a\\xff.json");
  CHECK(source_path_text("a\\x41") == "a\\x5cx41");
}

TEST_CASE("a sound index has no failed check") {
  const TempDirectory directory;
  write_small_index(directory / "a.tracedb");
  write_small_index(directory / "e.tracedb", SmallIndexContent::kEmpty);
  CHECK(failed_checks(directory / "a.tracedb").empty());
  CHECK(failed_checks(directory / "e.tracedb").empty());
}

TEST_CASE("each kind of damage to the numbers fails its own check") {
  const TempDirectory directory;
  const auto path = directory / "a.tracedb";
  write_small_index(path);
  const auto damaged = [&](const char* sql) {
    change_by_sql(path, sql);
    return failed_checks(path);
  };
  CHECK(damaged("UPDATE event_count SET skipped = 1 WHERE ph = 'M'") ==
        std::vector<std::string>{"conservation", "meta"});
  CHECK(damaged("UPDATE event_count SET skipped = 2 WHERE ph = 'M'; DELETE FROM cpu_op") ==
        std::vector<std::string>{"rows", "references"});
  CHECK(damaged("INSERT INTO cpu_op (ts, thread_id, name_id, depth) VALUES (0, 1, 1, 0);"
                "UPDATE kernel SET dur = dur + 1 WHERE id = 1") == std::vector<std::string>{"totals", "coverage"});
  CHECK(damaged("UPDATE kernel SET dur = dur - 1, launch_id = 99 WHERE id = 1") ==
        std::vector<std::string>{"references"});
  CHECK(damaged("UPDATE kernel SET launch_id = NULL WHERE id = 1") == std::vector<std::string>{"coverage"});
  CHECK(damaged("UPDATE kernel SET launch_id = 1 WHERE id = 1; UPDATE memory_op SET id = 2") ==
        std::vector<std::string>{"rows"});
  CHECK(damaged("UPDATE memory_op SET id = 1, launch_id = 99") == std::vector<std::string>{"references"});
  CHECK(damaged("UPDATE memory_op SET launch_id = NULL; DELETE FROM stream") == std::vector<std::string>{"references"});
}

}  // namespace
}  // namespace tracedb
