#include "compare/trace/class_families.h"

#include <doctest/doctest.h>

#include "compare/class_levels.h"

namespace tracedb {
namespace {

// Kernels named after their classes, aligned in pairs.
struct FamilySides {
  KernelNameTable words{ClassFamilies(load_rules("default"))};
  GroupAlignment alignment;
  std::set<OpId> a, b;

  NameId name(std::string_view op, const char* side) {
    const NameId id = words.intern(std::string(op) + side, op, op, op == "reduce" ? "gemm.split_sum" : "");
    if (op != "reduce") (*side == 'a' ? a : b).insert(words.op_of(id));
    return id;
  }
  FamilySides& pair(std::string_view baseline, std::string_view candidate) {
    if (alignment.segments.empty()) alignment.segments.emplace_back();
    KernelPair& pair = alignment.segments[0].pairs.emplace_back();
    if (!baseline.empty()) pair.baseline = {name(baseline, "a"), 1, 10, 0, -1};
    if (!candidate.empty()) pair.candidate = {name(candidate, "b"), 1, 10, 0, -1};
    return *this;
  }
  // As what kernels of a class are shown on a side.
  std::string shown(std::string_view op, const char* side) {
    const ClassLevels levels(a, b, alignment, words);
    return words.op_name(levels.op_of(words.intern(std::string(op) + side, op, op), words));
  }
};

}  // namespace

TEST_CASE("the family of a class") {
  const ClassFamilies families(load_rules("default"));
  CHECK(families.family_of("attention_decode") == "attention");
  CHECK(families.family_of("attention") == "attention");
  CHECK(families.family_of("elementwise+norm") == "norm");
  CHECK(families.family_of("elementwise+norm+quantise") == "norm+quantise");
  CHECK(families.family_of("kv_cache+rotary") == families.family_of("rotary+kv_cache"));
  CHECK(families.family_of("elementwise") == "elementwise");
  CHECK(families.family_of("reduce") == "reduce");
  CHECK(families.family_of("of other rules") == "of other rules");
  CHECK(families.host_of("gemm.split_sum") == "dense_gemm");
  CHECK(families.host_of("gemm.any").empty());
  CHECK(ClassFamilies().family_of("elementwise+norm") == "elementwise+norm");
}

TEST_CASE("classes are shown at the finest level that both sides have") {
  FamilySides sides;
  sides.pair("attention_decode", "attention")
      .pair("norm", "norm")
      .pair("elementwise+norm", "norm")
      .pair("copy", "copy");
  CHECK(sides.shown("attention_decode", "a") == "attention");
  CHECK(sides.shown("attention", "b") == "attention");
  CHECK(sides.shown("elementwise+norm", "a") == "norm");
  CHECK(sides.shown("norm", "b") == "norm");
  CHECK(sides.shown("copy", "a") == "copy");
}

TEST_CASE("what both sides name alike keeps its class, and so does what is new") {
  FamilySides fine;
  fine.pair("attention_decode", "attention_decode").pair("attention_prefill", "attention_prefill");
  CHECK(fine.shown("attention_decode", "a") == "attention_decode");
  CHECK(fine.shown("attention_prefill", "b") == "attention_prefill");
  FamilySides more;
  more.pair("attention_decode", "attention_decode").pair("", "attention_prefill");
  CHECK(more.shown("attention_prefill", "b") == "attention_prefill");
  FamilySides none;
  none.pair("elementwise+norm", "");
  CHECK(none.shown("elementwise+norm", "a") == "elementwise+norm");
}

TEST_CASE("classes that both have, but take for one another, are shown as their family") {
  FamilySides sides;
  sides.pair("norm", "elementwise+norm").pair("elementwise+norm", "norm").pair("norm", "norm");
  for (const char* side : {"a", "b"}) {
    CHECK(sides.shown("norm", side) == "norm");
    CHECK(sides.shown("elementwise+norm", side) == "norm");
  }
}

TEST_CASE("a companion counts as what its host is") {
  FamilySides sides;
  sides.pair("dense_gemm", "dense_gemm").pair("", "reduce");
  CHECK(sides.shown("reduce", "b") == "dense_gemm");
}

}  // namespace tracedb
