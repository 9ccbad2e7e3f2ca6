#include <doctest/doctest.h>
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>

#include "base/error.h"
#include "base/unknown.h"
#include "index/packed_columns.h"
#include "index/verify.h"
#include "ingest/store/event_batch.h"
#include "ingest/store/external_sorter.h"
#include "ingest/store/records.h"
#include "ingest/write/index_writer.h"
#include "sql/scripts.h"
#include "support/ingested.h"
#include "support/places.h"
#include "support/refused.h"
#include "support/small_index.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

TEST_CASE("equal bytes get the number of their first appearance") {
  Interner interner;
  CHECK(interner.intern("a").id == 1);
  CHECK(interner.intern("").id == 2);
  CHECK(interner.intern("").is_new == false);
  CHECK(interner.intern(std::string_view("\0", 1)).id == 3);
  CHECK(interner.intern(std::string_view("a\0", 2)).id == 4);
  CHECK(interner.intern("a").id == 1);
  CHECK(interner.text(4) == std::string_view("a\0", 2));
  CHECK(interner.size() == 4);
}

TEST_CASE("a cleared batch stores nothing twice") {
  EventBatch batch;
  batch.stacks.push_back({1});
  batch.handoffs.push_back({});
  batch.clear();
  CHECK(batch.stacks.empty());
  CHECK(batch.handoffs.empty());
}

TEST_CASE("what is forgotten is new again") {
  Interner interner;
  for (int i = 0; i < 3000; ++i) interner.intern("text " + std::to_string(i));
  for (int i = 0; i < 2000; ++i) interner.forget_last();
  CHECK(interner.size() == 1000);
  CHECK(interner.intern("text 2999").id == 1001);
  CHECK(interner.intern("text 999").id == 1000);
  CHECK_FALSE(interner.intern("text 2999").is_new);
}

TEST_CASE("numbers and texts outlive growth") {
  Interner interner;
  const std::string_view first = interner.text(interner.intern("text 0").id);
  for (int i = 0; i < 20000; ++i)
    CHECK(interner.intern("text " + std::to_string(i)).id == static_cast<std::uint32_t>(i + 1));
  for (int i = 0; i < 20000; ++i) {
    const Interner::Entry entry = interner.intern("text " + std::to_string(i));
    REQUIRE(entry.id == static_cast<std::uint32_t>(i + 1));
    REQUIRE_FALSE(entry.is_new);
  }
  CHECK(first == "text 0");
  CHECK(first.data() == interner.text(1).data());
}

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

TEST_CASE("blocks of records are read as they were appended, in any order") {
  const TempDirectory directory;
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min(), kMost = ~kLeast;
  std::mt19937_64 random(11);
  std::vector<std::vector<Item>> blocks = {
      {}, {{0, 0}}, {{kLeast, kMost}, {kMost, kLeast}, {0, -1}}, {{-1, 1}, {-1, 1}, {255, 256}, {65535, 65536}}};
  for (int shift = 0; shift < 64; ++shift) {  // differences of every length
    std::vector<Item>& block = blocks.emplace_back();
    for (std::size_t i = 0; i < 700; ++i)
      block.push_back({static_cast<std::int64_t>(random() >> shift), static_cast<std::int64_t>(random() << shift)});
  }
  RecordFile<Item> file(directory.path());
  std::size_t bytes = 0;
  for (const std::vector<Item>& block : blocks) {
    file.append(block);
    bytes += block.size() * sizeof(Item);
  }
  CHECK(file.bytes() < bytes);
  REQUIRE(file.blocks() == blocks.size());
  std::vector<Item> found;
  for (std::size_t i = blocks.size(); i-- > 0;) {
    file.read(i, found);
    CHECK(found == blocks[i]);
  }
  file.append(blocks[2]);
  file.read(blocks.size(), found);
  CHECK(found == blocks[2]);
  CHECK(std::filesystem::is_empty(directory.path()));
}

