// The kernels that a synthetic trace may contain. Names follow the public naming habits of PyTorch, vLLM, FlashInfer,
// CK, aiter, hipBLASLt and cuBLAS; a name alone is enough to tell the class.
#include <array>
#include <utility>

#include "make_trace/model.h"

namespace tracedb {
namespace {

// What "$" and a letter stand for in the names below.
constexpr std::pair<char, std::string_view> kShort[] = {
    {'c', "c10::BFloat16"},
    {'n', "__nv_bfloat16"},
    {'h', "__hip_bfloat16"},
    {'q', "c10::Float8_e4m3fn"},
    {'z', "c10::Float8_e4m3fnuz"},
    {'u', "unsigned int"},
    {'t', "at::native::"},
    {'a', "(anonymous namespace)::"},
    {'A', "ampere_bf16_s16816gemm_bf16_"},
    {'l', "_ldg8_f2f_stages_"},
    {'B', "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT"},
    {'b', "_MI16x16x1_SN_LDSB1_AFC1_GRVWA8_GRVWB8_ISA942_WG32_8_1"},
    {'F', "Cijk_Alik_Bljk_F8BS_BH_Bias_SHB_HAS_SAB_SAV_UserArgs_MT"},
    {'f',
     "_MI16x16x1_SN_LDSB1_AFC1_AFEM1_AFEM1_ASEM1_CLR1_CADS0_DTVA0_DTVB0_EPS0_FDSI0_GRPM1_GRVWA16_GRVWB16_GSUAMB_GLS0_"
     "ISA942_IU1_K1_LBSPPA256_LBSPPB256_LBSPPM0_LPA32_LPB32_LPM0_LRVW16_LWPMn1_MIAV0_MO40_NTn1_PGR2_PLR1_SIA3_SS1"}};

// Role, class, operator, fixed ns, ps per token, block, names of AMD and of NVIDIA: small|large where a step with a
// prefill has another one; "=ROLE": those of that role. Order: roles of a decoder layer first.
constexpr auto kRows = std::to_array<KernelRow>({
    {"residual_add", "elementwise", "aten::add", 3600, 4100, 256,
     "void $tvectorized_elementwise_kernel<8, $tCUDAFunctor_add<$c>, std::array<char*, 3ul> >(int, "
     "$tCUDAFunctor_add<$c>, std::array<char*, 3ul>)"},
    {"rms_norm", "norm", "_C::rms_norm", 5200, 4700, 256,
     "void vllm::rms_norm_kernel<$c, 8>($c*, $c const*, long, $c const*, float, int, int)",
     "void flashinfer::norm::RMSNormKernel<8u, $n>($n*, $n*, $n*, $u, $u, $u, float, float)"},
    {"quant", "quantise", "_C::dynamic_per_token_scaled_fp8_quant", 4100, 3900, 256,
     "void vllm::dynamic_per_token_scaled_fp8_quant_kernel_strided<$c, $z>($z*, float*, $c const*, float const*, int, "
     "long, long)",
     "void vllm::dynamic_per_token_scaled_fp8_quant_kernel_strided<$c, $q>($q*, float*, $c const*, float const*, int, "
     "long, long)"},
    {"qkv_gemm", "dense_gemm", "aten::_scaled_mm", 15200, 61000, 256, "$F64x32x256$f|$F256x224x128$f",
     "nvjet_qqtst_64x32_64x16_2x1_v_h_bz_coopA_TNT|nvjet_qqtst_256x128_64x4_2x1_v_h_bz_coopA_TNT"},
    {"q_norm", "norm", "_C::rms_norm", 4300, 3300, 128,
     "void vllm::rms_norm_kernel<$c, 4>($c*, $c const*, long, $c const*, float, int, int)",
     "void flashinfer::norm::QKRMSNormKernel<8u, $n>($n*, $n*, $n*, $u, $u, $u, float, float)"},
    {"rope", "rotary", "_C::rotary_embedding", 4800, 3900, 512,
     "void vllm::rotary_embedding_kernel<$c, true>(long const*, $c*, $c*, $c const*, int, long, long, long, int, int, "
     "int)",
     "void flashinfer::BatchQKApplyRotaryPosIdsCosSinCacheKernel<false, 128u, 8u, 16u, $n, long>($n*, $n*, $n*, $n*, "
     "float*, long*, $u)"},
    {"kv_cache", "kv_cache", "_C_cache_ops::reshape_and_cache", 3400, 2100, 512,
     "void vllm::reshape_and_cache_kernel<$h, $h, (vllm::Fp8KVCacheDataType)0>($h const*, $h const*, $h*, $h*, long "
     "const*, int, int, int, int, int, int)",
     "void vllm::reshape_and_cache_flash_kernel<$n, $n, (vllm::Fp8KVCacheDataType)0>($n const*, $n const*, $n*, $n*, "
     "long const*, long, long, long, int, int)"},
    {"prefill_attention", "attention_prefill", "vllm::unified_attention_with_output", 21000, 98000, 256,
     "void ck_tile::kentry<2, "
     "ck_tile::FmhaBatchPrefillWithPagedKVCacheKernel<ck_tile::BlockFmhaBatchPrefillPipelineQRKSVSAsync<bf16_t, 128, "
     "true> > >(ck_tile::FmhaBatchPrefillWithPagedKVCacheKernel::Kargs)",
     "void flashinfer::BatchPrefillWithPagedKVCacheKernel<flashinfer::KernelTraits<(flashinfer::MaskMode)1, 128u, 2u, "
     "8u, 8u, 4u, 1u, $n, $n, $n, float, int> >(flashinfer::BatchPrefillPagedParams)"},
    {"decode_attention", "attention_decode", "vllm::unified_attention_with_output", 12400, 410000, 256,
     "void paged_attention_ll4mi_QKV_mfma16_kernel<$h, $h, (vllm::Fp8KVCacheDataType)0, $h, 16, 128, 256, false, 8>($h "
     "const*, $h const*, $h const*, int, float, int const*, int const*, int, float*, float*, $h*, int)",
     "void flashinfer::BatchDecodeWithPagedKVCacheKernel<(flashinfer::PosEncodingMode)0, 2u, 4u, 8u, 16u, 1u, 8u, "
     "flashinfer::BatchDecodeParams<$n, $n, $n, int> >(flashinfer::BatchDecodeParams)"},
    {"decode_attention_reduce", "attention_decode", "vllm::unified_attention_with_output", 4400, 21000, 128,
     "void paged_attention_ll4mi_reduce_kernel<$h, $h, 128, 128, 256, 1>($h*, float const*, float const*, $h const*, "
     "int const*, int)",
     "void flashinfer::PersistentVariableLengthMergeStatesPagedAttentionDecodeKernel<8u, 16u, 4u, $n, $n, int>($n*, "
     "float*, int*, $n*, float*, $u, $u*, int)"},
    {"o_gemm", "dense_gemm", "aten::_scaled_mm", 10100, 41000, 256, "$F32x32x256$f|$F256x160x128$f",
     "nvjet_qqtst_64x16_64x16_4x1_v_h_bz_coopA_TNT|nvjet_qqtst_128x192_64x5_1x2_h_h_bz_coopA_TNT"},
    {"attention_all_reduce", "communication", "vllm::all_reduce", 16800, 52000, 512,
     "void vllm::cross_device_reduce_1stage<$h, 4>(vllm::RankData*, vllm::RankSignals, vllm::Signal*, $h*, int, "
     "int)|ncclDevKernel_Generic_2(ncclDevKernelArgsStorage<4096ul>)",
     "void vllm::cross_device_reduce_1stage<$n, 4>(vllm::RankData*, vllm::RankSignals, vllm::Signal*, $n*, int, "
     "int)|ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"},
    {"gate_up_gemm", "dense_gemm", "aten::_scaled_mm", 26800, 143000, 256, "$F128x32x128$f|$F256x256x128$f",
     "nvjet_qqtst_128x32_64x12_2x1_v_h_bz_coopA_TNT|nvjet_qqtst_256x160_64x4_2x1_v_h_bz_coopA_TNT"},
    {"silu_mul", "activation", "_C::silu_and_mul", 4600, 9100, 1024,
     "void vllm::act_and_mul_kernel<$c, &($c vllm::silu_kernel<$c>($c const&)), true>($c*, $c const*, int)",
     "void flashinfer::activation::act_and_mul_kernel<$n, &(silu(float const&))>($n*, $n const*, int)"},
    {"down_gemm", "dense_gemm", "aten::_scaled_mm", 17100, 77000, 256, "$F64x16x512$f|$F224x256x128$f",
     "nvjet_qqtst_32x64_64x16_4x1_v_h_bz_coopA_TNT|nvjet_qqtst_192x128_64x5_2x1_h_h_bz_coopA_TNT"},
    {"mlp_all_reduce", "communication", "vllm::all_reduce", 16800, 52000, 512, "=attention_all_reduce"},
    // MoE
    {"router_gemm", "dense_gemm", "aten::mm", 7000, 9000, 256, "$F16x16x512$f|$F128x64x128$f",
     "nvjet_qqtst_32x64_64x16_1x4_h_h_bz_coopA_TNT|nvjet_qqtst_64x128_64x8_1x1_h_h_bz_coopA_TNT"},
    {"topk_softmax", "moe_routing", "_moe_C::topk_softmax", 4400, 2600, 128,
     "void vllm::moe::topkGatingSoftmax<4, 128, 4, 16, 64, int, $h>($h const*, bool const*, float*, int, int*, int*, "
     "int, int, int, bool)",
     "void vllm::moe::topkGating<4, 128, 4, 16, 32, int, $n, (vllm::moe::ScoringFunc)0>($n const*, bool const*, "
     "float*, int, int*, int*, int, int, int, bool)"},
    {"moe_sort", "moe_routing", "_moe_C::moe_align_block_size", 7600, 3100, 256,
     "void ck_tile::kentry<2, ck_tile::MoeSortingKernel<ck_tile::MoeSortingProblemEx<int, float, 2, true, false, "
     "false, true, 0> > >(ck_tile::MoeSortingKernel::Kargs)",
     "void vllm::moe::moe_align_block_size_kernel<int>(int const*, int*, int*, int*, int*, int, int, int, int, "
     "unsigned long, int*, int, int, bool)"},
    {"moe_gemm_1", "moe_gemm", "vllm::moe_forward", 58000, 195000, 256,
     "void ck::kernel_moe_gemm<ck::GridwiseMoeGemm<RowMajor, ColumnMajor, 256, 32, 64, 128>, true, "
     "(ck::InMemoryDataOperationEnum)0, 2, (ck::TailNumber)2>(ck::GridwiseMoeGemm::Argument)",
     "fused_moe_kernel"},
    {"moe_silu_mul", "activation", "_C::silu_and_mul", 5600, 13100, 1024, "=silu_mul"},
    {"moe_gemm_2", "moe_gemm", "vllm::moe_forward", 39000, 128000, 256,
     "void ck::kernel_moe_gemm<ck::GridwiseMoeGemm<RowMajor, ColumnMajor, 256, 32, 128, 64>, true, "
     "(ck::InMemoryDataOperationEnum)1, 2, (ck::TailNumber)2>(ck::GridwiseMoeGemm::Argument)",
     "fused_moe_kernel_gptq_awq"},
    {"moe_sum", "moe_finalize", "_moe_C::moe_sum", 4500, 6800, 1024,
     "void vllm::moe::moe_sum_kernel<$c, 8>($c*, $c const*, int)",
     "void tensorrt_llm::kernels::cutlass_kernels::finalizeMoeRoutingKernel<$n, $n, $n, (ScaleMode)1>($n const*, $n*, "
     "$n const*, float const*, int const*, int const*, long, long, long)"},
    // Branch beside the MLP
    {"shared_gate_up_gemm", "dense_gemm", "aten::mm", 9100, 21000, 256, "$F96x32x128$f",
     "nvjet_qqtst_96x32_64x12_2x1_v_h_bz_coopA_TNT"},
    {"shared_silu_mul", "activation", "_C::silu_and_mul", 4100, 3100, 1024, "=silu_mul"},
    {"shared_down_gemm", "dense_gemm", "aten::mm", 7200, 16000, 256, "$F64x48x256$f",
     "nvjet_qqtst_64x48_64x16_4x1_v_h_bz_coopA_TNT"},
    // Head and tail of a step
    {"embedding", "embedding", "aten::embedding", 4100, 5200, 256, "triton_poi_fused_embedding_0"},
    {"copy_block_table", "copy", "aten::copy_", 2900, 0, 512, "__amd_rocclr_copyBuffer", ""},
    {"final_norm", "norm", "_C::rms_norm", 5200, 4700, 256, "=rms_norm"},
    {"lm_head_gemm", "dense_gemm", "aten::mm", 139000, 0, 256, "$F448x32x128$f",
     "nvjet_qqtst_384x32_64x4_4x1_v_h_bz_coopA_TNT"},
    {"logits_all_gather", "communication", "c10d::_allgather_base_", 31000, 0, 512,
     "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)",
     "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)"},
    {"temperature", "elementwise", "aten::div_", 6900, 0, 128,
     "void $telementwise_kernel_manual_unroll<128, 4, $tBinaryFunctor<float, float, float, "
     "$tbinary_internal::DivFunctor<float> > >(int, $tBinaryFunctor)",
     "void $telementwise_kernel<128, 2, $tBinaryFunctor<float, float, float, $tbinary_internal::DivFunctor<float> > "
     ">(int, $tBinaryFunctor)"},
    {"softmax", "softmax", "aten::_softmax", 23100, 0, 1024,
     "void $t$acunn_SoftMaxForward<4, float, float, float, $t$aSoftMaxForwardEpilogue>(float*, float const*, int)"},
    {"sample", "sampling", "vllm::sample", 29500, 0, 1024, "_gumbel_sample_kernel",
     "void flashinfer::sampling::TopKTopPSamplingFromProbKernel<1024u, (cub::BlockScanAlgorithm)2, "
     "(cub::BlockReduceAlgorithm)2, 4u, true, float, int>(float*, int*, float*, int*, float*, int*, $u, float, $u, "
     "unsigned long, unsigned long)"},
    // Fused
    {"add_rms_norm", "elementwise+norm", "_C::fused_add_rms_norm", 6300, 6100, 256,
     "std::enable_if<(((8)>(0)))&&_typeConvert<$c>::exists, void>::type vllm::fused_add_rms_norm_kernel<$c, 8>($c*, "
     "long, $c*, $c const*, float, int, int)",
     "void flashinfer::norm::FusedAddRMSNormKernel<8u, $n>($n*, $n*, $n*, $u, $u, $u, float, float)"},
    {"rms_norm_quant", "norm+quantise", "_C::rms_norm_dynamic_per_token_quant", 6500, 5600, 256,
     "void vllm::rms_norm_dynamic_per_token_quant_kernel<$c, $z, false>($z*, float*, $c const*, $c const*, float "
     "const*, float, int, $c*)",
     "void vllm::rms_norm_dynamic_per_token_quant_kernel<$c, $q, false>($q*, float*, $c const*, $c const*, float "
     "const*, float, int, $c*)"},
    {"add_rms_norm_quant", "elementwise+norm+quantise", "_C::fused_add_rms_norm_quant", 7400, 6900, 256,
     "_ZN5aiter24add_rmsnorm_quant_kernelI14$haLi256ELi8ELb1EEEvPT0_PfPT_S4_S4_dii",
     "void vllm::fused_add_rms_norm_static_fp8_quant_kernel<$c, 8, $q>($q*, $c const*, int, $c*, $c const*, float "
     "const*, float, int, int)"},
    {"silu_mul_quant", "activation+quantise", "_C::silu_and_mul_quant", 6100, 9900, 1024,
     "void vllm::act_and_mul_quant_kernel<$c, &($c vllm::silu_kernel<$c>($c const&)), $z>($z*, $c const*, float "
     "const*, int)",
     "void vllm::act_and_mul_quant_kernel<$c, &($c vllm::silu_kernel<$c>($c const&)), $q>($q*, $c const*, float "
     "const*, int)"},
    {"rope_kv_cache", "rotary+kv_cache", "vllm::fused_rope_kv_cache", 5900, 4800, 256,
     "_fused_qk_rope_reshape_and_cache_kernel",
     "void $afused_rope_store_kernel<true, 128l, true, $n, long, 16u>($aFusedRopeStoreParams)"},
    {"qk_norm_rope", "norm+rotary", "_C::fused_qk_norm_rope", 7100, 5400, 256,
     "void vllm::fusedQKNormRopeKernel<$c, 128, true>(void*, int, int, int, float, void const*, void const*, void "
     "const*, long const*, int)",
     "void tensorrt_llm::kernels::fusedQKNormRopeKernel<128, true>($n*, int, int, int, float, $n const*, $n const*, "
     "float, int const*, int)"},
    {"qk_norm_rope_kv_cache", "norm+rotary+kv_cache", "vllm::fused_qk_norm_rope_kv_cache", 8300, 6500, 256,
     "_fused_qk_rmsnorm_rope_reshape_and_cache_kernel",
     "void $afused_qknorm_rope_kvcache_store_kernel<128l, true, $n>($aFusedQKNormRopeStoreParams)"},
    {"fused_routing", "moe_routing", "vllm::fused_routing", 8200, 3600, 256, "_fused_moe_routing_topk_sort_kernel",
     "void "
     "moe::dev::routing::routingCustom::routingIndicesClusterKernel<moe::dev::routing::routingCustom::KernelParams<$n, "
     "$n, 128, 8, true> >(moe::dev::routing::routingCustom::KernelParams)"},
    {"moe_gemm_silu", "moe_gemm+activation", "vllm::moe_forward", 60500, 199000, 256,
     "void ck::kernel_moe_gemm_silu_and_mul<ck::GridwiseMoeGemm<RowMajor, ColumnMajor, 256, 32, 64, 128>, true, "
     "(ck::InMemoryDataOperationEnum)0, 2, (ck::TailNumber)2>(ck::GridwiseMoeGemm::Argument)",
     "bmm_E4m3_E4m3E4m3_Fp32_t128x32x128_s6_et128x32_m128x32x32_cga1x1x1_16dp256b_TN_transOut_schedS_biasM_swiGlu_"
     "dynBatch_sm100f"},
    {"all_reduce_add_rms_norm", "communication+elementwise+norm", "vllm::fused_all_reduce_add_rms_norm", 20500, 58000,
     512,
     "void aiter::cross_device_reduce_1stage_fused_add_rmsnorm<$h, 4>(aiter::RankData*, aiter::RankSignals, "
     "aiter::Signal*, $h*, $h*, $h*, float, int, int)",
     "void "
     "flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<(flashinfer::trtllm_allreduce_"
     "fusion::AllReduceFusionPattern)1_kARResidualRMSNorm, $n, 4, "
     "true>(flashinfer::trtllm_allreduce_fusion::AllReduceFusionParams<$n>)"},
    {"all_reduce_add_rms_norm_quant", "communication+elementwise+norm+quantise",
     "vllm::fused_all_reduce_add_rms_norm_quant", 22000, 60000, 512,
     "void aiter::cross_device_reduce_1stage_fused_add_rmsnorm_quant<$h, 4>(aiter::RankData*, aiter::RankSignals, "
     "aiter::Signal*, $h*, $h*, $h*, float*, float, int, int)",
     "void "
     "flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<(flashinfer::trtllm_allreduce_"
     "fusion::AllReduceFusionPattern)2_kARResidualRMSNormFP8Quant, $n, 4, "
     "true>(flashinfer::trtllm_allreduce_fusion::AllReduceFusionParams<$n>)"},
    // For --insert, where no kernel of the model has the class
    {"inserted_reduce", "reduce", "aten::mean", 6200, 2600, 512,
     "void $treduce_kernel<512, 1, $tReduceOp<float, $tMeanOps<float, float, float, float>, $u, float, 4, 4> "
     ">($tReduceOp)"},
    {"inserted_sort", "sort", "aten::sort", 9800, 3100, 512,
     "void $t$aradixSortKVInPlace<2, -1, 32, 32, float, long, $u>(at::cuda::detail::TensorInfo<float, $u>, $u, $u, "
     "$u)"},
    // Layers of encoders and decoders
    {"layer_norm", "norm", "aten::native_layer_norm", 5600, 4200, 256,
     "void $t$avectorized_layer_norm_kernel<$c, float>(int, float, $c const*, $c const*, $c const*, float*, float*, "
     "$c*)"},
    {"encoder_qkv_gemm", "dense_gemm", "aten::addmm", 16200, 41000, 256, "$B128x96x64$b", "$A128x64$l64x4_tn"},
    {"sdpa", "attention", "aten::_scaled_dot_product_flash_attention", 24000, 52000, 256, "attn_fwd",
     "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, "
     "cutlass::bfloat16_t>, false, false, false, true>(pytorch_flash::Flash_fwd_params)"},
    {"encoder_out_gemm", "dense_gemm", "aten::addmm", 8900, 15000, 256, "$B96x96x64$b", "$A64x64$l64x6_tn"},
    {"encoder_fc1_gemm", "dense_gemm", "aten::addmm", 21400, 57000, 256, "$B128x128x64$b", "$A128x128$l32x5_tn"},
    {"gelu", "activation", "aten::gelu", 5200, 6100, 256,
     "void $tvectorized_elementwise_kernel<4, $tGeluCUDAKernelImpl(at::TensorIteratorBase&, "
     "$tGeluType)::{lambda()#2}::operator()() const::{lambda()#4}::operator()() const::{lambda($c)#1}, "
     "std::array<char*, 2ul> >(int, $tGeluCUDAKernelImpl)"},
    {"encoder_fc2_gemm", "dense_gemm", "aten::addmm", 20300, 55000, 256, "$B128x112x64$b",
     "$A128x64_sliced1x2$l64x3_tn"},
    {"decoder_qkv_gemm", "dense_gemm", "aten::addmm", 9100, 38000, 256, "$B64x32x128$b", "$A64x64_sliced1x2$l64x5_tn"},
    {"decoder_out_gemm", "dense_gemm", "aten::addmm", 6200, 14000, 256, "$B32x32x128$b", "$A32x32_sliced1x4$l128x5_tn"},
    {"cross_q_gemm", "dense_gemm", "aten::addmm", 6400, 14500, 256, "$B32x48x128$b", "$A32x64_sliced1x4$l128x4_tn"},
    {"cross_sdpa", "attention", "aten::_scaled_dot_product_flash_attention", 19000, 44000, 256, "=sdpa"},
    {"cross_out_gemm", "dense_gemm", "aten::addmm", 6300, 14200, 256, "$B48x32x128$b", "$A64x32_sliced1x4$l128x4_tn"},
    {"decoder_fc1_gemm", "dense_gemm", "aten::addmm", 13100, 52000, 256, "$B64x64x128$b", "$A64x128$l64x4_tn"},
    {"decoder_fc2_gemm", "dense_gemm", "aten::addmm", 12800, 51000, 256, "$B64x80x128$b", "$A128x32$l64x4_tn"},
    // Around them
    {"patch_convolution", "convolution", "aten::cudnn_convolution", 38000, 0, 256,
     "miopenSp3AsmConv_v30_3_1_gfx9_fp32_f2x3_stride1",
     "sm80_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x64x64_stage4_warpsize2x2x1_g1_"
     "tensor16x8x16_execute_kernel_cudnn"},
    {"projection_gemm", "dense_gemm", "aten::addmm", 7700, 9000, 256, "$B64x64x64$b", "$A64x64$l32x6_tn"},
    {"classifier_gemm", "dense_gemm", "aten::mm", 61000, 90000, 256, "$B192x128x64$b", "$A256x128$l64x3_tn"},
    {"log_softmax", "softmax", "aten::_log_softmax", 18300, 2000, 1024,
     "void $t$acunn_SoftMaxForward<4, float, float, float, $t$aLogSoftMaxForwardEpilogue>(float*, float const*, int)"},
    // Backward and optimizer
    {"log_softmax_backward", "softmax", "aten::_log_softmax_backward_data", 19100, 2000, 1024,
     "void $t$acunn_SoftMaxBackward<4, float, float, float, $t$aLogSoftMaxBackwardEpilogue>(float*, float const*, "
     "float const*, int)"},
    {"input_gradient_gemm", "dense_gemm", "aten::mm", 18800, 49000, 256, "$B128x80x64$b", "$A128x64$l64x4_nn"},
    {"weight_gradient_gemm", "dense_gemm", "aten::mm", 19400, 51000, 256, "$B112x96x64$b", "$A128x64$l64x4_nt"},
    {"layer_norm_backward", "norm", "aten::native_layer_norm_backward", 8100, 6100, 256,
     "void $t$alayer_norm_grad_input_kernel_vectorized<$c, float>($c const*, $c const*, float const*, float const*, $c "
     "const*, $c*, int)"},
    {"layer_norm_weight_backward", "norm", "aten::native_layer_norm_backward", 7300, 5100, 256,
     "void $t$aGammaBetaBackwardCUDAKernelTemplate<$c, float, 64u, 1u, 32u, true, true>(long, long, $c const*, $c "
     "const*, float const*, float const*, $c*, $c*)"},
    {"sdpa_backward", "attention", "aten::_scaled_dot_product_flash_attention_backward", 52000, 110000, 256,
     "bwd_kernel_dk_dv",
     "void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<64, 128, 128, 8, 4, 4, "
     "4, false, false, cutlass::bfloat16_t>, false, false, false, true>(pytorch_flash::Flash_bwd_params)"},
    {"gelu_backward", "activation", "aten::gelu_backward", 6300, 7800, 256,
     "void $tvectorized_elementwise_kernel<4, $tGeluBackwardCUDAKernelImpl(at::TensorIteratorBase&, "
     "$tGeluType)::{lambda()#2}::operator()() const::{lambda()#4}::operator()() const::{lambda($c, $c)#1}, "
     "std::array<char*, 3ul> >(int, $tGeluBackwardCUDAKernelImpl)"},
    {"embedding_backward", "embedding", "aten::embedding_dense_backward", 15000, 3000, 256,
     "void $t$aembedding_backward_feature_kernel<$c, float, long>(long const*, $c const*, $c*, int, long, int)"},
    {"gradient_all_reduce", "communication", "c10d::allreduce_", 64000, 0, 512,
     "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)",
     "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"},
    {"adam", "optimizer", "aten::_fused_adamw_", 88000, 0, 512,
     "void $t$amulti_tensor_apply_kernel<$t$aFusedOptimizerTensorListMetadata<4>, $t$aFusedAdamMathFunctor<float, 4, "
     "($tADAM_MODE)1, false>, float const*, double, double, double, double, bool, float const*, float const*, "
     "($tADAM_MODE)1>($tFusedOptimizerTensorListMetadata<4>)"},
    // Diffusion
    {"modulation_gemm", "dense_gemm", "aten::addmm", 6900, 0, 256, "$B16x16x256$b", "$A32x32_sliced1x4$l64x6_tn"},
    {"modulated_norm", "norm", "aten::native_layer_norm", 7100, 5000, 256,
     "triton_red_fused_add_mul_native_layer_norm_3"},
    {"image_qkv_gemm", "dense_gemm", "aten::addmm", 31000, 64000, 256, "$B256x192x64$b", "$A256x128$l32x3_tn"},
    {"text_qkv_gemm", "dense_gemm", "aten::addmm", 14200, 9000, 256, "$B64x96x64$b", "$A64x128$l32x6_tn"},
    {"joint_qk_norm", "norm", "aten::rms_norm", 6100, 4400, 256, "triton_red_fused__to_copy_mean_mul_pow_rsqrt_8"},
    {"joint_rope", "rotary", "aten::mul", 6600, 5200, 256, "triton_poi_fused_add_mul_neg_stack_7"},
    {"joint_out_gemm", "dense_gemm", "aten::addmm", 15600, 31000, 256, "$B160x128x64$b", "$A128x128$l64x3_tn"},
    {"gated_add", "elementwise", "aten::add", 5100, 5600, 256, "triton_poi_fused_add_mul_9"},
    {"block_fc1_gemm", "dense_gemm", "aten::addmm", 35500, 81000, 256, "$B256x256x64$b", "$A256x128$l64x3_tn"},
    {"block_fc2_gemm", "dense_gemm", "aten::addmm", 34100, 80000, 256, "$B256x224x64$b", "$A256x64$l64x4_tn"},
    {"single_qkv_mlp_gemm", "dense_gemm", "aten::addmm", 47000, 121000, 256, "$B256x240x64$b",
     "$A256x128_ldg8_relu_f2f_stages_64x3_tn"},
    {"single_out_gemm", "dense_gemm", "aten::addmm", 38000, 90000, 256, "$B192x256x64$b", "$A256x64$l32x4_tn"},
    {"scheduler_step", "elementwise", "aten::add", 4400, 1000, 256, "triton_poi_fused_add_mul_sub_12"},
    {"decoder_convolution", "convolution", "aten::cudnn_convolution", 212000, 0, 256, "=patch_convolution"},
    // Other spellings of roles above; each has the times of its role.
    // Attention that does not say whether it serves prompts or new tokens.
    {"prefill_attention", "attention", "vllm::unified_attention_with_output", 21000, 98000, 256,
     "void ck_tile::kentry<2, ck_tile::FmhaFwdKernel<ck_tile::BlockFmhaPipelineQRKSVSAsync<bf16_t, 128, true>, "
     "ck_tile::Default2DEpilogue> >(ck_tile::FmhaFwdKernel::Kargs)",
     "void "
     "cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<flash::CollectiveMainloopFwdSm90<2, "
     "cutlass::bfloat16_t, 128> > > >(flash::FlashAttnFwdSm90::Params)",
     "attention"},
    {"decode_attention", "attention", "vllm::unified_attention_with_output", 12400, 410000, 256,
     "kernel_unified_attention_2d",
     "void "
     "cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<flash::CollectiveMainloopFwdSm90<1, "
     "cutlass::bfloat16_t, 64> > > >(flash::FlashAttnFwdSm90::Params)",
     "attention"},
    {"decode_attention_reduce", "attention", "vllm::unified_attention_with_output", 4400, 21000, 128,
     "void $tattn_reduce_kernel<$c, 128>($c*, float const*, float const*, int)",
     "void flashinfer::MergeStatesKernel<8u, 16u, $n, $n>($n*, float*, $n*, float*, $u, $u)", "attention"},
    // Fused with the residual add, which the name does not mention.
    {"add_rms_norm", "norm", "_C::fused_add_rms_norm", 6300, 6100, 256,
     "void sgl_hip::rmsnorm_kernel<$h, 8, true>($h*, $h*, $h const*, float, int, int)",
     "void tensorrt_llm::kernels::generalRmsNorm<$n, true>($n const*, $n const*, $n*, float, int, int)", "add_norm"},
    {"add_rms_norm_quant", "norm+quantise", "_C::rms_norm_dynamic_per_token_quant", 7400, 6900, 256,
     "void vllm::rms_norm_dynamic_per_token_quant_kernel<$c, $z, true>($z*, float*, $c const*, $c const*, float "
     "const*, float, int, $c*)",
     "void vllm::rms_norm_dynamic_per_token_quant_kernel<$c, $q, true>($q*, float*, $c const*, $c const*, float "
     "const*, float, int, $c*)",
     "add_norm"},
    // Rotary embedding and KV cache in one, in other words.
    {"rope_kv_cache", "rotary+kv_cache", "vllm::fused_rope_kv_cache", 5900, 4800, 256,
     "_fused_qk_rope_cat_and_cache_kernel", "fused_rope_and_reshape_cache", "rope_cache"},
    {"qk_norm_rope_kv_cache", "norm+rotary+kv_cache", "vllm::fused_qk_norm_rope_kv_cache", 8300, 6500, 256,
     "_fused_qk_rmsnorm_rope_cat_and_cache_kernel", "fused_qk_norm_rope_and_reshape_cache", "rope_cache"},
    {"rope_kv_cache", "rotary+kv_cache", "vllm::fused_rope_kv_cache", 5900, 4800, 256,
     "void aiter::fused_rope_and_reshape_cache_kernel<$h, 128, true>($h*, $h*, $h*, float const*, long const*, int, "
     "int)",
     "void flashinfer::RopeAppendPagedKVCacheKernel<128u, 8u, 16u, $n, int>($n*, $n*, flashinfer::paged_kv_t<$n, int>, "
     "float*, int*, $u)",
     "rope_append"},
    // Generated by Inductor.
    {"rms_norm", "norm", "_C::rms_norm", 5200, 4700, 256, "triton_red_fused__to_copy_mean_mul_pow_rsqrt_1", "=",
     "inductor"},
    {"residual_add", "elementwise", "aten::add", 3600, 4100, 256, "triton_poi_fused_add_2", "=", "inductor"},
    {"silu_mul", "activation", "_C::silu_and_mul", 4600, 9100, 1024, "triton_poi_fused_mul_silu_3", "=", "inductor"},
    {"quant", "quantise", "_C::dynamic_per_token_scaled_fp8_quant", 4100, 3900, 256,
     "triton_red_fused__to_copy_abs_amax_clamp_div_4", "=", "inductor"},
});

std::string written_out(std::string_view name) {
  std::string out;
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (name[at] != '$') {
      out += name[at];
      continue;
    }
    ++at;
    for (const auto& [letter, text] : kShort) out += letter == name[at] ? text : "";
  }
  return out;
}

std::vector<KernelKind> read_catalogue() {
  std::vector<KernelKind> all;
  all.reserve(kRows.size());
  for (const KernelRow& row : kRows) {
    KernelKind& kind = all.emplace_back(KernelKind{row, {}});
    for (const std::size_t vendor : {std::size_t{0}, std::size_t{1}}) {
      const std::string_view name = vendor == 0 || row.nvidia == "=" ? row.amd : row.nvidia;
      const auto bar = name.find('|');
      kind.names[vendor] = {written_out(name.substr(0, bar)), written_out(name.substr(bar == name.npos ? 0 : bar + 1))};
    }
    for (const KernelKind& other : all) {
      if (row.amd.starts_with('=') && row.amd.substr(1) == other.role) kind.names = other.names;
    }
  }
  return all;
}

}  // namespace

std::span<const KernelKind> kernel_catalogue() {
  static const std::vector<KernelKind> kAll = read_catalogue();
  return kAll;
}

const KernelKind* find_kernel(std::string_view role) {
  for (const KernelKind& kind : kernel_catalogue()) {
    if (kind.role == role) return &kind;
  }
  return nullptr;
}

}  // namespace tracedb
