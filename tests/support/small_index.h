// A hand-made index for tests of what reads indexes: three kernels of two names on two streams of one device, a prefill
// step, a copy, a stack of three frames, an issue. Every number a test expects can be read off here.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "index/index.h"
#include "index/packed_columns.h"
#include "index/verify.h"
#include "ingest/upgrade.h"
#include "ingest/write/index_writer.h"
#include "sql/database.h"
#include "sql/scripts.h"

namespace tracedb {

inline constexpr const char* kSmallIndexRows = R"sql(
INSERT INTO string VALUES (1,'gemm<float>'), (2,'ncclAllReduce'), (3,'main.py(1): main'), (4,'nn.Module: Linear_0'),
  (5,'linear.py(7): forward'), (6,'aten::linear'), (7,'hipLaunchKernel'), (8,'step'), (9,'Memcpy HtoD');
INSERT INTO device (id, ordinal, vendor, used) VALUES (1, 0, 'amd', 1);
INSERT INTO process (id, pid) VALUES (1, 77);
INSERT INTO thread (id, process_id, tid) VALUES (1, 1, 78);
INSERT INTO stream VALUES (1, 1, 7), (2, 1, 'default');
INSERT INTO kernel_name VALUES (1, 'gemm<float>', 'gemm'), (2, 'ncclAllReduce', 'ncclAllReduce');
INSERT INTO frame (id, name_id) VALUES (1, 3), (2, 4), (3, 5);
INSERT INTO stack VALUES (1, NULL, 1, 1), (2, 1, 2, 2), (3, 2, 3, 3);
INSERT INTO python_call VALUES (1, 0, 9000, 1, 1), (2, 1, 8000, 1, 2), (3, 2, 7000, 1, 3);
INSERT INTO cpu_op (id, ts, dur, thread_id, name_id, depth) VALUES (1, 10, 500, 1, 6, 0);
INSERT INTO runtime_call (id, ts, dur, thread_id, name_id, correlation, kind) VALUES (1, 20, 30, 1, 7, 5, 'launch');
INSERT INTO annotation (id, ts, dur, kind, thread_id, name_id) VALUES (1, 5, 900, 'user', 1, 8);
INSERT INTO step (id, annotation_id, sequence, kind, first_kernel_id, last_kernel_id) VALUES (1, 1, 0, 'prefill', 1, 2);
INSERT INTO kernel (id, ts, dur, name_id, stream_id, correlation, launch_id, cpu_op_id, stack_id, step_id, first_of_launch,
  kind) VALUES (1, 100, 100, 1, 1, 5, 1, 1, 3, 1, 1, 'compute'),
  (2, 150, 300, 2, 2, NULL, NULL, NULL, NULL, 1, NULL, 'comm'),
  (3, 600, 50, 1, 1, NULL, NULL, NULL, NULL, NULL, NULL, 'compute');
INSERT INTO memory_op (id, ts, dur, kind, direction, name_id, bytes, stream_id) VALUES
  (1, 460, 40, 'memcpy', 'HtoD', 9, 80, 1);
INSERT INTO kernel_name_sum VALUES (1, 2, 150, 50, 100, 12500.0, 75, 50, 100, 100, 2),
  (2, 1, 300, 300, 300, 90000.0, 300, 300, 300, 300, 1);
INSERT INTO event_count VALUES ('kernel', 'X', 10, 10, 0, NULL), (NULL, 'M', 2, 0, 2, 'metadata');
INSERT INTO issue VALUES ('kernel_without_launch', 'warning', 2, NULL, 'ncclAllReduce');
)sql";

enum class SmallIndexContent { kEmpty, kRows };

// Packs the tables of schema/packed.sql that a test has filled, and drops them.
inline void pack_tables(Database& database) {
  for (const PackedTable& table : packed_tables()) {
    if (!table.alone) continue;
    std::vector<std::string> cells;
    for (const ScanColumn& column : table.columns) cells.emplace_back(column.name);
    ColumnPacker packer(table, cells, database.path().parent_path());
    read_unpacked(database, table, [&](std::span<const std::int64_t> rows) { packer.add(rows); });
    packer.write(database);
    database.execute(fmt::format("DROP TABLE {}", table.name));
  }
}

inline void fill_small_index(Database& database, SmallIndexContent content) {
  const bool empty = content == SmallIndexContent::kEmpty;
  database.execute(script("core"));
  database.execute(script("packed"));
  if (!empty) database.execute(kSmallIndexRows);
  pack_tables(database);
  database.execute(script("indexes"));
  database.execute(script("views"));
  const int read = empty ? 0 : 12;
  const int stored = empty ? 0 : 10;
  database.execute(
      fmt::format("INSERT INTO meta VALUES ('complete', '1'), ('events_read', '{}'), ('events_stored', "
                  "'{}'), ('events_skipped', '{}')",
                  read, stored, read - stored));
  // 450 ns in 3 kernels; 100 of them launched, with operator and stack; 400 in a step.
  const auto kernels = [&](std::string_view what, int n, int ns) {
    database.execute(fmt::format("INSERT INTO meta VALUES ('kernels{}', '{}'), ('kernel_ns{}', '{}')", what,
                                 empty ? 0 : n, what, empty ? 0 : ns));
  };
  kernels("", 3, 450);
  kernels("_with_launch", 1, 100);
  kernels("_with_operator", 1, 100);
  kernels("_with_stack", 1, 100);
  kernels("_with_step", 2, 400);
}

inline void write_small_index(const std::filesystem::path& path, SmallIndexContent content = SmallIndexContent::kRows) {
  Database database(path, Database::Mode::kCreate);
  database.execute(fmt::format(
      "PRAGMA synchronous = OFF; PRAGMA page_size = 16384; PRAGMA application_id = {}; PRAGMA user_version = {}",
      kApplicationId, kSchemaVersion));
  fill_small_index(database, content);
}

// The checks of verify() that an index fails.
inline std::vector<std::string> failed_checks(const std::filesystem::path& path) {
  std::vector<std::string> failed;
  for (const VerifyFinding& finding : verify(Index::open(path), {})) {
    if (finding.outcome == VerifyFinding::Outcome::kFailed) failed.push_back(finding.check);
  }
  return failed;
}

inline void change_by_sql(const std::filesystem::path& path, std::string_view sql) {
  Database(path, Database::Mode::kReadWrite).execute(sql);
}

inline Index open_small_index(const std::filesystem::path& path, SmallIndexContent content = SmallIndexContent::kRows) {
  write_small_index(path, content);
  return Index::open(path);
}

}  // namespace tracedb
