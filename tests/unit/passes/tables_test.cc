#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "passes/tables/name_order.h"
#include "passes/tables/pass_tables.h"
#include "report/sql_report.h"
#include "sql/scripts.h"
#include "support/asked_passes.h"
#include "support/ingested.h"
#include "support/rows.h"
#include "support/small_index.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

// What the rules of warnings.sql make of the small index after `change`.
std::vector<std::string> codes(const std::string& change) {
  const ChangedIndex changed(change);
  const ActiveRules rules;
  Workload workload(changed.index, rules);
  const PassOptions options;
  add_pass_tables(workload, options);
  std::vector<std::string> out;
  for (const Row& row : run_report(changed.index.database(), report_script("warnings"), {}).rows)
    out.push_back(std::get<std::string>(row[1]));
  return out;
}

TEST_CASE("what is missing is named with its share") {
  // 450 ns of kernels: 100 launched, with operator and stack; 400 in a step; none in a layer; an issue of two kernels.
  CHECK(codes("") == std::vector<std::string>{"no_launch", "kernel_without_launch", "no_layer", "no_operator",
                                              "no_stack", "no_step"});
}

TEST_CASE("each code speaks when there is reason to, and not before") {
  const std::pair<const char*, const char*> cases[] = {
      {"UPDATE runtime_call SET ts = 1000", "clock_order"},
      {"UPDATE kernel_name SET name = 'zzz' WHERE id = 1", "unclassified"},
      {"UPDATE runtime_call SET kind = 'graph_launch'", "graph_collapsed"},
      {"UPDATE kernel SET dur = NULL WHERE id = 3", "unknown_duration"},
      {"DELETE FROM kernel", "no_kernels"},
      {"UPDATE meta SET value = '0' WHERE key = 'complete'", "truncated"}};
  const std::vector<std::string> before = codes("");
  for (const auto& [change, code] : cases) {
    const std::vector<std::string> after = codes(change);
    CHECK(std::count(before.begin(), before.end(), code) == 0);
    CHECK(std::count(after.begin(), after.end(), code) == 1);
  }
  CHECK(codes("UPDATE meta SET value = '0' WHERE key = 'complete'").front() == "truncated");
}

// Gaps with what the host did, from a trace through all of ingest.

std::string launched(std::string_view name, int correlation, int launch, int ts, int dur) {
  return event("cuda_runtime", "cudaLaunchKernel", kMainThread, std::to_string(launch), "2",
               fmt::format(R"("correlation":{})", correlation)) +
         event("kernel", name, kGpuStream, std::to_string(ts), std::to_string(dur),
               fmt::format(R"("device":0,"stream":7,"correlation":{})", correlation));
}

// Two steps of two kernels; before each kernel but the first, the device waits for the host.
std::string two_steps() {
  return trace_of(
      event("user_annotation", "ProfilerStep#0", kMainThread, "0", "100") +
      event("user_annotation", "ProfilerStep#1", kMainThread, "100", "100") +
      event("python_function", "train.py(3): step", kMainThread, "0", "200", R"("Python id":1)") +
      event("python_function", "data.py(8): load", kMainThread, "60", "55", R"("Python id":2,"Python parent id":1)") +
      launched("norm", 1, 5, 10, 10) + launched("gemm", 2, 40, 45, 10) + launched("norm", 3, 120, 125, 5) +
      launched("gemm", 4, 150, 155, 5));
}

struct GapFixture {
  Ingested ingested{two_steps()};
  Index index = Index::open(ingested.directory() / "index");
  [[nodiscard]] std::string rows(std::string_view sql, const PassOptions& options = {}) const {
    return ask_passes(index, sql, {}, options);
  }
};

TEST_CASE("gaps say where the host was, and whether a step ends in them") {
  const GapFixture fixture;
  CHECK(fixture.rows("SELECT ts, dur, cause, between_steps, host, host_time, host_call, host_call_time, python_calls "
                     "FROM idle_gaps ORDER BY ts") ==
        "20000 25000 host_wait 0 train.py(3): step 25000 cudaLaunchKernel 2000 0; "
        "55000 70000 host_wait 1 data.py(8): load 55000 cudaLaunchKernel 2000 1; "
        "130000 25000 host_wait 0 train.py(3): step 25000 cudaLaunchKernel 2000 0");
}