#ifndef TRACEDB_SANITIZED  // whose own allocator counts nothing
TEST_CASE("what was sorted in files is not held in memory as well") {
  const auto held = [] {
    const struct mallinfo2 memory = mallinfo2();
    return static_cast<std::int64_t>(memory.uordblks + memory.hblkhd);
  };
  constexpr std::int64_t kBuffer = 16 << 20;
  const TempDirectory directory;
  Sorter sorter({directory.path(), kBuffer});
  const std::int64_t before = held();
  for (std::int64_t i = 0; i < 3 * kBuffer / 2 / std::int64_t{sizeof(Item)}; ++i) sorter.push({-i, i});
  CHECK(held() - before >= kBuffer);
  sorter.start();
  CHECK(held() - before < kBuffer / 4);
  sorter.release();
  CHECK(held() - before < kBuffer / 64);
}
#endif

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

// Packed columns from ingest to reader: table packed_column.

constexpr std::string_view kKinds[] = {"one", "two"};
const ScanColumn kColumns[] = {{"ts"},
                               {"n"},
                               {"some_id", ScanType::kId, {}},
                               {"kind", ScanType::kChoice, kKinds},
                               {"launch_id", ScanType::kId, {}},
                               {"other_id", ScanType::kId, {}}};
constexpr std::size_t kPacked = 5;  // the last one is not

// Table t of so many rows, and its packed columns.
std::filesystem::path write_packed(const TempDirectory& folder, std::size_t rows) {
  std::filesystem::path path = folder / fmt::format("{}.db", rows);
  Database database(path, Database::Mode::kCreate);
  database.execute(script("core"));
  database.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, ts, n, some_id, kind, launch_id, other_id); BEGIN");
  const PackedTable table{"t", std::span(kColumns).first(kPacked)};
  ColumnPacker packer(table, {"ts", "n", "some_id", "kind", "launch_id", "other_id"}, folder.path());
  Statement insert(database, "INSERT INTO t VALUES (NULL, ?, ?, ?, ?, ?, ?)");
  std::mt19937_64 chance(rows);
  std::vector<std::int64_t> block;
  std::int64_t ts = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    ts += static_cast<std::int64_t>(chance() % 20'000);
    const auto kind = static_cast<std::int64_t>(chance() % 2);
    const std::int64_t cells[] = {
        ts,
        chance() % 50 == 0 ? kUnknownValue : static_cast<std::int64_t>(chance() >> (chance() % 64)),
        chance() % 3 == 0 ? kUnknownValue : static_cast<std::int64_t>(chance() % 5000),
        kind,
        chance() % 20 == 0 ? kUnknownValue : static_cast<std::int64_t>(i + chance() % 8),
        static_cast<std::int64_t>(i)};
    for (int c = 0; c < 6; ++c) {
      const std::int64_t cell = cells[c];
      cell == kUnknownValue ? insert.bind_null(c + 1)
      : c == 3              ? insert.bind(4, kKinds[kind])
                            : insert.bind(c + 1, cell);
    }
    insert.run();
    block.insert(block.end(), std::begin(cells), std::end(cells));
    if (chance() % 700 == 0) packer.add(std::exchange(block, {}));  // blocks of any size
  }
  packer.add(block);
  packer.write(database);
  database.execute("COMMIT");
  return path;
}

std::size_t differences(Database& database) {
  const ScannedColumns packed = read_columns(database, "t", kColumns);
  const ScannedColumns scanned = scan_columns(database, "t", kColumns);
  REQUIRE(packed.rows == scanned.rows);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < std::size(kColumns); ++i) {
    const auto numbers = packed.columns[i].numbers.span();
    const auto ids = packed.columns[i].ids.span();
    REQUIRE(numbers.size() + ids.size() == packed.rows);
    const bool same = kColumns[i].type == ScanType::kNumber
                          ? std::equal(numbers.begin(), numbers.end(), scanned.columns[i].numbers.span().begin())
                          : std::equal(ids.begin(), ids.end(), scanned.columns[i].ids.span().begin());
    wrong += same ? 0 : 1;
  }
  return wrong;
}

