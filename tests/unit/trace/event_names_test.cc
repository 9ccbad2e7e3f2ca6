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
    CHECK(to_string(call_kind(name)) == to_string(kind));
  }
}

TEST_CASE("kinds of kernels") {
  const std::vector<std::pair<std::string_view, KernelKind>> kernels = {
      {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", KernelKind::kComm},
      {"ncclKernel_AllGather_RING_LL_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)", KernelKind::kComm},
      {"ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)", KernelKind::kComm},
      {"void vllm::cross_device_reduce_2stage<__hip_bfloat16, 8>(vllm::RankData*, int)", KernelKind::kComm},
      {"void aiter::cross_device_reduce_1stage<float, 4>(aiter::RankData*)", KernelKind::kComm},
      {"void quickreduce::allreduce_prototype_twoshot<quickreduce::CodecQ8>(int)", KernelKind::kComm},
      {"void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<float>(int)",
       KernelKind::kCommCompute},
      {"void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<(flashinfer::"
       "trtllm_allreduce_fusion::AllReduceFusionPattern)0, half, 8, true>(int)",
       KernelKind::kComm},
      {"void flashinfer::trtllm_allreduce_fusion::lamport_initialize_kernel<float>(int)", KernelKind::kComm},
      {"multimem_all_reduce_kernel", KernelKind::kComm},
      {"void userbuffers_fp16_sum_inplace_gpu_rr_rs_oop<8>(int)", KernelKind::kComm},
      {"void moeA2ADispatchKernel<8>(int)", KernelKind::kComm},
      {"fused_all_gather_kernel", KernelKind::kComm},
      {"tag_gemm_kernel", KernelKind::kCompute},
      {"attention_all_reduce", KernelKind::kComm},
      {"void fused::warp_allreduce_norm<4>(float*)", KernelKind::kCompute},
      {"triton_red_fused_all_reduce_rms_norm_0", KernelKind::kCompute},
      {"_ZN7deep_ep9internode8dispatchILb1EEEvPi", KernelKind::kComm},
      {"void c10d::all_to_all_kernel<int>(int)", KernelKind::kComm},
      {"__amd_rocclr_copyBuffer", KernelKind::kCopyKernel},
      {"__amd_rocclr_copyBuffer.kd", KernelKind::kCopyKernel},
      {"__amd_rocclr_fillBufferAligned", KernelKind::kCompute},
      {"void blockAllReduce<float>(float*)", KernelKind::kCompute},
      {"void fused::warp_allreduce_softmax<4>(float*)", KernelKind::kCompute},
      {"void rms_norm<tensorrt_llm::BlockAllReduceSum<float>>(float*)", KernelKind::kCompute},
      {"void norm_kernel<vllm::all_reduce_functor>(float*)", KernelKind::kCompute},
      {"void norm_kernel(all_reduce_params)", KernelKind::kCompute},
      {"void cub::DeviceReduceKernel<int>(int)", KernelKind::kCompute},
      {"Cijk_Ailk_Bljk_BBS_BH_MT128x128x64", KernelKind::kCompute},
      {"triton_red_fused_add_0", KernelKind::kCompute},
      {"triton_poi_fused_add_all_reduce_mul_0", KernelKind::kCompute},  // reads what was reduced
      {"triton_all_reduce_kernel", KernelKind::kComm},
      {"", KernelKind::kCompute},
  };
  for (const auto& entry : kernels) {  // no bindings: clang cannot capture them
    const auto& name = entry.first;
    const auto& kind = entry.second;
    CAPTURE(name);
    CHECK(to_string(kernel_kind(name)) == to_string(kind));
  }
}

TEST_CASE("collectives and computation in one kernel") {
  for (const std::string_view name :
       {"void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<(flashinfer::"
        "trtllm_allreduce_fusion::AllReduceFusionPattern)1, half, 8, true>(int)",
        "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_twoshot_sync<(flashinfer::"
        "trtllm_allreduce_fusion::AllReduceFusionPattern)10, half, 8, true>(int)",
        "void tensorrt_llm::kernels::ar_fusion::moe::moereduce_allreduce_fusion_kernel_oneshot_lamport<half>(int)",
        "void flashinfer::trtllm_moe_allreduce_fusion::moefinalize_allreduce_fusion_kernel_oneshot_lamport<4>(int)",
        "void flashinfer::trtllm_mnnvl_allreduce::RMSNorm_Lamport<float>(int)",
        "void tensorrt_llm::kernels::mnnvl::oneshotAllreduceFusionKernel<8, float>(int)",
        "void tensorrt_llm::kernels::lamport_style_one_shot_all_reduce_norm_kernel<half, 8>(int)",
        "void aiter::cross_device_reduce_1stage_fused_add_rmsnorm<__hip_bfloat16, 4>(aiter::RankData*)",
        "_ZN5aiter22all_reduce_rmsnorm_fp8ILi8EEEvPi", "fused_allreduce_residual_rmsnorm_kernel",
        "gemm_reduce_scatter_kernel", "allgather_gemm_persistent", "kernel_ag_gemm_consumer",
        "persistent_gemm_all_scatter", "MatmulAllReduceAddRmsNorm_mix_aic", "AllGatherMatmulV2_0",
        "multimem_all_reduce_rms_norm_kernel",
        "void cutlass::device_kernel<bytedance::flux::GemmReduceScatterKernel<128> >(int)"}) {
    CAPTURE(name);
    CHECK(to_string(kernel_kind(name)) == "comm_compute");
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
