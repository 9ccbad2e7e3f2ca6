#include "passes/tables/kernel_groups.h"

#include <doctest/doctest.h>

#include "passes/classify/kernel_classes.h"
#include "support/small_index.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

struct Fixture {
  TempDirectory folder;
  Index index;
  explicit Fixture(SmallIndexContent content = SmallIndexContent::kRows)
      : index(open_small_index(folder / "small.tracedb", content)) {}

  [[nodiscard]] std::string groups(const Selection& selection, GroupBy by) const {
    make_kernel_group_table(index, selection, by);
    return index.database()
        .query_text("SELECT group_concat(label || ' ' || n || ' ' || total || ' ' || busy, ', ') FROM kernel_group")
        .value_or("");
  }
};

template <class Change>
Selection only(Change change) {
  Selection selection;
  change(selection);
  return selection;
}

}  // namespace

TEST_CASE("kernels by name, class and phase") {
  const Fixture fixture;
  Classifier classifier(load_rules("default"));
  make_kernel_class_table(fixture.index, classifier);
  CHECK(fixture.groups({}, GroupBy::kName) == "gemm<float> 2 150 150, ncclAllReduce 1 300 300");
  CHECK(fixture.groups({}, GroupBy::kClass) == "dense_gemm 2 150 150, communication 1 300 300");
  CHECK(fixture.groups({}, GroupBy::kPhase) == "[no step] 1 50 50, prefill 2 400 350");
  CHECK(fixture.index.database().query_text("SELECT names FROM kernel_group WHERE label = 'prefill'") == "2");
}

TEST_CASE("busy time of everything counts what overlaps once") {
  const Fixture fixture;
  CHECK(make_kernel_group_table(fixture.index, {}, GroupBy::kName) == 400);  // 100..450 and 600..650
}

TEST_CASE("every selection") {
  const Fixture fixture;
  Classifier classifier(load_rules("default"));
  make_kernel_class_table(fixture.index, classifier);
  const auto instances = [&](auto change) {
    make_kernel_group_table(fixture.index, only(change), GroupBy::kName);
    return fixture.index.database().query_int64("SELECT coalesce(sum(n), 0) FROM kernel_group");
  };
  CHECK(instances([](Selection& s) { s.phase = "prefill"; }) == 2);
  CHECK(instances([](Selection& s) { s.phase = "decode"; }) == 0);
  CHECK(instances([](Selection& s) { s.phase = "none"; }) == 1);
  CHECK(instances([](Selection& s) { s.first_step = s.last_step = 0; }) == 2);
  CHECK(instances([](Selection& s) { s.first_step = 1; }) == 0);
  CHECK(instances([](Selection& s) { s.device = 0; }) == 3);
  CHECK(instances([](Selection& s) { s.device = 1; }) == 0);
  CHECK(instances([](Selection& s) { s.stream = "7"; }) == 2);
  CHECK(instances([](Selection& s) { s.stream = "default"; }) == 1);
  CHECK(instances([](Selection& s) { s.name_glob = "gemm"; }) == 2);  // the short name
  CHECK(instances([](Selection& s) { s.name_regex = "^nccl.*duce$"; }) == 1);
  CHECK(instances([](Selection& s) { s.op = "comm*"; }) == 1);
  CHECK(instances([](Selection& s) { s.from = 150, s.to = 600; }) == 1);
  CHECK(instances([](Selection& s) { s.op = "dense_gemm", s.phase = "none"; }) == 1);
}

TEST_CASE("unknown durations count as kernels and in nothing else") {
  const TempDirectory folder;
  write_small_index(folder / "small.tracedb");
  {
    Database database(folder / "small.tracedb", Database::Mode::kReadWrite);
    database.execute("UPDATE kernel SET dur = NULL WHERE id = 3");
  }
  const Index index = Index::open(folder / "small.tracedb");
  make_kernel_group_table(index, {}, GroupBy::kPhase);
  CHECK(index.database().query_text("SELECT n || ' ' || known || ' ' || total || ' ' || (median IS NULL) FROM "
                                    "kernel_group WHERE label = '[no step]'") == "1 0 0 1");
}

TEST_CASE("no kernels, no groups") {
  const Fixture fixture(SmallIndexContent::kEmpty);
  CHECK(make_kernel_group_table(fixture.index, {}, GroupBy::kName) == 0);
  CHECK(fixture.groups({}, GroupBy::kPhase).empty());
}

}  // namespace tracedb