std::string refusal(const std::filesystem::path& path) {
  Database database(path, Database::Mode::kReadOnly);
  return refused(ErrorCode::kInput, [&] { read_columns(database, "t", kColumns); });
}

bool refused_after(const std::filesystem::path& path, std::string_view change) {
  const std::filesystem::path copy = path.string() + ".copy";
  std::filesystem::copy_file(path, copy, std::filesystem::copy_options::overwrite_existing);
  change_by_sql(copy, change);
  return refusal(copy).find("build the index again") != std::string::npos;
}

const std::string kPackedTrace = trace_of(
    event("cuda_runtime", "cudaLaunchKernel", kMainThread, "10", "2", R"("correlation":5)") +
    event("cuda_runtime", "cudaLaunchKernel", kMainThread, "14", "2", R"("correlation":6)") +
    event("kernel", "ncclDevKernel_AllReduce", kGpuStream, "20.5", "9", R"("stream":7,"device":0,"correlation":5)") +
    event("kernel", "gemm", kGpuStream, "40", "3.125", R"("stream":8,"device":0,"correlation":6)") +
    R"({"ph":"X","cat":"kernel","name":"odd","pid":0,"tid":7,"ts":50,"dur":"x","args":{"stream":7,"device":0}})");

// A bit of the data in turn, at places spread over all blocks.
void flip_bits(const std::filesystem::path& path, std::size_t how_many) {
  Database database(path, Database::Mode::kReadWrite);
  Statement blocks(database, "SELECT rowid, data FROM packed_column ORDER BY name, block");
  std::vector<std::pair<std::int64_t, std::string>> changed;
  std::size_t round = 0;
  while (blocks.step()) {
    const auto data = blocks.blob(1);
    const std::string text(reinterpret_cast<const char*>(data.data()), data.size());
    for (const std::size_t i : places(0, how_many, round++)) {
      changed.emplace_back(blocks.int64(0), text);
      char& byte = changed.back().second[text.size() * i / how_many];
      byte = static_cast<char>(byte ^ (1 << i % 8));
    }
  }
  blocks.reset();
  Statement update(database, "UPDATE packed_column SET data = ? WHERE rowid = ?");
  std::size_t refused = 0;
  for (const auto& [row, data] : changed) {
    const std::span bytes(reinterpret_cast<const std::byte*>(data.data()), data.size());
    Statement before(database, "SELECT data FROM packed_column WHERE rowid = ?");
    before.bind(1, row).step();
    const std::string kept(before.text(0));
    before.reset();
    update.bind(1, bytes).bind(2, row).run();
    refused += refusal(path).empty() ? 0 : 1;
    update.bind(1, std::span(reinterpret_cast<const std::byte*>(kept.data()), kept.size())).bind(2, row).run();
  }
  CHECK(refused == changed.size());
  CHECK(changed.size() > 100 / test_stride());
}

TEST_CASE("no bit of a packed column flips unseen") {
  const TempDirectory folder;
  const auto path = write_packed(folder, kBlockRows + 10);
  flip_bits(path, 20);
  CHECK(refusal(path).empty());
}

TEST_CASE("packed columns are those of the table, to the last row of any frame and block") {
  const TempDirectory folder;
  for (const std::size_t rows : {std::size_t{0}, std::size_t{1}, kFrameRows - 1, kFrameRows, kFrameRows + 1, kBlockRows,
                                 kBlockRows + 1, kBlockRows + 2 * kFrameRows + 3}) {
    CAPTURE(rows);
    Database database(write_packed(folder, rows), Database::Mode::kReadOnly);
    CHECK(differences(database) == 0);
    for (std::size_t i = 0; i < std::size(kColumns); ++i) {
      CHECK(is_packed(database, "t", kColumns[i].name) == (i < kPacked && rows > 0));
    }
  }
}

