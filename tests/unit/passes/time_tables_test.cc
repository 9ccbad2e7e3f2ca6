// The tables behind timeline, gaps, launches, comms, memcpys and steps, made of the small index.
#include <doctest/doctest.h>

#include "support/asked_passes.h"

namespace tracedb {
namespace {

PassOptions by_stream() {
  PassOptions options;
  options.lanes = LaneBy::kStream;
  return options;
}

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
  [[nodiscard]] std::string launches(const Selection& selection = {}) const {
    return ask_passes(index, "SELECT call, instances, kernels, total_time, delay_total, queue_total FROM launch_calls",
                      selection);
  }
  [[nodiscard]] std::string comms(const Selection& selection = {}) const {
    return ask_passes(index,
                      "SELECT name, ranks, bytes, instances, total_time, busy, exposed, factor, described FROM comms",
                      selection);
  }
  [[nodiscard]] std::string copies(const Selection& selection = {}) const {
    return ask_passes(
        index,
        "SELECT kind, direction, instances, known, total_time, busy, sized, bytes, measured_bytes, measured_busy "
        "FROM copies",
        selection);
  }
};

}  // namespace

TEST_CASE("timeline of the small index, by device and by stream") {
  const TimeFixture fixture;
  CHECK(fixture.timeline() == "1 - 550 150 250 40 110 0");
  CHECK(fixture.rows("SELECT comm, copy, unknown_wait, gaps, kernels, memory_ops, begin FROM timeline") ==
        "300 40 110 2 3 1 100");
  CHECK(fixture.timeline({}, by_stream()) == "1 1 550 150 0 40 360 0; 1 2 300 0 300 0 0 0");
}

TEST_CASE("selections choose work, a window cuts it off") {
  const TimeFixture fixture;
  CHECK(fixture.timeline(only([](Selection& s) { s.phases = {"prefill"}; })) == "1 - 350 100 250 0 0 0");
  CHECK(fixture.timeline(only([](Selection& s) { s.name_glob = "gemm"; })) == "1 - 550 150 0 0 400 290");
  CHECK(fixture.timeline(only([](Selection& s) { s.streams = {"default"}; })) == "1 - 300 0 300 0 0 0");
  CHECK_THROWS_AS(static_cast<void>(fixture.timeline(only([](Selection& s) { s.devices = {3}; }))), Error);
  CHECK(fixture.timeline(only([](Selection& s) { s.from = 190, s.to = 620; })) == "1 - 430 30 250 40 110 0");
  CHECK(fixture.timeline(only([](Selection& s) { s.from = 300, s.to = 400; })) == "1 - 100 0 100 0 0 0");
  CHECK(fixture.timeline(only([](Selection& s) { s.from = 900; })).empty());
}

TEST_CASE("gaps of the small index") {
  const TimeFixture fixture;
  PassOptions longest;
  longest.most_gaps = 1;
  CHECK(
      fixture.rows("SELECT ts, dur, cause, before_memory_op_id, after_kernel_id, before_kernel_id, all_gaps, all_idle "
                   "FROM idle_gaps",
                   longest) == "500 100 unknown 1 3 - 2 110");
  CHECK(fixture.rows("SELECT stream_id, ts, dur FROM idle_gaps ORDER BY ts", by_stream()) == "1 200 260; 1 500 100");
  CHECK(fixture.rows("SELECT device_id, stream_id, cause, gaps, time, longest, between_steps FROM gaps_by_cause") ==
        "1 - unknown 1 100 100 0; 1 - unknown 1 10 10 1");
  CHECK(fixture.rows("SELECT sum(time) FROM gaps_by_cause") == fixture.rows("SELECT sum(idle) FROM timeline"));
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
  CHECK(rows("SELECT call, kernels FROM launch_calls", decode) == "[no launch] 2");
  CHECK(rows("SELECT instances FROM comms", decode) == "1");
  CHECK(rows("SELECT instances FROM copies", decode) == "1");
  CHECK(rows("SELECT instances FROM sequences", decode).empty());
  CHECK(rows("SELECT total_time, frame FROM call_tree", decode) == "350 [no stack]");
}

