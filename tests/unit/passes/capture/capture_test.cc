#include "passes/capture/capture.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "passes/sql/kernel_sql_functions.h"
#include "support/small_index.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

// Twenty launches and the operators around them: "ab" repeated, from operators op_a and op_b.
constexpr int kLaunches = 20;

Index with_rows(const std::filesystem::path& path, const std::string& sql) {
  write_small_index(path);
  {
    Database database(path, Database::Mode::kReadWrite);
    database.execute(
        "DELETE FROM kernel; DELETE FROM runtime_call; DELETE FROM cpu_op; DELETE FROM step; DELETE FROM annotation;"
        "INSERT INTO string VALUES (20, 'hipStreamBeginCapture'), (21, 'hipStreamEndCapture'), (22, 'hipGraphLaunch'),"
        "(23, 'op_a'), (24, 'op_b'), (25, 'a'), (26, 'b');"
        "INSERT INTO kernel_name VALUES (25, 'a', 'a'), (26, 'b', 'b');" +
        sql);
  }
  return Index::open(path);
}

// A capture of `launches` calls; every `odd`th one comes from the other operator.
Index capture_index(const std::filesystem::path& path, int launches, int odd = 1000) {
  std::string sql =
      "INSERT INTO runtime_call (id, ts, thread_id, name_id, kind) VALUES (1, 1, 1, 20, 'other'), (2, 2, 2, 7, "
      "'launch');";  // on another thread: not captured
  for (int i = 0; i < launches; ++i) {
    sql += fmt::format(
        "INSERT INTO cpu_op (id, ts, thread_id, name_id, depth) VALUES ({0}, {0}, 1, {1}, 0);"
        "INSERT INTO runtime_call (id, ts, thread_id, name_id, kind, cpu_op_id, stack_id) VALUES ({2}, {2}, 1, 7, "
        "'launch', {0}, 3);",
        i + 1, 23 + (i + (i % odd == odd - 1 ? 1 : 0)) % 2, i + 3);
  }
  sql += fmt::format(
      "INSERT INTO runtime_call (id, ts, thread_id, name_id, kind) VALUES ({0}, {0}, 1, 21, 'other'), "
      "({1}, {1}, 1, 7, 'launch');",
      launches + 3, launches + 4);
  return with_rows(path, sql);
}

Index replay_index(const std::filesystem::path& path, int kernels) {
  std::string sql = "INSERT INTO runtime_call (id, ts, thread_id, name_id, kind) VALUES (1, 1, 1, 22, 'graph_launch');";
  for (int i = 0; i < kernels; ++i) {
    sql += fmt::format(
        "INSERT INTO kernel (id, ts, dur, name_id, stream_id, launch_id, kind) VALUES ({0}, {0}, 10, {1}, "
        "1, 1, 'compute');",
        i + 1, 25 + i % 2);
  }
  return with_rows(path, sql);
}

struct Matched {
  TempDirectory folder;
  Index from, to;
  Capture capture;
  ReplayOrigins origins;

  Matched(int launches, int kernels, int odd = 1000)
      : from(capture_index(folder / "from.tracedb", launches, odd)),
        to(replay_index(folder / "to.tracedb", kernels)),
        capture(read_capture(from, {}, {})) {
    const EventTables events(to);
    origins = match_capture(capture, to, events, load_steps(to, {}, events, {}));
  }
};

}  // namespace

TEST_CASE("launches of a stream capture are the kernels of its replay, one by one") {
  const Matched found(kLaunches, kLaunches);
  CHECK(found.capture.captures.size() == 1);
  CHECK(found.origins.matched == kLaunches);
  CHECK(found.origins.share == 1);
  const CaptureSource source{found.from, found.capture, "from", {}};
  const ActiveRules rules;
  Workload workload(found.to, rules, {{}, {}, &source});
  KernelSqlFunctions functions(workload);
  for (std::int64_t id = 1; id <= kLaunches; ++id) {
    CHECK(functions.capture_op(id) == (id % 2 == 1 ? "op_a" : "op_b"));
    CHECK(functions.capture_module(id) == "Linear_0");
  }
  CHECK(functions.capture_op(0) == std::nullopt);
  CHECK(functions.capture_op(kLaunches + 1) == std::nullopt);
}

TEST_CASE("another number of launches is another graph: nothing is matched, and that is said") {
  for (const int kernels : {kLaunches - 1, kLaunches + 1}) {
    const Matched found(kLaunches, kernels);
    CHECK(found.origins.matched == 0);
    CHECK(found.origins.notes.size() == 2);
  }
}

TEST_CASE("a capture whose operators do not go with the kernels' names is not believed") {
  CHECK(Matched(kLaunches, kLaunches, 10).origins.matched == kLaunches);  // one in ten may be another
  CHECK(Matched(kLaunches, kLaunches, 3).origins.matched == 0);
  CHECK(Matched(8, 8).origins.matched == 0);  // so few that their number says nothing
}

TEST_CASE("traces without graphs or captures match nothing") {
  const TempDirectory folder;
  const Index index = open_small_index(folder / "small.tracedb");
  const Capture capture = read_capture(index, {}, {});
  CHECK(capture.captures.empty());
  const EventTables events(index);
  const ReplayOrigins origins = match_capture(capture, index, events, load_steps(index, {}, events, {}));
  CHECK(origins.kernels == 0);
  CHECK(origins.notes.size() == 1);
  const Index empty = open_small_index(folder / "empty.tracedb", SmallIndexContent::kEmpty);
  CHECK(read_capture(empty, {}, {}).steps.empty());
}

}  // namespace tracedb
