#include <doctest/doctest.h>

#include "support/asked_passes.h"

namespace tracedb {

TEST_CASE("kernels by name and operation class") {
  const ChangedIndex small;
  CHECK(ask_passes(small.index, "SELECT name, n, total, busy FROM kernels_by_name") ==
        "gemm<float> 2 150 150; ncclAllReduce 1 300 300");
  CHECK(ask_passes(small.index, "SELECT op, n, total, busy, names FROM ops") ==
        "dense_gemm 2 150 150 1; communication 1 300 300 1");
  CHECK(ask_passes(small.index, "SELECT op, pass, n FROM ops_by_pass") ==
        "dense_gemm [no pass] 2; communication [no pass] 1");
  CHECK(ask_passes(small.index, "SELECT name, pass, n FROM kernels_by_pass LIMIT 1") == "gemm<float> [no pass] 2");
}

TEST_CASE("busy time of everything counts what overlaps once") {
  const ChangedIndex small;  // 100..450 and 600..650
  CHECK(ask_passes(small.index, "SELECT DISTINCT all_busy FROM kernels_by_name") == "400");
}

TEST_CASE("every selection") {
  const ChangedIndex small;
  const auto instances = [&](auto change) {
    return ask_passes(small.index, "SELECT coalesce(sum(n), 0) FROM kernels_by_name", only(change));
  };
  CHECK(instances([](Selection& s) { s.phase = "prefill"; }) == "2");
  CHECK(instances([](Selection& s) { s.phase = "decode"; }) == "0");
  CHECK(instances([](Selection& s) { s.phase = "none"; }) == "1");
  CHECK(instances([](Selection& s) { s.first_step = s.last_step = 0; }) == "2");
  CHECK(instances([](Selection& s) { s.first_step = 1; }) == "0");
  CHECK(instances([](Selection& s) { s.device = 0; }) == "3");
  CHECK(instances([](Selection& s) { s.device = 1; }) == "0");
  CHECK(instances([](Selection& s) { s.stream = "7"; }) == "2");
  CHECK(instances([](Selection& s) { s.stream = "default"; }) == "1");
  CHECK(instances([](Selection& s) { s.name_glob = "gemm"; }) == "2");  // the short name
  CHECK(instances([](Selection& s) { s.name_regex = "^nccl.*duce$"; }) == "1");
  CHECK(instances([](Selection& s) { s.op = "comm*"; }) == "1");
  CHECK(instances([](Selection& s) { s.from = 150, s.to = 600; }) == "1");
  CHECK(instances([](Selection& s) { s.op = "dense_gemm", s.phase = "none"; }) == "1");
  CHECK(instances([](Selection& s) { s.layer = "none"; }) == "3");
}

TEST_CASE("unknown durations count as kernels and in nothing else") {
  const ChangedIndex changed("UPDATE kernel SET dur = NULL WHERE id = 2");
  CHECK(ask_passes(changed.index, "SELECT n, known, total, median FROM ops WHERE op = 'communication'") == "1 0 0 -");
}

TEST_CASE("no kernels, no groups") {
  const TempDirectory folder;
  const Index index = open_small_index(folder / "empty.tracedb", SmallIndexContent::kEmpty);
  CHECK(ask_passes(index, "SELECT * FROM kernels_by_name").empty());
  CHECK(ask_passes(index, "SELECT * FROM ops").empty());
}

}  // namespace tracedb
