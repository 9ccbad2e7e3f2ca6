#include "trace/event_names.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace tracedb {

TEST_CASE("kinds of runtime calls") {
  const std::vector<std::pair<std::string_view, CallKind>> calls = {
      {"cudaLaunchKernel", CallKind::kLaunch},
      {"cudaLaunchKernel_v7000", CallKind::kLaunch},
      {"cudaLaunchKernelExC_v11060", CallKind::kLaunch},
      {"cudaLaunchCooperativeKernel", CallKind::kLaunch},
      {"cuLaunchKernel", CallKind::kLaunch},
      {"cuLaunchKernelEx", CallKind::kLaunch},
      {"cudaLaunch", CallKind::kLaunch},
      {"hipLaunchKernel", CallKind::kLaunch},
      {"hipExtLaunchKernel", CallKind::kLaunch},
      {"hipModuleLaunchKernel", CallKind::kLaunch},
      {"hipExtModuleLaunchKernel", CallKind::kLaunch},
      {"cudaGraphLaunch", CallKind::kGraphLaunch},
      {"cudaGraphLaunch_v10000", CallKind::kGraphLaunch},
      {"cuGraphLaunch", CallKind::kGraphLaunch},
      {"hipGraphLaunch", CallKind::kGraphLaunch},
      {"cudaMemcpyAsync", CallKind::kCopy},
      {"cuMemcpyHtoDAsync_v2", CallKind::kCopy},
      {"hipMemcpyWithStream", CallKind::kCopy},
      {"hipMemsetAsync", CallKind::kCopy},
      {"cudaStreamSynchronize", CallKind::kSync},
      {"cudaStreamWaitEvent", CallKind::kSync},
      {"hipEventQuery", CallKind::kSync},
      {"hipDeviceSynchronize", CallKind::kSync},
      {"cudaMalloc", CallKind::kOther},
      {"hipGetDevice", CallKind::kOther},
      {"cudaEventRecord", CallKind::kOther},
      {"cudaStreamIsCapturing", CallKind::kOther},
      {"hipGraphInstantiate", CallKind::kOther},
      {"", CallKind::kOther},
  };
  for (const auto& entry : calls) {  // no bindings: clang cannot capture them
    const auto& name = entry.first;
    const auto& kind = entry.second;
    CAPTURE(name);
    CHECK(call_kind(name) == kind);
  }
}

TEST_CASE("directions of copies") {
  const auto direction = [](std::string_view name) { return copy_directions()[copy_direction_index(name)]; };
  CHECK(direction("Memcpy HtoD (Pinned -> Device)") == "HtoD");
  CHECK(direction("Memcpy DtoH (Device -> Pageable)") == "DtoH");
  CHECK(direction("Memcpy DtoD (Device -> Device)") == "DtoD");
  CHECK(direction("Memcpy PtoP (Device -> Device)") == "PtoP");
  CHECK(direction("CopyHostToDevice") == "HtoD");
  CHECK(direction("DeviceToDevice") == "DtoD");
  CHECK(direction("Memset (Device)").empty());
  CHECK(direction("").empty());
}

TEST_CASE("short names of kernels") {
  const std::vector<std::pair<std::string_view, std::string_view>> names = {
      {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3> "
       ">(int, "
       "at::native::CUDAFunctor_add<float>, std::array<char*, 3>)",
       "at::native::vectorized_elementwise_kernel"},
      {"void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 3>(float*, int)",
       "at::native::CatArrayBatchedCopy"},
      {"void (anonymous namespace)::softmax_warp_forward<float>(float*)", "softmax_warp_forward"},
      {"void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl<f>(at::TensorIteratorBase&, f const&)::"
       "{lambda(int)#1}>(int, at::native::gpu_kernel_impl<f>(at::TensorIteratorBase&, f const&)::{lambda(int)#1})",
       "at::native::elementwise_kernel"},
      {"void k<decltype(a()->b), (x)1>(int)", "k"},
      {"Cijk_Ailk_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT128x128x64_MI16x16x1_SN",
       "Cijk_Ailk_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT128x128x64_MI16x16x1_SN"},
      {"ncclDevKernel_AllReduce_Sum_f16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
       "ncclDevKernel_AllReduce_Sum_f16_RING_LL"},
      {"_ZN7ck_tile6kentryILi256ELi2ENS_11FmhaFwdTestIiEEEEvi", "ck_tile::kentry"},
      {"_ZN7ck_tile6kentryILi256ELi2ENS_11FmhaFwdTestIiEEEEvi.kd", "ck_tile::kentry"},
      {"_ZN2at6native12_GLOBAL__N_16kernelIfEEvPf", "at::native::kernel"},
      {"__amd_rocclr_copyBuffer.kd", "__amd_rocclr_copyBuffer"},
      {"void f<int>(int) [clone .kd]", "f"},
      {"triton_poi_fused_add_mul_0", "triton_poi_fused_add_mul_0"},
      {"nvjet_tst_128x64_64x8_1x2_h_bz_coopA_NNT", "nvjet_tst_128x64_64x8_1x2_h_bz_coopA_NNT"},
      {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64",
       "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64"},
      {"std::enable_if<!(false), void>::type internal::gemvx::kernel<int, float>(cublasGemvParams<float>)",
       "internal::gemvx::kernel"},
      {"void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<int> > >(flash::Params)",
       "cutlass::device_kernel"},
      {"Memcpy HtoD (Pinned -> Device)", "Memcpy HtoD (Pinned -> Device)"},
      {"kernel [clone .kd]", "kernel"},
      {"f(int)::g", "f::g"},
      {"", ""},
      {"()", "()"},
      {"<>", "<>"},
      {"void k<int", "k"},
      {"void", "void"},
      {"_Znonsense", "_Znonsense"},
  };
  for (const auto& entry : names) {  // no bindings: clang cannot capture them
    const auto& name = entry.first;
    const auto& expected = entry.second;
    CAPTURE(name);
    CHECK(short_name(name) == expected);
  }
}

TEST_CASE("a name of any length and nesting is cut without harm") {
  CHECK(short_name("void k<" + std::string(100000, '<')) == "k");
  CHECK_FALSE(short_name(std::string(100000, '(')).empty());
  CHECK_FALSE(short_name("_ZN" + std::string(20000, 'I')).empty());
  std::string nested = "void k";
  for (int i = 0; i < 3000; ++i) nested += "<a";
  nested += std::string(3000, '>') + "(int)";
  CHECK(short_name(nested) == "k");
}

TEST_CASE("labels of python frames") {
  const auto label = [](std::string_view name) {
    const FrameLabel parts = frame_label(name);
    return std::string(parts.function) + "|" + std::string(parts.file) + "|" + std::to_string(parts.line);
  };
  CHECK(label("vllm/model.py(12): forward") == "forward|vllm/model.py|12");
  CHECK(label("/a (b)/c.py(7): <lambda>") == "<lambda>|/a (b)/c.py|7");
  CHECK(label("<frozen runpy>(88): _run_code") == "_run_code|<frozen runpy>|88");
  CHECK(label("nn.Module: Linear_3") == "nn.Module: Linear_3||0");
  CHECK(label("<built-in method matmul of type object at 0x7f>") ==
        "<built-in method matmul of type object at 0x7f>||0");
  CHECK(label("x(): y") == "x(): y||0");
  CHECK(label("x(1a): y") == "x(1a): y||0");
  CHECK(label("f(99999999999999999999): y") == "f(99999999999999999999): y||0");
  CHECK(label("") == "||0");
}

}  // namespace tracedb
