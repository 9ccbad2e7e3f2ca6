// Tables that are packed alone (schema/packed.sql): python_call and flow_unmatched as SQL and as blocks, damage to
// blocks, and indexes of the version in which they were tables.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>
#include <string>
#include <vector>

#include "base/unknown.h"
#include "index/index.h"
#include "index/packed_columns.h"
#include "ingest/upgrade.h"
#include "support/refused.h"
#include "support/rows.h"
#include "support/small_index.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

constexpr std::size_t kCalls = kBlockRows + 5000;

// Nested calls of two threads; every tenth has no known duration, and the first of thread 1 never ends.
std::filesystem::path write_calls(const TempDirectory& folder) {
  std::filesystem::path path = folder / "index.tracedb";
  write_small_index(path, SmallIndexContent::kEmpty);
  Database database(path, Database::Mode::kReadWrite);
  database.execute(
      "INSERT INTO string (id, value) VALUES (1, 'f'); INSERT INTO frame (id, name_id) VALUES (1, 1), (2, 1); "
      "INSERT INTO stack VALUES (1, NULL, 1, 1), (2, 1, 1, 2); BEGIN");
  const PackedTable& table = *packed_table("python_call");
  ColumnPacker packer(table, {"ts", "dur", "thread_id", "stack_id"}, folder.path());
  std::mt19937_64 chance(7);
  std::int64_t ts = 0;
  for (std::size_t i = 0; i < kCalls; ++i) {
    ts += static_cast<std::int64_t>(chance() % 50);
    const auto length = static_cast<std::int64_t>(chance() % (chance() % 100 == 0 ? 400'000 : 300));
    const std::int64_t dur = i == 0 ? 1'000'000'000 : i % 10 == 9 ? kUnknownValue : length;
    const std::int64_t cells[] = {ts, dur, static_cast<std::int64_t>(i % 2 + 1), static_cast<std::int64_t>(i % 2 + 1)};
    packer.add(cells);
  }
  packer.write(database);
  database.execute(
      fmt::format("INSERT INTO event_count VALUES ('python_function', 'X', {0}, {0}, 0, NULL); UPDATE meta SET "
                  "value = {0} WHERE key IN ('events_read', 'events_stored'); COMMIT",
                  kCalls));
  return path;
}

TEST_CASE("packed calls are rows of a table") {
  const TempDirectory folder;
  const Index index = open_small_index(folder / "index");
  Database& database = index.database();
  CHECK(rows_of(database, "SELECT * FROM python_call") == "1 0 9000 1 1; 2 1 8000 1 2; 3 2 7000 1 3");
  CHECK(rows_of(database, "SELECT id FROM python_call WHERE ts >= 1 AND dur < 8000") == "3");
  CHECK(rows_of(database, "SELECT * FROM python_calls_at(1, 1)") == "1 0 9000 1 1; 2 1 8000 1 2");
  CHECK(rows_of(database, "SELECT id FROM python_calls_at(1, 8001)") == "1");
  CHECK(rows_of(database, "SELECT count(*) FROM python_calls_at(2, 1)") == "0");
  CHECK(rows_of(database, "SELECT count(*) FROM python_calls_at(1, NULL)") == "0");
  CHECK(rows_of(database, "SELECT t.id, c.id FROM (SELECT 1 AS id, 8500 AS ts) t JOIN python_calls_at(t.id, t.ts) c") ==
        "1 1");
  CHECK(refused(ErrorCode::kUsage, [&] { rows_of(database, "SELECT * FROM python_calls_at"); }) != "");
  CHECK(rows_of(database, "SELECT count(*) FROM flow_unmatched") == "0");
}

TEST_CASE("blocks give the calls that all rows give") {
  const TempDirectory folder;
  const auto path = write_calls(folder);
  CHECK(failed_checks(path) == std::vector<std::string>{});
  const Index index = Index::open(path);
  Database& database = index.database();
  CHECK(row_count(database, "python_call") == kCalls);
  CHECK(rows_of(database, "SELECT count(*), max(id) FROM python_call") == fmt::format("{0} {0}", kCalls));
  BlockReader times(database, "python_call", packed_table("python_call")->columns);
  std::size_t read = 0;
  while (times.next()) {
    CHECK(times.first() == read);
    read += times.numbers(0).size();
  }
  CHECK(read == kCalls);
  for (const std::int64_t at : {-1, 0, 77, 400'000, 1'200'000, 1'605'000, 1'650'000, 2'000'000'000}) {
    CAPTURE(at);
    CHECK(fmt::format("{}", times.rows_before(at)) ==
          rows_of(database, fmt::format("SELECT count(*) FROM python_call WHERE ts < {}", at)));
    const std::string open = "SELECT group_concat(id) FROM ";
    CHECK(rows_of(database, fmt::format("{}python_calls_at(2, {})", open, at)) ==
          rows_of(database,
                  fmt::format("{0}python_call WHERE ts <= {1} AND ts + dur > {1} AND thread_id = 2", open, at)));
  }
}

TEST_CASE("a damaged block loses its calls and no others, and is named") {
  const std::string blank_data =
      "UPDATE packed_column SET data = zeroblob(length(data)) WHERE event_table = 'python_call' ";
  struct Damage {
    std::string change;
    std::size_t kept;
  };
  const Damage damages[] = {
      {blank_data + "AND name = 'ts' AND block = 0", kCalls - kBlockRows},
      {blank_data + "AND name = 'stack_id' AND block = 1", kBlockRows},
      {"UPDATE packed_column SET hash = 1 WHERE event_table = 'python_call' AND name = 'dur'", 0},
      {"DELETE FROM packed_column WHERE event_table = 'python_call' AND name = 'dur' AND block = 1", kBlockRows}};
  for (const Damage& damage : damages) {
    const std::string& change = damage.change;
    const std::size_t kept = damage.kept;
    CAPTURE(change);
    const TempDirectory folder;
    const auto path = write_calls(folder);
    change_by_sql(path, change);
    const Index index = Index::open(path);
    BlockReader reader(index.database(), "python_call", packed_table("python_call")->columns);
    std::size_t read = 0;
    while (reader.next()) read += reader.numbers(0).size();
    CHECK(read == kept);
    const std::vector<std::string> notes = index.database().take_notes();
    REQUIRE(notes.size() == (kept == 0 ? 2 : 1));
    CHECK(notes[0].find(kept == kBlockRows ? "block 1 of" : "block 0 of") != std::string::npos);
    CHECK(rows_of(index.database(), "SELECT count(*) FROM python_call") == std::to_string(kCalls));
    CHECK(failed_checks(path) == std::vector<std::string>(notes.size(), "columns"));
  }
}

TEST_CASE("what packed_block cannot say is refused before it sizes anything") {
  for (const char* change :
       {"SET n = 1 << 60 WHERE block = 1", "SET n = -1 WHERE block = 1", "SET n = 5 WHERE block = 0",
        "SET block = 7 WHERE block = 1", "SET n = 0", "SET block = block - 1"}) {
    CAPTURE(change);
    const TempDirectory folder;
    const auto path = write_calls(folder);
    change_by_sql(path, fmt::format("UPDATE packed_block {}", change));
    const Index index = Index::open(path);
    CHECK(refused(ErrorCode::kInput, [&] { row_count(index.database(), "python_call"); }).find("packed_block") !=
          std::string::npos);
  }
  const TempDirectory folder;
  const auto path = write_calls(folder);
  change_by_sql(
      path,
      "DELETE FROM packed_block; WITH RECURSIVE b(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM b WHERE n < 20000) "
      "INSERT INTO packed_block SELECT 'python_call', n, 65536, 0, 0, 0 FROM b");
  CHECK(refused(ErrorCode::kInput, [&] { row_count(Index::open(path).database(), "python_call"); }) != "");
}

TEST_CASE("other times than a block has are found") {
  const TempDirectory folder;
  const auto path = write_calls(folder);
  change_by_sql(path, "UPDATE packed_block SET latest_end = latest_end - 1 WHERE block = 1");
  CHECK(failed_checks(path) == std::vector<std::string>{"columns"});
}

// An index of the small trace as version 5 had it.
std::filesystem::path write_old_index(const TempDirectory& folder) {
  std::filesystem::path path = folder / "old.tracedb";
  write_small_index(path);
  change_by_sql(path, script("packed"));
  change_by_sql(
      path,
      "INSERT INTO python_call VALUES (1, 0, 9000, 1, 1), (2, 1, 8000, 1, 2), (3, 2, 7000, 1, 3);"
      "INSERT INTO flow_unmatched VALUES (1, 5, 8, 's', 12, 1, 1), (2, 6, NULL, 'f', '0xffffffffffffffff', 1, 1);"
      "DROP VIEW trace_info; DROP TABLE packed_block; DROP TABLE flow_text; DROP TABLE sync;"
      "ALTER TABLE op_shape RENAME COLUMN detail TO later;"
      "ALTER TABLE collective DROP COLUMN in_splits; DELETE FROM packed_column;"
      "CREATE VIEW python_calls AS SELECT * FROM python_call;"
      "UPDATE event_count SET stored = stored + 2, read = read + 2 WHERE category = 'kernel';"
      "UPDATE meta SET value = value + 2 WHERE key IN ('events_read', 'events_stored'); PRAGMA user_version = 5");
  return path;
}

TEST_CASE("an index of version 5 becomes one of this version, with all that it had") {
  const TempDirectory folder;
  const auto path = write_old_index(folder);
  const auto modified = std::filesystem::last_write_time(path);
  CHECK(refused(ErrorCode::kInput, [&] { Index::open(path); }).find("--upgrade") != std::string::npos);
  CHECK(upgrade_index(path, nullptr) == UpgradeOutcome::kUpgraded);
  CHECK(std::filesystem::last_write_time(path) == modified);
  CHECK(failed_checks(path) == std::vector<std::string>{});
  const Index index = Index::open(path), fresh = open_small_index(folder / "fresh");
  for (const char* table : {"string", "kernel", "python_call", "cpu_op", "stack", "issue", "kernel_name_sum"}) {
    const std::string all = fmt::format("SELECT * FROM {}", table);
    CHECK(rows_of(index.database(), all) == rows_of(fresh.database(), all));
  }
  CHECK(rows_of(index.database(), "SELECT * FROM flow_unmatched") == "1 5 8 s 12 1 1; 2 6 - f 0xffffffffffffffff 1 1");
  CHECK(index.meta("upgraded_from") == "5");
  CHECK(upgrade_index(path, nullptr) == UpgradeOutcome::kCurrent);
}

TEST_CASE("an index of version 6 becomes one of this version") {
  const TempDirectory folder;
  const auto path = folder / "old.tracedb";
  write_small_index(path);
  change_by_sql(path,
                "ALTER TABLE op_shape RENAME COLUMN detail TO later; CREATE TABLE operator_detail (cpu_op_id INTEGER);"
                "PRAGMA user_version = 6");
  CHECK(refused(ErrorCode::kInput, [&] { Index::open(path); }).find("--upgrade") != std::string::npos);
  CHECK(upgrade_index(path, nullptr) == UpgradeOutcome::kUpgraded);
  CHECK(failed_checks(path) == std::vector<std::string>{});
  const Index index = Index::open(path), fresh = open_small_index(folder / "fresh");
  for (const char* table : {"string", "kernel", "python_call", "flow_unmatched", "cpu_op", "op_shape", "packed_block",
                            "packed_column", "counter", "event_count", "kernel_name_sum"}) {
    CAPTURE(table);
    const std::string all = fmt::format("SELECT * FROM {}", table);
    CHECK(rows_of(index.database(), all) == rows_of(fresh.database(), all));
  }
  CHECK(index.database().query_int64("SELECT count(*) FROM sqlite_schema WHERE name = 'operator_detail'") == 0);
  CHECK(index.meta("upgraded_from") == "6");
}

TEST_CASE("what is no whole index of version 5 or 6 is left as it is") {
  for (const char* change : {"PRAGMA user_version = 4", "DELETE FROM meta WHERE key = 'complete'",
                             "DELETE FROM python_call WHERE id = 2", "PRAGMA application_id = 1"}) {
    CAPTURE(change);
    const TempDirectory folder;
    const auto path = write_old_index(folder);
    change_by_sql(path, change);
    const auto size = std::filesystem::file_size(path);
    CHECK(refused(ErrorCode::kInput, [&] { upgrade_index(path, nullptr); }).find("old.tracedb") != std::string::npos);
    CHECK(std::filesystem::file_size(path) == size);
    CHECK(folder.files() == std::vector<std::string>{"old.tracedb"});
  }
  const TempDirectory folder;
  const auto path = folder / "x.tracedb";
  const auto says = [&] { return refused(ErrorCode::kInput, [&] { upgrade_index(path, nullptr); }); };
  CHECK(says().find("x.tracedb: no such file") != std::string::npos);
  CHECK(folder.write("x.tracedb", "{}") == path);
  CHECK(says().find("x.tracedb: not an index; make one with trace-ingest") != std::string::npos);
  std::filesystem::remove(path);
  write_small_index(path);
  change_by_sql(path, "PRAGMA user_version = 99");
  CHECK(says().find("use the newer program") != std::string::npos);
}

}  // namespace
}  // namespace tracedb
