// The temporary tables behind timeline, gaps, launches, comms and memcpys, made of the small index.
#include <doctest/doctest.h>

#include "passes/tables/comm_groups.h"
#include "passes/tables/launch_groups.h"
#include "passes/tables/memory_groups.h"
#include "passes/tables/timeline_tables.h"
#include "support/small_index.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

struct Fixture {
  TempDirectory folder;
  Index index;
  explicit Fixture(std::string_view change = {}) : index(changed(folder / "small.tracedb", change)) {}

  static Index changed(const std::filesystem::path& path, std::string_view change) {
    write_small_index(path);
    Database(path, Database::Mode::kReadWrite).execute(change);
    return Index::open(path);
  }
  // Rows of a query: cells joined by a blank, NULL as "-", rows joined by "; ".
  [[nodiscard]] std::string rows(std::string_view sql) const {
    Statement statement(index.database(), sql);
    std::string out;
    for (bool first = true; statement.step(); first = false) {
      if (!first) out += "; ";
      for (int column = 0; column < statement.column_count(); ++column) {
        if (column > 0) out += ' ';
        out += statement.is_null(column) ? "-" : statement.text(column);
      }
    }
    return out;
  }
  [[nodiscard]] std::string timeline(const Selection& selection = {}, LaneBy by = LaneBy::kDevice) const {
    make_timeline_table(index, selection, by, {});
    return rows(
        "SELECT device_id, stream_id, span, computation, exposed_comm, exposed_copy, idle, unselected FROM timeline");
  }
  [[nodiscard]] std::string launches(const Selection& selection = {}) const {
    make_launch_group_table(index, selection);
    return rows("SELECT call, calls, kernels, api_total, delay_total, queue_total FROM launch_group");
  }
  [[nodiscard]] std::string comms(const Selection& selection = {}) const {
    make_comm_group_table(index, selection);
    return rows("SELECT name, group_size, bytes, n, total, busy, exposed, factor, described FROM comm_group");
  }
  [[nodiscard]] std::string copies(const Selection& selection = {}) const {
    make_memory_group_table(index, selection);
    return rows(
        "SELECT kind, direction, n, known, total, busy, sized, bytes, measured_bytes, measured_busy "
        "FROM memory_group");
  }
};

template <class Change>
Selection only(Change change) {
  Selection selection;
  change(selection);
  return selection;
}

}  // namespace

TEST_CASE("timeline of the small index, by device and by stream") {
  const Fixture fixture;
  CHECK(fixture.timeline() == "1 - 550 150 250 40 110 0");
  CHECK(fixture.rows("SELECT comm, copy, unknown, gaps, kernels, memory_ops, begin FROM timeline") ==
        "300 40 110 2 3 1 100");
  CHECK(fixture.timeline({}, LaneBy::kStream) == "1 1 550 150 0 40 360 0; 1 2 300 0 300 0 0 0");
}

TEST_CASE("selections choose work, a window cuts it off") {
  const Fixture fixture;
  CHECK(fixture.timeline(only([](Selection& s) { s.phase = "prefill"; })) == "1 - 350 100 250 0 0 0");
  CHECK(fixture.timeline(only([](Selection& s) { s.name_glob = "gemm"; })) == "1 - 550 150 0 0 400 290");
  CHECK(fixture.timeline(only([](Selection& s) { s.stream = "default"; })) == "1 - 300 0 300 0 0 0");
  CHECK(fixture.timeline(only([](Selection& s) { s.device = 3; })).empty());
  CHECK(fixture.timeline(only([](Selection& s) { s.from = 190, s.to = 620; })) == "1 - 430 30 250 40 110 0");
  CHECK(fixture.timeline(only([](Selection& s) { s.from = 300, s.to = 400; })) == "1 - 100 0 100 0 0 0");
  CHECK(fixture.timeline(only([](Selection& s) { s.from = 900; })).empty());
}

TEST_CASE("gaps of the small index") {
  const Fixture fixture;
  const GapSums all = make_gap_table(fixture.index, {}, LaneBy::kDevice, {}, 1);
  CHECK(all.count == 2);
  CHECK(all.total == 110);
  CHECK(fixture.rows("SELECT ts, dur, cause, before_memory_op_id, after_kernel_id, before_kernel_id FROM gap") ==
        "500 100 unknown 1 3 -");
  make_gap_table(fixture.index, {}, LaneBy::kStream, {}, 0);
  CHECK(fixture.rows("SELECT stream_id, ts, dur FROM gap ORDER BY ts") == "1 200 260; 1 500 100");
}