TEST_CASE("gaps that are alike are one row") {
  const GapFixture fixture;
  constexpr std::string_view kGroups =
      "SELECT cause, between_steps, before, next, host, instances, dur, longest, ts, host_time, all_gaps, all_idle "
      "FROM gap_groups";
  CHECK(fixture.rows(kGroups) ==
        "host_wait 1 gemm norm data.py(8): load 1 70000 70000 55000 55000 3 120000; "
        "host_wait 0 norm gemm train.py(3): step 2 50000 25000 20000 50000 3 120000");
  PassOptions longer;
  longer.least_gap = 30'000;
  CHECK(fixture.rows(kGroups, longer) == "host_wait 1 gemm norm data.py(8): load 1 70000 70000 55000 55000 3 120000");
  CHECK(fixture.rows("SELECT count(*) FROM idle_gaps", longer) == "1");
}

TEST_CASE("causes and timelines with the host") {
  const GapFixture fixture;
  CHECK(fixture.rows("SELECT cause, between_steps, gaps, time, host FROM gaps_by_cause") ==
        "host_wait 0 2 50000 train.py(3): step; host_wait 1 1 70000 data.py(8): load");
  CHECK(fixture.rows("SELECT idle, between_steps, host, host_time, python_calls FROM timeline") ==
        "120000 70000 train.py(3): step 65000 1");
  // Of a thread without any the number is not 0: it is not known.
  const ChangedIndex other(
      "INSERT INTO thread (id, process_id, tid) VALUES (2, 1, 79); UPDATE runtime_call SET thread_id = 2");
  CHECK(ask_passes(other.index, "SELECT python_calls FROM timeline") == "-");
  CHECK(fixture.rows("SELECT code, round(share), count FROM coverage WHERE code IN ('idle', 'host_bound')") ==
        "idle 80.0 3; host_bound 80.0 3");
}

TEST_CASE("without steps it is unknown what lies between them") {
  const ChangedIndex unmarked("DELETE FROM step");
  CHECK(ask_passes(unmarked.index, "SELECT DISTINCT between_steps FROM idle_gaps") == "-");
  CHECK(ask_passes(unmarked.index, "SELECT between_steps FROM timeline") == "-");
}

TEST_CASE("every selection") {
  const ChangedIndex small;
  const auto instances = [&](auto change) {
    return ask_passes(small.index, "SELECT coalesce(sum(instances), 0) FROM kernels_by_name", only(change));
  };
  CHECK(instances([](Selection& s) { s.phases = {"prefill"}; }) == "2");
  CHECK(instances([](Selection& s) { s.phases = {"decode"}; }) == "0");
  CHECK(instances([](Selection& s) { s.phases = {"none"}; }) == "1");
  CHECK(instances([](Selection& s) { s.steps = {{0, 0}}; }) == "2");
  CHECK(instances([](Selection& s) { s.steps = {{1, {}}}; }) == "0");
  CHECK(instances([](Selection& s) { s.phases = {"decode", "none"}; }) == "1");
  CHECK(instances([](Selection& s) { s.steps = {{5, 6}, {0, 0}}; }) == "2");
  CHECK(instances([](Selection& s) { s.devices = {0}; }) == "3");
  CHECK_THROWS_WITH(instances([](Selection& s) { s.devices = {0, 9}; }), "--device 9: there is 0");
  CHECK(instances([](Selection& s) { s.streams = {"7"}; }) == "2");
  CHECK(instances([](Selection& s) { s.streams = {"default"}; }) == "1");
  CHECK(instances([](Selection& s) { s.streams = {"default", "7"}; }) == "3");
  CHECK_THROWS_WITH(instances([](Selection& s) { s.streams = {"70"}; }), "--stream 70: there are 7, default");
  CHECK(instances([](Selection& s) { s.name_glob = "gemm"; }) == "2");  // the short name
  CHECK(instances([](Selection& s) { s.name_regex = "^nccl.*duce$"; }) == "1");
  CHECK(instances([](Selection& s) { s.ops = {"comm*"}; }) == "1");
  CHECK(instances([](Selection& s) { s.ops = {"communication", "norm"}; }) == "1");
  CHECK_THROWS_WITH(instances([](Selection& s) { s.ops = {"gemm"}; }),
                    "--op gemm: no such class; there are dense_gemm, moe_gemm");

  CHECK(instances([](Selection& s) { s.from = 150, s.to = 600; }) == "1");
  CHECK(instances([](Selection& s) { s.ops = {"dense_gemm"}, s.phases = {"none"}; }) == "1");
  CHECK(instances([](Selection& s) { s.layer = "none"; }) == "3");
}

