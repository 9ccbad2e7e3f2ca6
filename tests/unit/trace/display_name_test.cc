#include "trace/display_name.h"

#include <doctest/doctest.h>

#include <set>

namespace tracedb {
namespace {

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : display_names(names)) out += (out.empty() ? "" : " | ") + name;
  return out;
}

}  // namespace

TEST_CASE("what distinguishes a kernel is shown") {
  CHECK(display_name("void at::native::(anonymous namespace)::cunn_SoftMaxForwardReg<float, float, 4>(float*, int)") ==
        "cunn_SoftMaxForwardReg");
  CHECK(display_name("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT64x288x64_MI16x16x1_SN_LDSB1_AFC1_AFEM1_ASEM1") ==
        "Cijk_Alik_Bljk_BBS_BH_Bias…MT64x288x64");
  CHECK(
      display_name("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x128x64_warpgroupsize1x1x1_kernel__5x_cublas") ==
      "sm90_xmma_gemm_bf16bf16…tilesize64x128x64");
  CHECK(display_name("cutlass_80_wmma_tensorop_f16_s161616gemm_f16_16x16_128x2_tn_align1") ==
        "cutlass_80_wmma_tensorop_f16…16x16…_align1");
  CHECK(display_name("void vllm::rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*, float)") == "rms_norm_kernel");
  CHECK(display_name("void cutlass::Kernel2<cutlass_80_tensorop_s16816gemm_bf16_128x64_nn>(Params)") ==
        "cutlass::Kernel2<cutlass_80_tensorop_s16816gemm_bf16_128x64_nn>");
  CHECK(
      display_name("void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<int>, std::array<char*, "
                   "1ul> >(int, at::native::FillFunctor<int>, std::array<char*, 1ul>)") ==
      "vectorized_elementwise_kernel<FillFunctor>");
  CHECK(display_name("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*, unsigned long, ncclWork*)") ==
        "ncclDevKernel_AllReduce_Sum_bf16_RING_LL");
}

TEST_CASE("what is no name of a function stays as it is") {
  for (const char* name : {"", "[others]", "Memcpy HtoD (Pageable -> Device)", "gemm", "all 次数", "a::", "<<<"}) {
    CHECK(display_name(name) == name);
  }
}

TEST_CASE("different kernels of one table are shown differently") {
  CHECK(joined({"void f<int>(int)", "void f<float>(int)", "void g<int>(int)", "void f<int>(int)"}) ==
        "f…int | f…float | g | f…int");
  CHECK(joined({"void n::transpose<n::Rows>(int)", "void n::transpose<n::Columns>(int)"}) ==
        "n::transpose<n::Rows> | n::transpose<n::Columns>");
  std::vector<std::string> names;
  const std::string same(200, 'x');
  for (int i = 0; i < 50; ++i) names.push_back("void f<" + same + std::to_string(i) + ">(int)");
  const std::vector<std::string> shown = display_names(names);
  CHECK(std::set<std::string>(shown.begin(), shown.end()).size() == names.size());
}

TEST_CASE("a number is no other name of the table") {
  const std::vector<std::string> shown = display_names(std::vector<std::string>{"f", "void f(int)", "f…", "f… #1"});
  CHECK(std::set<std::string>(shown.begin(), shown.end()).size() == 4);
}

}  // namespace tracedb
