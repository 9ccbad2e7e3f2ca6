#include "compare/trace/kernel_name_table.h"

#include <doctest/doctest.h>

#include "compare/class_levels.h"

namespace tracedb {

TEST_CASE("normalised names: readable symbols, without Inductor's running number") {
  CHECK(normalised_name("_Z4axpyf") == "axpy(float)");
  CHECK(normalised_name("triton_poi_fused_add_mul_17") == "triton_poi_fused_add_mul");
  CHECK(normalised_name("triton_red_fused_3") == "triton_red_fused");
  CHECK(normalised_name("triton_per_fused__softmax_0") == normalised_name("triton_per_fused__softmax_12"));
  // Numbers that say which kernel it is stay.
  CHECK(normalised_name("gemm_128_64") == "gemm_128_64");
  CHECK(normalised_name("triton_mm_7") == "triton_mm_7");
  CHECK(normalised_name("_gumbel_sample_kernel") == "_gumbel_sample_kernel");
  CHECK(normalised_name("").empty());
  CHECK(normalised_name("_Z") == "_Z");
}

TEST_CASE("the same kernel has one number, however it is spelled") {
  KernelNameTable words;
  const NameId readable = words.intern("axpy(float)", "axpy", "elementwise");
  CHECK(words.intern("_Z4axpyf", "axpy", "elementwise") == readable);
  const NameId first = words.intern("triton_poi_fused_add_1", "triton_poi_fused_add_1", "elementwise");
  CHECK(words.intern("triton_poi_fused_add_8", "triton_poi_fused_add_8", "elementwise") == first);
  const NameId other = words.intern("axpy(double)", "axpy", "elementwise");
  CHECK(other != readable);
  CHECK(words.op_of(other) == words.op_of(readable));
  CHECK(words.op_name(words.op_of(other)) == "elementwise");
  CHECK(words.entries()[other].short_name == "axpy");
  CHECK(words.op_name(words.op_of(0)) == "other");  // of kernels without a name
}

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