TEST_CASE("steps and phases of the small index") {
  const TimeFixture fixture;
  CHECK(fixture.rows("SELECT step, phase, name, ts, dur, kernels, total_time, gpu_ts, gpu_ts_end, first_kernel_id, "
                     "last_kernel_id, timed_on FROM step_figures") ==
        "0 prefill step 5 900 2 400 100 450 1 2 cpu; - - [no step] - - 1 50 600 650 3 3 -");
  CHECK(fixture.rows("SELECT phase, steps, instances, total_time, all_busy FROM phases") ==
        "prefill 1 2 400 400; [no step] 0 1 50 400");
}

TEST_CASE("what was launched before the recording is no work outside of steps") {
  const std::string stepless = "UPDATE kernel SET step_id = NULL, launch_id = NULL WHERE id = ";
  const char* const sql = "SELECT phase, instances, total_time FROM phases WHERE phase GLOB '[[]*'";
  // The first kernel of its stream; the last one of its stream; and on a stream on which no launch is known.
  const TimeFixture first(stepless + "1; UPDATE kernel SET launch_id = 1, stream_id = 1, step_id = 1 WHERE id = 2");
  CHECK(first.rows(sql) == "[launched before the recording] 1 100; [no step] 1 50");
  CHECK(first.rows("SELECT name, kernels, warm_up FROM step_figures WHERE step IS NULL") ==
        "[launched before the recording] 1 -; [no step] 1 -");
  CHECK(first.rows("SELECT code, count FROM coverage WHERE code IN ('before_recording', 'no_step') ORDER BY code") ==
        "before_recording 1; no_step 1");
  const TimeFixture last(stepless + "2; UPDATE kernel SET stream_id = 1 WHERE id = 2");
  CHECK(last.rows(sql) == "[no step] 2 350");
  const TimeFixture alone(stepless + "2");
  CHECK(alone.rows(sql) == "[no step] 2 350");
}

TEST_CASE("launches of the small index") {
  const TimeFixture fixture;
  CHECK(fixture.launches() == "hipLaunchKernel 1 1 30 50 50; [no launch] - 2 - - -");
  CHECK(fixture.launches(only([](Selection& s) { s.phases = {"none"}; })) == "[no launch] - 1 - - -");
  CHECK(fixture.launches(only([](Selection& s) { s.phases = {"prefill"}, s.to = 120; })) ==
        "hipLaunchKernel 1 1 30 50 50");
}

TEST_CASE("communication with and without a description") {
  CHECK(TimeFixture().comms() == "ncclAllReduce - - 1 300 300 250 - 0");
  const TimeFixture described(
      "INSERT INTO collective VALUES (2, 'allreduce', '0', NULL, 4, NULL, 'BFloat16', 100, 100, 1, NULL, NULL, NULL);"
      "INSERT INTO collective VALUES (99, 'allreduce', '0', NULL, 4, NULL, 'BFloat16', 100, 100, 1, NULL, NULL, NULL)");
  CHECK(described.comms() == "allreduce 4 200 1 300 300 250 1.5 1");
  CHECK(described.comms(only([](Selection& s) { s.phases = {"none"}; })).empty());
}

TEST_CASE("copies and fills, with sizes and durations that are unknown") {
  const TimeFixture fixture(
      "INSERT INTO memory_op (id, ts, dur, kind, direction, name_id, bytes, stream_id) VALUES "
      "(2, 480, 40, 'memcpy', 'HtoD', 9, 20, 2), (3, 500, NULL, 'memcpy', 'HtoD', 9, 7, 1), "
      "(4, 510, 6, 'memcpy', 'HtoD', 9, NULL, 1), (5, 600, 8, 'memset', NULL, 9, NULL, 1)");
  CHECK(fixture.copies() == "memcpy HtoD 4 3 86 60 3 107 100 60; memset - 1 1 8 8 0 - 0 0");
  CHECK(fixture.copies(only([](Selection& s) { s.from = 505, s.to = 600; })) == "memcpy HtoD 1 1 6 6 0 - 0 0");
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

}  // namespace tracedb
