#include "ascend/model_comparison.h"

#include <doctest/doctest.h>

#include <string>

namespace tracedb {
namespace {

ModelTotal modelled(std::int64_t hit_ns, std::int64_t miss_ns, std::int64_t hits, std::int64_t misses,
                    const std::string& source) {
  ModelTotal total;
  total.hit_ns = hit_ns;
  total.miss_ns = miss_ns;
  total.hits = hits;
  total.misses = misses;
  total.sources = {source};
  return total;
}

const ModelRow& row_named(const ModelComparison& comparison, const std::string& type) {
  for (const ModelRow& row : comparison.rows) {
    if (row.key.type == type) return row;
  }
  FAIL(type);
  return comparison.total;
}

}  // namespace

TEST_CASE("model comparison: status, errors and sums") {
  ModelSide model;
  model.totals[{"A", ""}] = modelled(100, 0, 1, 0, "MEASURED");
  model.totals[{"B", ""}] = modelled(50, 50, 1, 1, "INTERPOLATED");
  model.totals[{"C", ""}] = modelled(0, 10, 0, 1, "");
  model.totals[{"D", ""}] = modelled(7, 0, 1, 0, "MEASURED");
  model.measured_ns = 157;
  ProfileSide profile;
  profile.totals[{"A", ""}] = {200, 2};
  profile.totals[{"B", ""}] = {50, 1};
  profile.totals[{"C", ""}] = {1, 1};
  profile.totals[{"E", ""}] = {3, 4};
  const ModelComparison comparison = compare_model(model, profile, 2, ModelBy::kKernel);
  CHECK(row_named(comparison, "A").status == ModelStatus::kHit);
  CHECK(row_named(comparison, "A").error_percent == 0);
  CHECK(row_named(comparison, "A").count_error_percent == 0);
  CHECK(row_named(comparison, "B").status == ModelStatus::kPartial);
  CHECK(row_named(comparison, "B").error_percent == 300);
  CHECK(row_named(comparison, "C").status == ModelStatus::kMiss);
  CHECK(row_named(comparison, "D").status == ModelStatus::kModelOnly);
  CHECK(!row_named(comparison, "D").error_percent);
  CHECK(row_named(comparison, "E").status == ModelStatus::kProfileOnly);
  CHECK(row_named(comparison, "E").error_percent == -100);
  std::int64_t model_ns = 0, profile_ns = 0;
  for (const ModelRow& row : comparison.rows) {
    model_ns += row.model_ns;
    profile_ns += row.profile_ns;
  }
  CHECK(model_ns == comparison.total.model_ns);
  CHECK(profile_ns == comparison.total.profile_ns);
  CHECK(comparison.total.profile_ns == 127);
  CHECK(comparison.m6.value() == doctest::Approx(157 / 127.0));
  CHECK(comparison.rows.front().key.type == "A");

  CHECK(rows_beyond(comparison, 300, 0).size() == 2);  // C and D
  CHECK(rows_beyond(comparison, 1e9, 5).empty());
}

TEST_CASE("model comparison: by source") {
  ModelSide model;
  model.totals[{"A", ""}] = modelled(100, 0, 1, 0, "MEASURED");
  model.totals[{"B", ""}] = modelled(30, 0, 1, 0, "INTERPOLATED");
  model.totals[{"B", ""}].sources.insert("MEASURED");
  model.totals[{"C", ""}] = modelled(0, 10, 0, 1, "");
  ProfileSide profile;
  profile.totals[{"A", ""}] = {90, 1};
  profile.totals[{"E", ""}] = {5, 1};
  const ModelComparison comparison = compare_model(model, profile, 1, ModelBy::kSource);
  REQUIRE(comparison.rows.size() == 4);
  CHECK(row_named(comparison, "MEASURED").profile_ns == 90);
  CHECK(row_named(comparison, "INTERPOLATED+MEASURED").model_ns == 30);
  CHECK(row_named(comparison, "[no measurement]").miss_ns == 10);
  CHECK(row_named(comparison, "[not modelled]").profile_ns == 5);
}

TEST_CASE("model comparison: nothing on either side") {
  const ModelComparison comparison = compare_model({}, {}, 1, ModelBy::kKernel);
  CHECK(comparison.rows.empty());
  CHECK(!comparison.m6);
  CHECK(rows_beyond(comparison, 0, 0).empty());
}

TEST_CASE("model comparison: shapes") {
  CHECK(normalized_shapes("[[16, 5120], [5120, 5120]]") == "16,5120;5120,5120");
  CHECK(normalized_shapes("\"16,5120;5120,5120\"") == "16,5120;5120,5120");
  CHECK(normalized_shapes(" [[16], []] ") == "16;");
  CHECK(normalized_shapes("[what") == "[what");
  CHECK(normalized_shapes("").empty());
}

TEST_CASE("model comparison: policies for duplicates") {
  CHECK(duplicate_policy_from("window=500ns")->window_ns == 500);
  CHECK(duplicate_policy_from("window=0.5us")->window_ns == 500);
  CHECK(duplicate_policy_from("window=40")->window_ns == 40);
  CHECK(duplicate_policy_from("none")->rule == DuplicateRule::kNone);
  for (const char* wrong : {"", "window", "window=", "window=-1", "window=1s", "names"}) {
    CAPTURE(wrong);
    CHECK(!duplicate_policy_from(wrong));
  }
}

}  // namespace tracedb