TEST_CASE("columns without a copy are read from the table") {
  const TempDirectory folder;
  const auto path = write_packed(folder, 2000);
  for (const char* change : {"DELETE FROM packed_column WHERE name = 'n'", "DELETE FROM packed_column"}) {
    change_by_sql(path, change);
    Database database(path, Database::Mode::kReadOnly);
    CHECK(differences(database) == 0);
  }
}

TEST_CASE("copies that cannot be are refused") {
  const TempDirectory folder;
  const auto path = write_packed(folder, kBlockRows + 10);
  CHECK(refusal(path).empty());
  for (const char* change :
       {"DELETE FROM t WHERE id > 65536", "INSERT INTO t (ts) VALUES (1)", "INSERT INTO t (id) VALUES (1 << 60)",
        "DELETE FROM packed_column WHERE block = 0", "DELETE FROM packed_column WHERE block = 1",
        "UPDATE packed_column SET block = 7 WHERE block = 1", "UPDATE packed_column SET n = n - 1",
        "UPDATE packed_column SET data = x''", "UPDATE packed_column SET data = substr(data, 1, length(data) - 1)",
        "UPDATE packed_column SET data = CAST(data || x'00' AS BLOB)", "UPDATE packed_column SET data = zeroblob(99)",
        "INSERT INTO packed_column SELECT event_table, name, 2, n, data, hash FROM packed_column WHERE block = 1",
        "DROP TABLE packed_column"}) {
    CAPTURE(change);
    if (std::string_view(change).starts_with("DROP")) {
      change_by_sql(path, change);
      CHECK_FALSE(refusal(path).empty());
    } else {
      CHECK(refused_after(path, change));
    }
  }
}

TEST_CASE("ingest packs columns of kernels, and verify compares them") {
  const Ingested ingested(kPackedTrace);
  const auto path = ingested.directory() / "index";
  {
    const Index index = Index::open(path);
    for (const PackedTable& table : packed_tables()) {
      for (const ScanColumn& column : table.columns) CHECK(is_packed(index.database(), table.name, column.name));
    }
    REQUIRE(packed_tables()[0].name == "kernel");
    const ScannedColumns columns = read_columns(index.database(), "kernel", packed_tables()[0].columns);
    REQUIRE(columns.rows == 3);
    const auto dur = columns.columns[1].numbers.span();
    CHECK(std::vector<std::int64_t>(dur.begin(), dur.end()) == std::vector<std::int64_t>{9000, 3125, kUnknownValue});
    const auto pass = columns.columns.back().ids.span();
    CHECK(std::vector<std::uint32_t>(pass.begin(), pass.end()) == std::vector<std::uint32_t>{0, 0, 0});
    const auto kind = columns.columns[columns.columns.size() - 2].ids.span();
    CHECK(std::vector<std::uint32_t>(kind.begin(), kind.end()) == std::vector<std::uint32_t>{2, 1, 1});
  }
  CHECK(failed_checks(path).empty());
  const std::pair<const char*, std::size_t> changes[] = {
      // Another value, another table, no copy at all.
      {"UPDATE packed_column SET (data, hash) = (SELECT data, hash FROM packed_column WHERE event_table = 'kernel' "
       "AND name = 'ts') WHERE event_table = 'kernel' AND name = 'dur'",
       1},
      {"UPDATE kernel SET step_id = NULL, stream_id = 3 - stream_id", 1},
      {"UPDATE packed_column SET data = x'00' WHERE event_table = 'kernel' AND name IN ('ts', 'kind')", 2}};
  for (const auto& [change, wrong] : changes) {
    const Ingested damaged(kPackedTrace);
    change_by_sql(damaged.directory() / "index", change);
    CHECK(failed_checks(damaged.directory() / "index") == std::vector<std::string>(wrong, "columns"));
  }
}

}  // namespace
}  // namespace tracedb
