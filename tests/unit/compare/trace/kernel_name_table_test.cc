#include "compare/trace/kernel_name_table.h"

#include <doctest/doctest.h>

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

}  // namespace tracedb
