#include "ascend/op_mapping.h"

#include <doctest/doctest.h>

#include <string>

#include "base/error.h"

namespace tracedb {
namespace {

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

}  // namespace

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
  for (const char* value :
       {"true", "Yes", "ON", "1", "\"false\"", "'0'", "text", "[0]", "0.5", "fAlse", "!!str false"}) {
    CAPTURE(value);
    CHECK(is_free(value));
  }
  for (const char* value : {"false", "No", "OFF", "0", "0x0", "0.0", "-0", "null", "~", "", "''", "[]", "{}"}) {
    CAPTURE(value);
    CHECK(!is_free(value));
  }
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
  CHECK(short_op_name("torch.ops.torch.ops.aten.mm.default") == "aten.mm.default");
  CHECK(short_op_name("aten.mm") == "aten.mm");
  CHECK(short_op_name("") == "");
}

}  // namespace tracedb
