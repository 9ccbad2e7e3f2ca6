#include "passes/classify/kernel_kind.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace tracedb {

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
  KernelKinds kinds;
  for (const auto& entry : kernels) {  // no bindings: clang cannot capture them
    const auto& name = entry.first;
    const auto& kind = entry.second;
    CAPTURE(name);
    CHECK(kinds.of(name) == kind);
  }
}

TEST_CASE("collectives and computation in one kernel") {
  KernelKinds kinds;
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
    CHECK(kinds.of(name) == KernelKind::kCommCompute);
  }
}

TEST_CASE("a kernel communicates where its class does") {
  CHECK(kind_of_class("communication") == KernelKind::kComm);
  CHECK(kind_of_class("communication+norm") == KernelKind::kCommCompute);
  CHECK(kind_of_class("dense_gemm+communication") == KernelKind::kCommCompute);
  CHECK(kind_of_class("norm") == KernelKind::kCompute);
  CHECK(kind_of_class("communications") == KernelKind::kCompute);
  CHECK(kind_of_class("") == KernelKind::kCompute);
  KernelKinds kinds;
  for (const char* name :
       {"void dpsk::ep::internode::dispatch<false, 4, false>(int4*)", "void dpsk::ep::internode::combine<8>(int4*)",
        "dpsk::ep::cuda::get_dispatch_layout", "void deep_ep::intranode::dispatch<8, 768>(int4*)",
        "void deep_ep::internode_ll::combine<true>(void*)", "one_shot_all_reduce_kernel",
        "nvshmemi_transfer_put_kernel", "void sglang::cross_device_reduce_2stage<half, 8>(x)",
        "void mscclpp::allreduce7<int>()", "void pplx::AllToAllInterNode::dispatch<1>()",
        "mori::moe::EpDispatchIntraNodeKernel"}) {
    CAPTURE(name);
    CHECK(kinds.of(name) == KernelKind::kComm);
  }
}

}  // namespace tracedb
