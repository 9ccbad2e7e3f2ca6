#include <doctest/doctest.h>

#include "support/asked_passes.h"

namespace tracedb {

TEST_CASE("kernels by name and operation class") {
  const ChangedIndex small;
  CHECK(ask_passes(small.index, "SELECT name, instances, total_time, busy FROM kernels_by_name") ==
        "gemm<float> 2 150 150; ncclAllReduce 1 300 300");
  CHECK(ask_passes(small.index, "SELECT op, instances, total_time, busy, names FROM ops") ==
        "dense_gemm 2 150 150 1; communication 1 300 300 1");
  CHECK(ask_passes(small.index, "SELECT op, pass, instances FROM ops_by_pass") ==
        "dense_gemm [no pass] 2; communication [no pass] 1");
  CHECK(ask_passes(small.index, "SELECT name, pass, instances FROM kernels_by_pass LIMIT 1") ==
        "gemm<float> [no pass] 2");
}

TEST_CASE("busy time of everything counts what overlaps once") {
  const ChangedIndex small;  // 100..450 and 600..650
  CHECK(ask_passes(small.index, "SELECT DISTINCT all_busy FROM kernels_by_name") == "400");
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

TEST_CASE("unknown durations count as kernels and in nothing else") {
  const ChangedIndex changed("UPDATE kernel SET dur = NULL WHERE id = 2");
  CHECK(ask_passes(changed.index, "SELECT instances, known, total_time, med FROM ops WHERE op = 'communication'") ==
        "1 0 0 -");
}

TEST_CASE("no kernels, no groups") {
  const TempDirectory folder;
  const Index index = open_small_index(folder / "empty.tracedb", SmallIndexContent::kEmpty);
  CHECK(ask_passes(index, "SELECT * FROM kernels_by_name").empty());
  CHECK(ask_passes(index, "SELECT * FROM ops").empty());
}

}  // namespace tracedb