TEST_CASE("steps other than those of the index") {
  const Fixture fixture;
  const EventTables events(fixture.index);
  StepSet steps;
  steps.steps.resize(2);
  steps.steps[1].info.kind = StepKind::kDecode;
  steps.of_kernel = {1, 2, 2};
  steps.of_memory = {2};
  const DevicePlaces places{events, steps};
  const Selection decode = only([](Selection& s) { s.phase = "decode"; });
  make_timeline_table(fixture.index, decode, LaneBy::kDevice, {}, &places);
  CHECK(fixture.rows("SELECT kernels, memory_ops, span, computation, exposed_comm, idle FROM timeline") ==
        "2 1 500 50 300 110");
  make_gap_table(fixture.index, {}, LaneBy::kDevice, {}, 0, &places);
  CHECK(fixture.rows("SELECT ts, step FROM gap ORDER BY ts") == "450 1; 500 1");
  make_launch_group_table(fixture.index, decode, &places);
  CHECK(fixture.rows("SELECT call, kernels FROM launch_group") == "[no launch] 2");
  make_comm_group_table(fixture.index, decode, &places);
  CHECK(fixture.rows("SELECT n FROM comm_group") == "1");
  make_memory_group_table(fixture.index, decode, &steps);
  CHECK(fixture.rows("SELECT n FROM memory_group") == "1");
}

TEST_CASE("launches of the small index") {
  const Fixture fixture;
  CHECK(fixture.launches() == "hipLaunchKernel 1 1 30 50 50; [no launch] - 2 - - -");
  CHECK(fixture.launches(only([](Selection& s) { s.phase = "none"; })) == "[no launch] - 1 - - -");
  CHECK(fixture.launches(only([](Selection& s) { s.phase = "prefill", s.to = 120; })) ==
        "hipLaunchKernel 1 1 30 50 50");
}

TEST_CASE("communication with and without a description") {
  CHECK(Fixture().comms() == "ncclAllReduce - - 1 300 300 250 - 0");
  const Fixture described(
      "INSERT INTO collective VALUES (2, 'allreduce', '0', NULL, 4, NULL, 'BFloat16', 100, 100, 1, NULL);"
      "INSERT INTO collective VALUES (99, 'allreduce', '0', NULL, 4, NULL, 'BFloat16', 100, 100, 1, NULL)");
  CHECK(described.comms() == "allreduce 4 200 1 300 300 250 1.5 1");
  CHECK(described.comms(only([](Selection& s) { s.phase = "none"; })).empty());
}

TEST_CASE("copies and fills, with sizes and durations that are unknown") {
  const Fixture fixture(
      "INSERT INTO memory_op (id, ts, dur, kind, direction, name_id, bytes, stream_id) VALUES "
      "(2, 480, 40, 'memcpy', 'HtoD', 9, 20, 2), (3, 500, NULL, 'memcpy', 'HtoD', 9, 7, 1), "
      "(4, 510, 6, 'memcpy', 'HtoD', 9, NULL, 1), (5, 600, 8, 'memset', NULL, 9, NULL, 1)");
  CHECK(fixture.copies() == "memcpy HtoD 4 3 86 60 3 107 100 60; memset - 1 1 8 8 0 - 0 0");
  CHECK(fixture.copies(only([](Selection& s) { s.from = 505, s.to = 600; })) == "memcpy HtoD 1 1 6 6 0 - 0 0");
}

TEST_CASE("streams that no table names are in a lane of their own") {
  const Fixture fixture("UPDATE kernel SET stream_id = 40 WHERE id = 3");
  CHECK(fixture.timeline() == "0 - 50 50 0 0 0 0; 1 - 400 100 250 40 10 0");
}

TEST_CASE("an empty index has no rows in any table") {
  const TempDirectory folder;
  const Index index = open_small_index(folder / "empty.tracedb", SmallIndexContent::kEmpty);
  make_timeline_table(index, {}, LaneBy::kStream, {});
  CHECK(make_gap_table(index, {}, LaneBy::kDevice, {}, 5).count == 0);
  make_launch_group_table(index, {});
  make_comm_group_table(index, {});
  make_memory_group_table(index, {});
  CHECK(index.database().query_int64("SELECT (SELECT count(*) FROM timeline) + (SELECT count(*) FROM gap) + "
                                     "(SELECT count(*) FROM launch_group) + (SELECT count(*) FROM comm_group) + "
                                     "(SELECT count(*) FROM memory_group)") == 0);
}

}  // namespace tracedb
