#include "make_trace/model/kernel_catalogue.h"

#include <array>
#include <vector>

#include "make_trace/model/other_kernels.h"

namespace tracedb {
namespace {

// Order: roles of a decoder layer, MoE roles, head and tail, fused kernels, kernels for --insert.
constexpr auto kCatalogue = std::to_array<KernelKind>({
    {"residual_add", "elementwise",
     "void at::native::vectorized_elementwise_kernel<8, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, "
     "3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>)",
     kSameName, "", "", "aten::add", 3600, 4100, 256},
    {"rms_norm", "norm",
     "void vllm::rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*, c10::BFloat16 const*, long, c10::BFloat16 const*, "
     "float, int, int)",
     "void flashinfer::norm::RMSNormKernel<8u, __nv_bfloat16>(__nv_bfloat16*, __nv_bfloat16*, __nv_bfloat16*, unsigned "
     "int, unsigned int, unsigned int, float, float)",
     "", "", "_C::rms_norm", 5200, 4700, 256},
    {"quant", "quantise",
     "void vllm::dynamic_per_token_scaled_fp8_quant_kernel_strided<c10::BFloat16, c10::Float8_e4m3fnuz>(c10::"
     "Float8_e4m3fnuz*, float*, c10::BFloat16 const*, float const*, int, long, long)",
     "void vllm::dynamic_per_token_scaled_fp8_quant_kernel_strided<c10::BFloat16, c10::Float8_e4m3fn>(c10::"
     "Float8_e4m3fn*, float*, c10::BFloat16 const*, float const*, int, long, long)",
     "", "", "_C::dynamic_per_token_scaled_fp8_quant", 4100, 3900, 256},
    {"qkv_gemm", "dense_gemm",
     "Cijk_Alik_Bljk_F8BS_BH_Bias_SHB_HAS_SAB_SAV_UserArgs_MT64x32x256"
     "_MI16x16x1_SN_LDSB1_AFC1_AFEM1_AFEM1_ASEM1_CLR1_CADS0_DTVA0_DTVB0_EPS0_FDSI0_GRPM1_GRVWA16_GRVWB16_GSUAMB_GLS0_"
     "ISA942_IU1_K1_LBSPPA256_LBSPPB256_LBSPPM0_LPA32_LPB32_LPM0_LRVW16_LWPMn1_MIAV0_MO40_NTn1_PGR2_PLR1_SIA3_SS1",
     "nvjet_qqtst_64x32_64x16_2x1_v_h_bz_coopA_TNT",
     "Cijk_Alik_Bljk_F8BS_BH_Bias_SHB_HAS_SAB_SAV_UserArgs_MT256x224x128"
     "_MI16x16x1_SN_LDSB1_AFC1_AFEM1_AFEM1_ASEM1_CLR1_CADS0_DTVA0_DTVB0_EPS0_FDSI0_GRPM1_GRVWA16_GRVWB16_GSUAMB_GLS0_"
     "ISA942_IU1_K1_LBSPPA256_LBSPPB256_LBSPPM0_LPA32_LPB32_LPM0_LRVW16_LWPMn1_MIAV0_MO40_NTn1_PGR2_PLR1_SIA3_SS1",
     "nvjet_qqtst_256x128_64x4_2x1_v_h_bz_coopA_TNT", "aten::_scaled_mm", 15200, 61000, 256},
    {"q_norm", "norm",
     "void vllm::rms_norm_kernel<c10::BFloat16, 4>(c10::BFloat16*, c10::BFloat16 const*, long, c10::BFloat16 const*, "
     "float, int, int)",
     "void flashinfer::norm::QKRMSNormKernel<8u, __nv_bfloat16>(__nv_bfloat16*, __nv_bfloat16*, __nv_bfloat16*, "
     "unsigned int, unsigned int, unsigned int, float, float)",
     "", "", "_C::rms_norm", 4300, 3300, 128},
    {"rope", "rotary",
     "void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*, c10::BFloat16*, c10::BFloat16*, "
     "c10::BFloat16 const*, int, long, long, long, int, int, int)",
     "void flashinfer::BatchQKApplyRotaryPosIdsCosSinCacheKernel<false, 128u, 8u, 16u, __nv_bfloat16, long>(__nv_"
     "bfloat16*, __nv_bfloat16*, __nv_bfloat16*, __nv_bfloat16*, float*, long*, unsigned int)",
     "", "", "_C::rotary_embedding", 4800, 3900, 512},
    {"kv_cache", "kv_cache",
     "void vllm::reshape_and_cache_kernel<__hip_bfloat16, __hip_bfloat16, (vllm::Fp8KVCacheDataType)0>(__hip_bfloat16 "
     "const*, __hip_bfloat16 const*, __hip_bfloat16*, __hip_bfloat16*, long const*, int, int, int, int, int, int)",
     "void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, __nv_bfloat16, (vllm::Fp8KVCacheDataType)0>(__nv_"
     "bfloat16 const*, __nv_bfloat16 const*, __nv_bfloat16*, __nv_bfloat16*, long const*, long, long, long, int, int)",
     "", "", "_C_cache_ops::reshape_and_cache", 3400, 2100, 512},
    {"prefill_attention", "attention_prefill",
     "void ck_tile::kentry<2, "
     "ck_tile::FmhaBatchPrefillWithPagedKVCacheKernel<ck_tile::BlockFmhaBatchPrefillPipelineQRKS"
     "VSAsync<bf16_t, 128, true> > >(ck_tile::FmhaBatchPrefillWithPagedKVCacheKernel::Kargs)",
     "void flashinfer::BatchPrefillWithPagedKVCacheKernel<flashinfer::KernelTraits<(flashinfer::MaskMode)1, 128u, 2u, "
     "8u, 8u, 4u, 1u, __nv_bfloat16, __nv_bfloat16, __nv_bfloat16, float, int> >(flashinfer::BatchPrefillPagedParams)",
     "", "", "vllm::unified_attention_with_output", 21000, 98000, 256},
    {"decode_attention", "attention_decode",
     "void paged_attention_ll4mi_QKV_mfma16_kernel<__hip_bfloat16, __hip_bfloat16, (vllm::Fp8KVCacheDataType)0, "
     "__hip_bfloat16, 16, 128, 256, false, 8>(__hip_bfloat16 const*, __hip_bfloat16 const*, __hip_bfloat16 const*, "
     "int, "
     "float, int const*, int const*, int, float*, float*, __hip_bfloat16*, int)",
     "void flashinfer::BatchDecodeWithPagedKVCacheKernel<(flashinfer::PosEncodingMode)0, 2u, 4u, 8u, 16u, 1u, 8u, "
     "flashinfer::BatchDecodeParams<__nv_bfloat16, __nv_bfloat16, __nv_bfloat16, int> >(flashinfer::BatchDecodeParams)",
     "", "", "vllm::unified_attention_with_output", 12400, 410000, 256},
    {"decode_attention_reduce", "attention_decode",
     "void paged_attention_ll4mi_reduce_kernel<__hip_bfloat16, __hip_bfloat16, 128, 128, 256, 1>(__hip_bfloat16*, "
     "float "
     "const*, float const*, __hip_bfloat16 const*, int const*, int)",
     "void flashinfer::PersistentVariableLengthMergeStatesPagedAttentionDecodeKernel<8u, 16u, 4u, __nv_bfloat16, "
     "__nv_bfloat16, int>(__nv_bfloat16*, float*, int*, __nv_bfloat16*, float*, unsigned int, unsigned int*, int)",
     "", "", "vllm::unified_attention_with_output", 4400, 21000, 128},
    {"o_gemm", "dense_gemm",
     "Cijk_Alik_Bljk_F8BS_BH_Bias_SHB_HAS_SAB_SAV_UserArgs_MT32x32x256"
     "_MI16x16x1_SN_LDSB1_AFC1_AFEM1_AFEM1_ASEM1_CLR1_CADS0_DTVA0_DTVB0_EPS0_FDSI0_GRPM1_GRVWA16_GRVWB16_GSUAMB_GLS0_"
     "ISA942_IU1_K1_LBSPPA256_LBSPPB256_LBSPPM0_LPA32_LPB32_LPM0_LRVW16_LWPMn1_MIAV0_MO40_NTn1_PGR2_PLR1_SIA3_SS1",
     "nvjet_qqtst_64x16_64x16_4x1_v_h_bz_coopA_TNT",
     "Cijk_Alik_Bljk_F8BS_BH_Bias_SHB_HAS_SAB_SAV_UserArgs_MT256x160x128"
     "_MI16x16x1_SN_LDSB1_AFC1_AFEM1_AFEM1_ASEM1_CLR1_CADS0_DTVA0_DTVB0_EPS0_FDSI0_GRPM1_GRVWA16_GRVWB16_GSUAMB_GLS0_"
     "ISA942_IU1_K1_LBSPPA256_LBSPPB256_LBSPPM0_LPA32_LPB32_LPM0_LRVW16_LWPMn1_MIAV0_MO40_NTn1_PGR2_PLR1_SIA3_SS1",
     "nvjet_qqtst_128x192_64x5_1x2_h_h_bz_coopA_TNT", "aten::_scaled_mm", 10100, 41000, 256},
    {"attention_all_reduce", "communication",
     "void vllm::cross_device_reduce_1stage<__hip_bfloat16, 4>(vllm::RankData*, vllm::RankSignals, vllm::Signal*, "
     "__hip_bfloat16*, int, int)",
     "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 4>(vllm::RankData*, vllm::RankSignals, vllm::Signal*, "
     "__nv_bfloat16*, int, int)",
     "ncclDevKernel_Generic_2(ncclDevKernelArgsStorage<4096ul>)",
     "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "vllm::all_reduce", 16800, 52000,
     512},
    {"gate_up_gemm", "dense_gemm",
     "Cijk_Alik_Bljk_F8BS_BH_Bias_SHB_HAS_SAB_SAV_UserArgs_MT128x32x128"
     "_MI16x16x1_SN_LDSB1_AFC1_AFEM1_AFEM1_ASEM1_CLR1_CADS0_DTVA0_DTVB0_EPS0_FDSI0_GRPM1_GRVWA16_GRVWB16_GSUAMB_GLS0_"
     "ISA942_IU1_K1_LBSPPA256_LBSPPB256_LBSPPM0_LPA32_LPB32_LPM0_LRVW16_LWPMn1_MIAV0_MO40_NTn1_PGR2_PLR1_SIA3_SS1",
     "nvjet_qqtst_128x32_64x12_2x1_v_h_bz_coopA_TNT",
     "Cijk_Alik_Bljk_F8BS_BH_Bias_SHB_HAS_SAB_SAV_UserArgs_MT256x256x128"
     "_MI16x16x1_SN_LDSB1_AFC1_AFEM1_AFEM1_ASEM1_CLR1_CADS0_DTVA0_DTVB0_EPS0_FDSI0_GRPM1_GRVWA16_GRVWB16_GSUAMB_GLS0_"
     "ISA942_IU1_K1_LBSPPA256_LBSPPB256_LBSPPM0_LPA32_LPB32_LPM0_LRVW16_LWPMn1_MIAV0_MO40_NTn1_PGR2_PLR1_SIA3_SS1",
     "nvjet_qqtst_256x160_64x4_2x1_v_h_bz_coopA_TNT", "aten::_scaled_mm", 26800, 143000, 256},
    {"silu_mul", "activation",
     "void vllm::act_and_mul_kernel<c10::BFloat16, &(c10::BFloat16 vllm::silu_kernel<c10::BFloat16>(c10::BFloat16 "
     "const&)), true>(c10::BFloat16*, c10::BFloat16 const*, int)",
     "void flashinfer::activation::act_and_mul_kernel<__nv_bfloat16, &(silu(float const&))>(__nv_bfloat16*, __nv_"
     "bfloat16 const*, int)",
     "", "", "_C::silu_and_mul", 4600, 9100, 1024},
    {"down_gemm", "dense_gemm",
     "Cijk_Alik_Bljk_F8BS_BH_Bias_SHB_HAS_SAB_SAV_UserArgs_MT64x16x512"
     "_MI16x16x1_SN_LDSB1_AFC1_AFEM1_AFEM1_ASEM1_CLR1_CADS0_DTVA0_DTVB0_EPS0_FDSI0_GRPM1_GRVWA16_GRVWB16_GSUAMB_GLS0_"
     "ISA942_IU1_K1_LBSPPA256_LBSPPB256_LBSPPM0_LPA32_LPB32_LPM0_LRVW16_LWPMn1_MIAV0_MO40_NTn1_PGR2_PLR1_SIA3_SS1",
     "nvjet_qqtst_32x64_64x16_4x1_v_h_bz_coopA_TNT",
     "Cijk_Alik_Bljk_F8BS_BH_Bias_SHB_HAS_SAB_SAV_UserArgs_MT224x256x128"
     "_MI16x16x1_SN_LDSB1_AFC1_AFEM1_AFEM1_ASEM1_CLR1_CADS0_DTVA0_DTVB0_EPS0_FDSI0_GRPM1_GRVWA16_GRVWB16_GSUAMB_GLS0_"
     "ISA942_IU1_K1_LBSPPA256_LBSPPB256_LBSPPM0_LPA32_LPB32_LPM0_LRVW16_LWPMn1_MIAV0_MO40_NTn1_PGR2_PLR1_SIA3_SS1",
     "nvjet_qqtst_192x128_64x5_2x1_h_h_bz_coopA_TNT", "aten::_scaled_mm", 17100, 77000, 256},
    {"mlp_all_reduce", "communication",
     "void vllm::cross_device_reduce_1stage<__hip_bfloat16, 4>(vllm::RankData*, vllm::RankSignals, vllm::Signal*, "
     "__hip_bfloat16*, int, int)",
     "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 4>(vllm::RankData*, vllm::RankSignals, vllm::Signal*, "
     "__nv_bfloat16*, int, int)",
     "ncclDevKernel_Generic_2(ncclDevKernelArgsStorage<4096ul>)",
     "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "vllm::all_reduce", 16800, 52000,
     512},
    // MoE
    {"router_gemm", "dense_gemm",
     "Cijk_Alik_Bljk_F8BS_BH_Bias_SHB_HAS_SAB_SAV_UserArgs_MT16x16x512"
     "_MI16x16x1_SN_LDSB1_AFC1_AFEM1_AFEM1_ASEM1_CLR1_CADS0_DTVA0_DTVB0_EPS0_FDSI0_GRPM1_GRVWA16_GRVWB16_GSUAMB_GLS0_"
     "ISA942_IU1_K1_LBSPPA256_LBSPPB256_LBSPPM0_LPA32_LPB32_LPM0_LRVW16_LWPMn1_MIAV0_MO40_NTn1_PGR2_PLR1_SIA3_SS1",
     "nvjet_qqtst_32x64_64x16_1x4_h_h_bz_coopA_TNT",
     "Cijk_Alik_Bljk_F8BS_BH_Bias_SHB_HAS_SAB_SAV_UserArgs_MT128x64x128"
     "_MI16x16x1_SN_LDSB1_AFC1_AFEM1_AFEM1_ASEM1_CLR1_CADS0_DTVA0_DTVB0_EPS0_FDSI0_GRPM1_GRVWA16_GRVWB16_GSUAMB_GLS0_"
     "ISA942_IU1_K1_LBSPPA256_LBSPPB256_LBSPPM0_LPA32_LPB32_LPM0_LRVW16_LWPMn1_MIAV0_MO40_NTn1_PGR2_PLR1_SIA3_SS1",
     "nvjet_qqtst_64x128_64x8_1x1_h_h_bz_coopA_TNT", "aten::mm", 7000, 9000, 256},
    {"topk_softmax", "moe_routing",
     "void vllm::moe::topkGatingSoftmax<4, 128, 4, 16, 64, int, __hip_bfloat16>(__hip_bfloat16 const*, bool const*, "
     "float*, int, int*, int*, int, int, int, bool)",
     "void vllm::moe::topkGating<4, 128, 4, 16, 32, int, __nv_bfloat16, (vllm::moe::ScoringFunc)0>(__nv_bfloat16 "
     "const*, "
     "bool const*, float*, int, int*, int*, int, int, int, bool)",
     "", "", "_moe_C::topk_softmax", 4400, 2600, 128},
    {"moe_sort", "moe_routing",
     "void ck_tile::kentry<2, ck_tile::MoeSortingKernel<ck_tile::MoeSortingProblemEx<int, float, 2, true, false, "
     "false, "
     "true, 0> > >(ck_tile::MoeSortingKernel::Kargs)",
     "void vllm::moe::moe_align_block_size_kernel<int>(int const*, int*, int*, int*, int*, int, int, int, int, "
     "unsigned "
     "long, int*, int, int, bool)",
     "", "", "_moe_C::moe_align_block_size", 7600, 3100, 256},
    {"moe_gemm_1", "moe_gemm",
     "void ck::kernel_moe_gemm<ck::GridwiseMoeGemm<RowMajor, ColumnMajor, 256, 32, 64, 128>, true, "
     "(ck::InMemoryDataOperationEnum)0, 2, (ck::TailNumber)2>(ck::GridwiseMoeGemm::Argument)",
     "fused_moe_kernel", "", "", "vllm::moe_forward", 58000, 195000, 256},
    {"moe_silu_mul", "activation",
     "void vllm::act_and_mul_kernel<c10::BFloat16, &(c10::BFloat16 vllm::silu_kernel<c10::BFloat16>(c10::BFloat16 "
     "const&)), true>(c10::BFloat16*, c10::BFloat16 const*, int)",
     "void flashinfer::activation::act_and_mul_kernel<__nv_bfloat16, &(silu(float const&))>(__nv_bfloat16*, __nv_"
     "bfloat16 const*, int)",
     "", "", "_C::silu_and_mul", 5600, 13100, 1024},
    {"moe_gemm_2", "moe_gemm",
     "void ck::kernel_moe_gemm<ck::GridwiseMoeGemm<RowMajor, ColumnMajor, 256, 32, 128, 64>, true, "
     "(ck::InMemoryDataOperationEnum)1, 2, (ck::TailNumber)2>(ck::GridwiseMoeGemm::Argument)",
     "fused_moe_kernel_gptq_awq", "", "", "vllm::moe_forward", 39000, 128000, 256},
    {"moe_sum", "moe_finalize",
     "void vllm::moe::moe_sum_kernel<c10::BFloat16, 8>(c10::BFloat16*, c10::BFloat16 const*, int)",
     "void tensorrt_llm::kernels::cutlass_kernels::finalizeMoeRoutingKernel<__nv_bfloat16, __nv_bfloat16, __nv_"
     "bfloat16, (ScaleMode)1>(__nv_bfloat16 const*, __nv_bfloat16*, __nv_bfloat16 const*, float const*, int const*, "
     "int "
     "const*, long, long, long)",
     "", "", "_moe_C::moe_sum", 4500, 6800, 1024},
    // Branch beside the MLP
    {"shared_gate_up_gemm", "dense_gemm",
     "Cijk_Alik_Bljk_F8BS_BH_Bias_SHB_HAS_SAB_SAV_UserArgs_MT96x32x128"
     "_MI16x16x1_SN_LDSB1_AFC1_AFEM1_AFEM1_ASEM1_CLR1_CADS0_DTVA0_DTVB0_EPS0_FDSI0_GRPM1_GRVWA16_GRVWB16_GSUAMB_GLS0_"
     "ISA942_IU1_K1_LBSPPA256_LBSPPB256_LBSPPM0_LPA32_LPB32_LPM0_LRVW16_LWPMn1_MIAV0_MO40_NTn1_PGR2_PLR1_SIA3_SS1",
     "nvjet_qqtst_96x32_64x12_2x1_v_h_bz_coopA_TNT", "", "", "aten::mm", 9100, 21000, 256},
    {"shared_silu_mul", "activation",
     "void vllm::act_and_mul_kernel<c10::BFloat16, &(c10::BFloat16 vllm::silu_kernel<c10::BFloat16>(c10::BFloat16 "
     "const&)), true>(c10::BFloat16*, c10::BFloat16 const*, int)",
     "void flashinfer::activation::act_and_mul_kernel<__nv_bfloat16, &(silu(float const&))>(__nv_bfloat16*, __nv_"
     "bfloat16 const*, int)",
     "", "", "_C::silu_and_mul", 4100, 3100, 1024},
    {"shared_down_gemm", "dense_gemm",
     "Cijk_Alik_Bljk_F8BS_BH_Bias_SHB_HAS_SAB_SAV_UserArgs_MT64x48x256"
     "_MI16x16x1_SN_LDSB1_AFC1_AFEM1_AFEM1_ASEM1_CLR1_CADS0_DTVA0_DTVB0_EPS0_FDSI0_GRPM1_GRVWA16_GRVWB16_GSUAMB_GLS0_"
     "ISA942_IU1_K1_LBSPPA256_LBSPPB256_LBSPPM0_LPA32_LPB32_LPM0_LRVW16_LWPMn1_MIAV0_MO40_NTn1_PGR2_PLR1_SIA3_SS1",
     "nvjet_qqtst_64x48_64x16_4x1_v_h_bz_coopA_TNT", "", "", "aten::mm", 7200, 16000, 256},
    // Head and tail of a step
    {"embedding", "embedding", "triton_poi_fused_embedding_0", kSameName, "", "", "aten::embedding", 4100, 5200, 256},
    {"copy_block_table", "copy", "__amd_rocclr_copyBuffer", "", "", "", "aten::copy_", 2900, 0, 512},
    {"final_norm", "norm",
     "void vllm::rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*, c10::BFloat16 const*, long, c10::BFloat16 const*, "
     "float, int, int)",
     "void flashinfer::norm::RMSNormKernel<8u, __nv_bfloat16>(__nv_bfloat16*, __nv_bfloat16*, __nv_bfloat16*, unsigned "
     "int, unsigned int, unsigned int, float, float)",
     "", "", "_C::rms_norm", 5200, 4700, 256},
    {"lm_head_gemm", "dense_gemm",
     "Cijk_Alik_Bljk_F8BS_BH_Bias_SHB_HAS_SAB_SAV_UserArgs_MT448x32x128"
     "_MI16x16x1_SN_LDSB1_AFC1_AFEM1_AFEM1_ASEM1_CLR1_CADS0_DTVA0_DTVB0_EPS0_FDSI0_GRPM1_GRVWA16_GRVWB16_GSUAMB_GLS0_"
     "ISA942_IU1_K1_LBSPPA256_LBSPPB256_LBSPPM0_LPA32_LPB32_LPM0_LRVW16_LWPMn1_MIAV0_MO40_NTn1_PGR2_PLR1_SIA3_SS1",
     "nvjet_qqtst_384x32_64x4_4x1_v_h_bz_coopA_TNT", "", "", "aten::mm", 139000, 0, 256},
    {"logits_all_gather", "communication", "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)",
     "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "", "", "c10d::_allgather_base_", 31000, 0,
     512},
    {"temperature", "elementwise",
     "void at::native::elementwise_kernel_manual_unroll<128, 4, at::native::BinaryFunctor<float, float, float, "
     "at::native::binary_internal::DivFunctor<float> > >(int, at::native::BinaryFunctor)",
     "void at::native::elementwise_kernel<128, 2, at::native::BinaryFunctor<float, float, float, at::native::"
     "binary_internal::DivFunctor<float> > >(int, at::native::BinaryFunctor)",
     "", "", "aten::div_", 6900, 0, 128},
    {"softmax", "softmax",
     "void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float, float, float, at::native::(anonymous "
     "namespace)::SoftMaxForwardEpilogue>(float*, float const*, int)",
     kSameName, "", "", "aten::_softmax", 23100, 0, 1024},
    {"sample", "sampling", "_gumbel_sample_kernel",
     "void flashinfer::sampling::TopKTopPSamplingFromProbKernel<1024u, (cub::BlockScanAlgorithm)2, "
     "(cub::BlockReduceAlgorithm)2, 4u, true, float, int>(float*, int*, float*, int*, float*, int*, unsigned int, "
     "float, "
     "unsigned int, unsigned long, unsigned long)",
     "", "", "vllm::sample", 29500, 0, 1024},
    // Fused
    {"add_rms_norm", "elementwise+norm",
     "std::enable_if<(((8)>(0)))&&_typeConvert<c10::BFloat16>::exists, void>::type "
     "vllm::fused_add_rms_norm_kernel<c10::"
     "BFloat16, 8>(c10::BFloat16*, long, c10::BFloat16*, c10::BFloat16 const*, float, int, int)",
     "void flashinfer::norm::FusedAddRMSNormKernel<8u, __nv_bfloat16>(__nv_bfloat16*, __nv_bfloat16*, __nv_bfloat16*, "
     "unsigned int, unsigned int, unsigned int, float, float)",
     "", "", "_C::fused_add_rms_norm", 6300, 6100, 256},
    {"rms_norm_quant", "norm+quantise",
     "void vllm::rms_norm_dynamic_per_token_quant_kernel<c10::BFloat16, c10::Float8_e4m3fnuz, "
     "false>(c10::Float8_e4m3fnuz"
     "*, float*, c10::BFloat16 const*, c10::BFloat16 const*, float const*, float, int, c10::BFloat16*)",
     "void vllm::rms_norm_dynamic_per_token_quant_kernel<c10::BFloat16, c10::Float8_e4m3fn, "
     "false>(c10::Float8_e4m3fn*, "
     "float*, c10::BFloat16 const*, c10::BFloat16 const*, float const*, float, int, c10::BFloat16*)",
     "", "", "_C::rms_norm_dynamic_per_token_quant", 6500, 5600, 256},
    {"add_rms_norm_quant", "elementwise+norm+quantise",
     "_ZN5aiter24add_rmsnorm_quant_kernelI14__hip_bfloat16aLi256ELi8ELb1EEEvPT0_PfPT_S4_S4_dii",
     "void vllm::fused_add_rms_norm_static_fp8_quant_kernel<c10::BFloat16, 8, c10::Float8_e4m3fn>(c10::Float8_e4m3fn*, "
     "c10::BFloat16 const*, int, c10::BFloat16*, c10::BFloat16 const*, float const*, float, int, int)",
     "", "", "_C::fused_add_rms_norm_quant", 7400, 6900, 256},
    {"silu_mul_quant", "activation+quantise",
     "void vllm::act_and_mul_quant_kernel<c10::BFloat16, &(c10::BFloat16 "
     "vllm::silu_kernel<c10::BFloat16>(c10::BFloat16 "
     "const&)), c10::Float8_e4m3fnuz>(c10::Float8_e4m3fnuz*, c10::BFloat16 const*, float const*, int)",
     "void vllm::act_and_mul_quant_kernel<c10::BFloat16, &(c10::BFloat16 "
     "vllm::silu_kernel<c10::BFloat16>(c10::BFloat16 "
     "const&)), c10::Float8_e4m3fn>(c10::Float8_e4m3fn*, c10::BFloat16 const*, float const*, int)",
     "", "", "_C::silu_and_mul_quant", 6100, 9900, 1024},
    {"rope_kv_cache", "rotary+kv_cache", "_fused_qk_rope_reshape_and_cache_kernel",
     "void (anonymous namespace)::fused_rope_store_kernel<true, 128l, true, __nv_bfloat16, long, 16u>((anonymous "
     "namespace)::FusedRopeStoreParams)",
     "", "", "vllm::fused_rope_kv_cache", 5900, 4800, 256},
    {"qk_norm_rope", "norm+rotary",
     "void vllm::fusedQKNormRopeKernel<c10::BFloat16, 128, true>(void*, int, int, int, float, void const*, void "
     "const*, "
     "void const*, long const*, int)",
     "void tensorrt_llm::kernels::fusedQKNormRopeKernel<128, true>(__nv_bfloat16*, int, int, int, float, __nv_bfloat16 "
     "const*, __nv_bfloat16 const*, float, int const*, int)",
     "", "", "_C::fused_qk_norm_rope", 7100, 5400, 256},
    {"qk_norm_rope_kv_cache", "norm+rotary+kv_cache", "_fused_qk_rmsnorm_rope_reshape_and_cache_kernel",
     "void (anonymous namespace)::fused_qknorm_rope_kvcache_store_kernel<128l, true, __nv_bfloat16>((anonymous "
     "namespace)::FusedQKNormRopeStoreParams)",
     "", "", "vllm::fused_qk_norm_rope_kv_cache", 8300, 6500, 256},
    {"fused_routing", "moe_routing", "_fused_moe_routing_topk_sort_kernel",
     "void "
     "moe::dev::routing::routingCustom::routingIndicesClusterKernel<moe::dev::routing::routingCustom::KernelParams<"
     "__nv_bfloat16, __nv_bfloat16, 128, 8, true> >(moe::dev::routing::routingCustom::KernelParams)",
     "", "", "vllm::fused_routing", 8200, 3600, 256},
    {"moe_gemm_silu", "moe_gemm+activation",
     "void ck::kernel_moe_gemm_silu_and_mul<ck::GridwiseMoeGemm<RowMajor, ColumnMajor, 256, 32, 64, 128>, true, "
     "(ck::InMemoryDataOperationEnum)0, 2, (ck::TailNumber)2>(ck::GridwiseMoeGemm::Argument)",
     "bmm_E4m3_E4m3E4m3_Fp32_t128x32x128_s6_et128x32_m128x32x32_cga1x1x1_16dp256b_TN_transOut_schedS_biasM_swiGlu_"
     "dynBatch_"
     "sm100f",
     "", "", "vllm::moe_forward", 60500, 199000, 256},
    {"all_reduce_add_rms_norm", "communication+elementwise+norm",
     "void aiter::cross_device_reduce_1stage_fused_add_rmsnorm<__hip_bfloat16, 4>(aiter::RankData*, "
     "aiter::RankSignals, "
     "aiter::Signal*, __hip_bfloat16*, __hip_bfloat16*, __hip_bfloat16*, float, int, int)",
     "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<(flashinfer::trtllm_allreduce_"
     "fusion::AllReduceFusionPattern)1_kARResidualRMSNorm, __nv_bfloat16, 4, "
     "true>(flashinfer::trtllm_allreduce_fusion::"
     "AllReduceFusionParams<__nv_bfloat16>)",
     "", "", "vllm::fused_all_reduce_add_rms_norm", 20500, 58000, 512},
    {"all_reduce_add_rms_norm_quant", "communication+elementwise+norm+quantise",
     "void aiter::cross_device_reduce_1stage_fused_add_rmsnorm_quant<__hip_bfloat16, 4>(aiter::RankData*, "
     "aiter::RankSignals, aiter::Signal*, __hip_bfloat16*, __hip_bfloat16*, __hip_bfloat16*, float*, float, int, int)",
     "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<(flashinfer::trtllm_allreduce_"
     "fusion::AllReduceFusionPattern)2_kARResidualRMSNormFP8Quant, __nv_bfloat16, 4, "
     "true>(flashinfer::trtllm_allreduce_"
     "fusion::AllReduceFusionParams<__nv_bfloat16>)",
     "", "", "vllm::fused_all_reduce_add_rms_norm_quant", 22000, 60000, 512},
    // For --insert, where no kernel of the model has the class
    {"inserted_reduce", "reduce",
     "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, float, float, "
     "float>, "
     "unsigned int, float, 4, 4> >(at::native::ReduceOp)",
     kSameName, "", "", "aten::mean", 6200, 2600, 512},
    {"inserted_sort", "sort",
     "void at::native::(anonymous namespace)::radixSortKVInPlace<2, -1, 32, 32, float, long, unsigned int>(at::cuda::"
     "detail::TensorInfo<float, unsigned int>, unsigned int, unsigned int, unsigned int)",
     kSameName, "", "", "aten::sort", 9800, 3100, 512},
});

}  // namespace

std::span<const KernelKind> kernel_catalogue() {
  static const std::vector<KernelKind> kAll = [] {
    std::vector<KernelKind> all(kCatalogue.begin(), kCatalogue.end());
    all.insert(all.end(), other_kernels().begin(), other_kernels().end());
    return all;
  }();
  return kAll;
}

const KernelKind* find_kernel(std::string_view role) {
  for (const KernelKind& kind : kernel_catalogue()) {
    if (kind.role == role) return &kind;
  }
  return nullptr;
}

}  // namespace tracedb
