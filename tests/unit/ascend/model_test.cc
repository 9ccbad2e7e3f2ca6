#include <doctest/doctest.h>

#include <string>

#include "ascend/model_comparison.h"
#include "ascend/op_mapping.h"
#include "base/error.h"
#include "base/text/json_text.h"
#include "support/cases.h"
#include "support/rows.h"

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
  CHECK(as_row(row_named(comparison, "A").error_percent, row_named(comparison, "A").count_error_percent) == "0 0");
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
  CHECK(as_row(row_named(comparison, "MEASURED").profile_ns, row_named(comparison, "INTERPOLATED+MEASURED").model_ns,
               row_named(comparison, "[no measurement]").miss_ns,
               row_named(comparison, "[not modelled]").profile_ns) == "90 30 10 5");
}

TEST_CASE("model comparison: nothing on either side") {
  const ModelComparison comparison = compare_model({}, {}, 1, ModelBy::kKernel);
  CHECK(as_row(comparison.rows.empty(), comparison.m6) == "true -");
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
  CHECK(as_row(duplicate_policy_from("window=500ns")->window_ns, duplicate_policy_from("window=0.5us")->window_ns,
               duplicate_policy_from("window=40")->window_ns) == "500 500 40");
  CHECK(duplicate_policy_from("none")->rule == DuplicateRule::kNone);
  for (const char* wrong : {"", "window", "window=", "window=-1", "window=1s", "names"}) {
    CAPTURE(wrong);
    CHECK(!duplicate_policy_from(wrong));
  }
}

std::string members(std::string_view object) {
  std::string out;
  for (const auto& [key, value] : json_members(object)) out += std::string(key) + "=" + text_of_json(value) + ";";
  return out;
}

TEST_CASE("json arguments: members of an object") {
  CHECK(members(R"({"a":"x","b":1.5,"c":null,"d":[1,"]",{"e":2}],"f":{"g":"}"}})") ==
        R"(a=x;b=1.5;c=;d=[1,"]",{"e":2}];f={"g":"}"};)");
  CHECK(members(R"({ "a" : "x" , "b" : true } )") == "a=x;b=true;");
  CHECK(members(R"({"a":"q\"u\\","b":"\u00fc\n"})") == "a=q\"u\\;b=\xC3\xBC\n;");
  CHECK(members("{}").empty());
}

TEST_CASE("json arguments: what is broken ends the members") {
  for (const char* text : {"", "[]", "{", "{\"a\"", "{\"a\":", "{\"a\":\"x", "{\"a\":[1", "{a:1}"}) {
    CAPTURE(text);
    CHECK(members(text).empty());
  }
  CHECK(members(R"({"a":1,"b")") == "a=1;");
}

constexpr const char* kNested = R"(
version: "0.18.0"
operator_mappings:

  # a remark
  "aten.mm.default":
    kernel_type: MatMulV2
    alternate_kernel_types: [MatMulV3, MatMulCommon]
    notes: >
      [HIGH] 中文 folded
      over lines: with a colon
  aten.view.default: {zero_cost: yes}
  aten.add.Tensor:
    kernel_type: Add
    kernel_type: AddV2
)";

bool is_free(const std::string& value) {
  const OpMapping mapping = OpMapping::parse("op: {x: 1, zero_cost: " + value + "}", "m.yaml", OpMapping::kTop);
  return mapping.find("op")->zero_cost;
}

TEST_CASE("op mapping: entries below operator_mappings are found, and with 'top' they are not") {
  const OpMapping mapping = OpMapping::parse(kNested, "m.yaml", OpMapping::kAuto);
  CHECK(mapping.size() == 3);
  REQUIRE(mapping.find("torch.ops.aten.mm.default") != nullptr);
  CHECK(mapping.find("torch.ops.aten.mm.default")->kernel_type == "MatMulV2");
  CHECK(mapping.find("aten.view.default")->zero_cost);
  CHECK(mapping.find("aten.add.Tensor")->kernel_type == "AddV2");
  CHECK(mapping.find("aten.sub.Tensor") == nullptr);

  const OpMapping original = OpMapping::parse(kNested, "m.yaml", OpMapping::kTop);
  CHECK(original.find("aten.mm.default") == nullptr);
  CHECK(original.find("operator_mappings") != nullptr);
  CHECK(OpMapping::parse(kNested, "m.yaml", "operator_mappings").size() == 3);
  CHECK_THROWS_WITH_AS(OpMapping::parse(kNested, "m.yaml", "mappings"), "m.yaml: has no key 'mappings'", Error);
}

TEST_CASE("op mapping: what YAML 1.1 takes for true") {
  check_each<std::string>(true, is_free,
                          {"true", "Yes", "ON", "1", "\"false\"", "'0'", "text", "[0]", "0.5", "fAlse", "!!str false"});
  check_each<std::string>(false, is_free,
                          {"false", "No", "OFF", "0", "0x0", "0.0", "-0", "null", "~", "", "''", "[]", "{}"});
}

TEST_CASE("op mapping: anchors and merge keys") {
  const OpMapping mapping = OpMapping::parse(
      "base: &base {kernel_type: A, zero_cost: true}\n"
      "one: {<<: *base, kernel_type: B}\n"
      "two: {<<: [{kernel_type: C}, *base]}\n",
      "m.yaml", OpMapping::kAuto);
  CHECK(mapping.find("one")->kernel_type == "B");
  CHECK(mapping.find("one")->zero_cost);
  CHECK(mapping.find("two")->kernel_type == "C");
}

TEST_CASE("op mapping: what is no mapping") {
  CHECK(OpMapping::parse("", "m.yaml", OpMapping::kAuto).size() == 0);
  CHECK_THROWS_WITH_AS(OpMapping::parse("[a]", "m.yaml", OpMapping::kTop), "m.yaml: no mapping of operators", Error);
  const OpMapping mapping = OpMapping::parse("a: text\nb: {}\nc: null\nd: [1]\n", "m.yaml", OpMapping::kAuto);
  for (const char* op : {"a", "b", "c", "d"}) CHECK(mapping.find(op) == nullptr);
  CHECK_THROWS_AS(OpMapping::parse("a: [1", "m.yaml", OpMapping::kAuto), Error);
  CHECK_THROWS_AS(OpMapping::parse("a: 1\n---\nb: 2\n", "m.yaml", OpMapping::kAuto), Error);
}

TEST_CASE("op mapping: short names") {
  CHECK(as_lines(short_op_name("torch.ops.torch.ops.aten.mm.default"), short_op_name("aten.mm"), short_op_name("")) ==
        "aten.mm.default\naten.mm\n");
}

}  // namespace
}  // namespace tracedb