// Layers of five kernels: norm, GEMM, attention, rotary, a large GEMM; each repetition some percent off.
constexpr std::int64_t kTimesOfNames[] = {4'200, 12'000, 20'000, 4'400, 130'000};

Replay layers(std::size_t count, std::size_t seed = 0) {
  Replay replay;
  for (std::size_t i = 0; i < 5 * count; ++i) {
    const std::int64_t usual = kTimesOfNames[i % 5];
    replay.dur.push_back(usual + usual * static_cast<std::int64_t>((7 * i + seed) % 10) / 100);
    replay.name.push_back(static_cast<std::uint32_t>(1 + i % 5));
  }
  return replay;
}

// From `from` on, each kernel has the name of the one `by` places behind it.
Replay shifted(Replay replay, std::size_t from, std::size_t by) {
  const std::vector<std::uint32_t> names = replay.name;
  for (std::size_t i = from; i < names.size(); ++i) replay.name[i] = names[(i + by) % names.size()];
  return replay;
}

NameOrder found(const std::vector<Replay>& replays) { return find_names_out_of_step(replays); }

TEST_CASE("names in step raise nothing") {
  CHECK(found({}).kernels == 0);
  CHECK(found({layers(1)}).kernels == 0);
  CHECK(found({layers(40)}).kernels == 0);
  CHECK(found({layers(40), layers(40, 3), layers(40, 5), layers(7)}).kernels == 0);
}

TEST_CASE("names that slip inside a replay are found, with their time") {
  const Replay half = shifted(layers(40), 120, 1);
  const NameOrder order = found({half});
  CHECK(order.kernels == 80);
  std::int64_t time = 0;
  for (std::size_t i = 120; i < half.dur.size(); ++i) time += half.dur[i];
  CHECK(order.time == time);
  CHECK(found({shifted(layers(40), 60, 2)}).kernels > 0);  // more than half of the names are wrong
  CHECK(found({layers(40), shifted(layers(40), 100, 1)}).kernels == 100);
}

TEST_CASE("replays that repeat no layers are compared with each other") {
  Replay replay;
  for (std::size_t i = 0; i < 60; ++i) {
    replay.dur.push_back(static_cast<std::int64_t>(3'000 + 2'000 * ((i * i * 7) % 53)));
    replay.name.push_back(static_cast<std::uint32_t>(i));
  }
  CHECK(found({replay, replay, replay, replay}).kernels == 0);
  CHECK(found({replay, replay, replay, shifted(replay, 20, 1)}).kernels > 30);
  std::vector<Replay> many(4, replay);
  many.push_back(shifted(replay, 10, 1));
  many.push_back(shifted(replay, 10, 1));
  CHECK(found(many).kernels > 50);
}

TEST_CASE("layers that differ, other shapes and single odd kernels are no slip") {
  Replay alternating = layers(40);  // every other layer has another attention, three times as long
  for (std::size_t i = 2; i < alternating.dur.size(); i += 10) {
    alternating.name[i] = 99;
    alternating.dur[i] *= 3;
  }
  CHECK(found({alternating}).kernels == 0);
  Replay shapes = layers(40);  // one name for two GEMMs of different shape
  for (std::size_t i = 1; i < shapes.name.size(); i += 5) shapes.name[i] = 5;
  CHECK(found({shapes}).kernels == 0);
  Replay variant = layers(40);  // the library takes another kernel for the same GEMM now and then
  for (std::size_t i = 1; i < variant.name.size(); i += 15) variant.name[i] = 77;
  CHECK(found({variant}).kernels == 0);
  CHECK(found({shifted(layers(40), 195, 1)}).kernels == 0);
}

// What all tables of passes have in common.

TEST_CASE("every table is declared whole, under a name of its own") {
  Database schema(":memory:", Database::Mode::kMemory);
  schema.execute(script("core"));
  schema.execute(script("views"));
  std::set<std::string_view> names;
  for (const PassTable& table : pass_tables()) {
    CAPTURE(table.name);
    CHECK(names.insert(table.name).second);
    CHECK_FALSE(table.meaning.empty());
    std::set<std::string_view> columns;
    for (const PassColumn& column : table.columns) {
      CAPTURE(column.name);
      CHECK(columns.insert(column.name).second);
      CHECK_FALSE(column.meaning.empty());
    }
    Statement taken(schema, "SELECT 1 FROM sqlite_schema WHERE name = ?");
    taken.bind(1, table.name);
    CHECK_FALSE(taken.step());
  }
}

TEST_CASE("SQL sees the columns as declared, and can join tables of passes with those of the index") {
  const ChangedIndex small;
  for (const PassTable& table : pass_tables()) {
    CAPTURE(table.name);
    std::string expected;
    for (const PassColumn& column : table.columns) {
      if (!column.is_in_table) continue;
      expected += (expected.empty() ? "" : "; ") + std::string(column.name) + " " + std::string(to_string(column.type));
    }
    CHECK(ask_passes(small.index, "SELECT name, type FROM pragma_table_info('" + std::string(table.name) + "')") ==
          expected);
    CHECK_NOTHROW(ask_passes(small.index, "SELECT * FROM " + std::string(table.name)));
  }
  CHECK(ask_passes(small.index,
                   "SELECT n.short_name, c.class FROM kernel_classes c JOIN kernel_name n ON n.id = c.name_id "
                   "ORDER BY n.id") == "gemm dense_gemm; ncclAllReduce communication");
}

TEST_CASE("a table that no statement reads costs nothing, and one that several read is made once") {
  const ChangedIndex small;
  const ActiveRules broken("no such rules");
  Workload workload(small.index, broken);
  const PassOptions options;
  add_pass_tables(workload, options);
  CHECK(rows_of(small.index, "SELECT count(*) FROM timeline") == "1");
  CHECK(workload.take_notes().empty());
  CHECK_THROWS_WITH_AS(rows_of(small.index, "SELECT * FROM ops"), doctest::Contains("no such rules"), Error);
  CHECK(rows_of(small.index, "SELECT count(*) FROM timeline a JOIN timeline b") == "1");
}

TEST_CASE("a table has the options it was added with, whatever becomes of the object that held them") {
  const ChangedIndex small;
  const ActiveRules rules;
  Workload workload(small.index, rules);
  PassOptions options;
  options.sequence_length = 2;
  options.sequence_least = 1;
  add_pass_tables(workload, options);
  options.sequence_length = 50;
  CHECK(rows_of(small.index, "SELECT count(*) > 0 FROM sequences") == "1");
}

// The tables behind timeline, gaps, launches, comms, memcpys and steps, made of the small index.

struct TimeFixture : ChangedIndex {
  using ChangedIndex::ChangedIndex;

  [[nodiscard]] std::string rows(std::string_view sql, const PassOptions& options = {}) const {
    return ask_passes(index, sql, {}, options);
  }
  [[nodiscard]] std::string timeline(const Selection& selection = {}, const PassOptions& options = {}) const {
    return ask_passes(index,
                      "SELECT device_id, stream_id, span, computation, exposed_comm, exposed_copy, idle, unselected "
                      "FROM timeline",
                      selection, options);
  }
};

TEST_CASE("selections choose work, a window cuts it off") {
  const TimeFixture fixture;
  CHECK(fixture.timeline(only([](Selection& s) { s.phases = {"prefill"}; })) == "1 - 350 100 250 0 0 0");
  CHECK(fixture.timeline(only([](Selection& s) { s.name_glob = "gemm"; })) == "1 - 550 150 0 0 400 300");
  CHECK(fixture.timeline(only([](Selection& s) { s.streams = {"default"}; })) == "1 - 300 0 300 0 0 0");
  CHECK_THROWS_AS(static_cast<void>(fixture.timeline(only([](Selection& s) { s.devices = {3}; }))), Error);
  CHECK(fixture.timeline(only([](Selection& s) { s.from = 190, s.to = 620; })) == "1 - 430 30 250 40 110 0");
  CHECK(fixture.timeline(only([](Selection& s) { s.from = 300, s.to = 400; })) == "1 - 100 0 100 0 0 0");
  CHECK(fixture.timeline(only([](Selection& s) { s.from = 900; })).empty());
}

TEST_CASE("steps other than those of the index") {
  const TimeFixture fixture(
      "INSERT INTO string VALUES (20, 'mine 1'), (21, 'mine decode');"
      "INSERT INTO annotation (id, ts, dur, kind, stream_id, name_id) VALUES (2, 90, 20, 'gpu', 1, 20), "
      "(3, 140, 600, 'gpu', 2, 21)");
  const StepOptions mine{"^mine ?(?<kind>[a-z]*)"};
  const Selection decode = only([](Selection& s) { s.phases = {"decode"}; });
  const auto rows = [&](std::string_view sql, const Selection& selection) {
    return ask_passes(fixture.index, sql, selection, {}, mine);
  };
  CHECK(rows("SELECT kernels, memory_ops, span, computation, exposed_comm, idle FROM timeline", decode) ==
        "2 1 500 50 300 110");
  CHECK(rows("SELECT ts, step FROM idle_gaps ORDER BY ts", {}) == "450 1; 500 1");
  CHECK(as_lines(rows("SELECT call, kernels FROM launch_calls", decode), rows("SELECT instances FROM comms", decode),
                 rows("SELECT instances FROM copies", decode)) == "[no launch] 2\n1\n1");
  CHECK(rows("SELECT instances FROM sequences", decode).empty());
  CHECK(rows("SELECT total_time, frame FROM call_tree", decode) == "350 [no stack]");
}

TEST_CASE("what was launched before the recording is no work outside of steps") {
  const std::string stepless = "UPDATE kernel SET step_id = NULL, launch_id = NULL, cpu_op_id = NULL WHERE id = ";
  const char* const sql = "SELECT phase, instances, total_time FROM phases WHERE phase GLOB '[[]*'";
  // The first kernel of its stream; the last one of its stream; and on a stream on which no launch is known.
  const TimeFixture first(stepless + "1; UPDATE kernel SET launch_id = 1, stream_id = 1, step_id = 1 WHERE id = 2");
  CHECK(first.rows(sql) == "[launched before the recording] 1 100; [no step] 1 50");
  CHECK(first.rows("SELECT steps, instances, total_time, step_time, step_busy FROM layers") == "1 3 450 300.0 300.0");
  CHECK(first.rows("SELECT name, kernels, warm_up FROM step_figures WHERE step IS NULL") ==
        "[launched before the recording] 1 -; [no step] 1 -");
  CHECK(first.rows("SELECT code, count FROM coverage WHERE code IN ('before_recording', 'no_step') ORDER BY code") ==
        "before_recording 1; no_step 1");
  const TimeFixture later(stepless +
                          "1; UPDATE kernel SET launch_id = 1, stream_id = 1, step_id = 1 WHERE id = 2;"
                          "UPDATE runtime_call SET correlation = 6; UPDATE kernel SET correlation = 7 WHERE id = 1");
  CHECK(later.rows(sql) == "[no step] 2 150");
  const TimeFixture last(stepless + "2; UPDATE kernel SET stream_id = 1 WHERE id = 2");
  CHECK(last.rows(sql) == "[no step] 2 350");
  const TimeFixture alone(stepless + "2");
  CHECK(alone.rows(sql) == "[no step] 2 350");
}

TEST_CASE("a step that the work of the one before takes in whole has a row of no length") {
  const TimeFixture fixture(
      "UPDATE kernel SET step_id = 1, dur = 1000 WHERE id = 3;"
      "INSERT INTO annotation (id, ts, dur, kind, thread_id, name_id) VALUES (2, 910, 50, 'user', 1, 8);"
      "INSERT INTO step (id, annotation_id, sequence, kind) VALUES (2, 2, 1, 'prefill')");
  CHECK(fixture.rows("SELECT step, ts, length, computing, other FROM step_breakdown ORDER BY step, ts") ==
        "0 5 1595 1100 95; 1 1600 0 0 0");
  CHECK(ask_passes(fixture.index, "SELECT step FROM step_breakdown", only([](Selection& s) { s.to = 900; })) == "0");
}

TEST_CASE("streams that no table names are in a lane of their own") {
  const TimeFixture fixture("UPDATE kernel SET stream_id = 40 WHERE id = 3");
  CHECK(fixture.timeline() == "0 - 50 50 0 0 0 0; 1 - 400 100 250 40 10 0");
}

TEST_CASE("an empty index has no rows in any table") {
  const TempDirectory folder;
  const Index index = open_small_index(folder / "empty.tracedb", SmallIndexContent::kEmpty);
  for (const PassTable& table : pass_tables()) {
    CAPTURE(table.name);
    if (table.name == "coverage" || table.name == "roles") continue;  // a row for each code, for each role
    CHECK(ask_passes(index, "SELECT * FROM " + std::string(table.name)).empty());
  }
}

}  // namespace
}  // namespace tracedb
