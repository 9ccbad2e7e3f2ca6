#include "make_trace/model/other_kernels.h"

#include <array>

namespace tracedb {
namespace {

constexpr auto kKernels = std::to_array<KernelKind>({
    // Layers of encoders and decoders
    {"layer_norm", "norm",
     "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, "
     "float>(int, float, c10::BFloat16 const*, c10::BFloat16 const*, c10::BFloat16 const*, "
     "float*, float*, c10::BFloat16*)",
     kSameName, "", "", "aten::native_layer_norm", 5600, 4200, 256},
    {"encoder_qkv_gemm", "dense_gemm",
     "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT128x96x64_MI16x16x1_SN_LDSB1_AFC1_GRVWA8_GRVW"
     "B8_ISA942_WG32_8_1",
     "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_tn", "", "", "aten::addmm", 16200, 41000, 256},
    {"sdpa", "attention", "attn_fwd",
     "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, "
     "cutlass::bfloat16_t>, false, false, false, true>(pytorch_flash::Flash_fwd_params)",
     "", "", "aten::_scaled_dot_product_flash_attention", 24000, 52000, 256},
    {"encoder_out_gemm", "dense_gemm",
     "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT96x96x64_MI16x16x1_SN_LDSB1_AFC1_GRVWA8_GRVWB"
     "8_ISA942_WG32_8_1",
     "ampere_bf16_s16816gemm_bf16_64x64_ldg8_f2f_stages_64x6_tn", "", "", "aten::addmm", 8900, 15000, 256},
    {"encoder_fc1_gemm", "dense_gemm",
     "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT128x128x64_MI16x16x1_SN_LDSB1_AFC1_GRVWA8_GRV"
     "WB8_ISA942_WG32_8_1",
     "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn", "", "", "aten::addmm", 21400, 57000, 256},
    {"gelu", "activation",
     "void at::native::vectorized_elementwise_kernel<4, "
     "at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, "
     "at::native::GeluType)::{lambda()#2}::operator()() const::{lambda()#4}::operator()() "
     "const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> >(int, "
     "at::native::GeluCUDAKernelImpl)",
     kSameName, "", "", "aten::gelu", 5200, 6100, 256},
    {"encoder_fc2_gemm", "dense_gemm",
     "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT128x112x64_MI16x16x1_SN_LDSB1_AFC1_GRVWA8_GRV"
     "WB8_ISA942_WG32_8_1",
     "ampere_bf16_s16816gemm_bf16_128x64_sliced1x2_ldg8_f2f_stages_64x3_tn", "", "", "aten::addmm", 20300, 55000, 256},
    {"decoder_qkv_gemm", "dense_gemm",
     "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT64x32x128_MI16x16x1_SN_LDSB1_AFC1_GRVWA8_GRVW"
     "B8_ISA942_WG32_8_1",
     "ampere_bf16_s16816gemm_bf16_64x64_sliced1x2_ldg8_f2f_stages_64x5_tn", "", "", "aten::addmm", 9100, 38000, 256},
    {"decoder_out_gemm", "dense_gemm",
     "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT32x32x128_MI16x16x1_SN_LDSB1_AFC1_GRVWA8_GRVW"
     "B8_ISA942_WG32_8_1",
     "ampere_bf16_s16816gemm_bf16_32x32_sliced1x4_ldg8_f2f_stages_128x5_tn", "", "", "aten::addmm", 6200, 14000, 256},
    {"cross_q_gemm", "dense_gemm",
     "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT32x48x128_MI16x16x1_SN_LDSB1_AFC1_GRVWA8_GRVW"
     "B8_ISA942_WG32_8_1",
     "ampere_bf16_s16816gemm_bf16_32x64_sliced1x4_ldg8_f2f_stages_128x4_tn", "", "", "aten::addmm", 6400, 14500, 256},
    {"cross_sdpa", "attention", "attn_fwd",
     "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, "
     "cutlass::bfloat16_t>, false, false, false, true>(pytorch_flash::Flash_fwd_params)",
     "", "", "aten::_scaled_dot_product_flash_attention", 19000, 44000, 256},
    {"cross_out_gemm", "dense_gemm",
     "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT48x32x128_MI16x16x1_SN_LDSB1_AFC1_GRVWA8_GRVW"
     "B8_ISA942_WG32_8_1",
     "ampere_bf16_s16816gemm_bf16_64x32_sliced1x4_ldg8_f2f_stages_128x4_tn", "", "", "aten::addmm", 6300, 14200, 256},
    {"decoder_fc1_gemm", "dense_gemm",
     "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT64x64x128_MI16x16x1_SN_LDSB1_AFC1_GRVWA8_GRVW"
     "B8_ISA942_WG32_8_1",
     "ampere_bf16_s16816gemm_bf16_64x128_ldg8_f2f_stages_64x4_tn", "", "", "aten::addmm", 13100, 52000, 256},
    {"decoder_fc2_gemm", "dense_gemm",
     "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT64x80x128_MI16x16x1_SN_LDSB1_AFC1_GRVWA8_GRVW"
     "B8_ISA942_WG32_8_1",
     "ampere_bf16_s16816gemm_bf16_128x32_ldg8_f2f_stages_64x4_tn", "", "", "aten::addmm", 12800, 51000, 256},
    // Around them
    {"patch_convolution", "convolution", "miopenSp3AsmConv_v30_3_1_gfx9_fp32_f2x3_stride1",
     "sm80_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x64x64_stage4_wa"
     "rpsize2x2x1_g1_tensor16x8x16_execute_kernel_cudnn",
     "", "", "aten::cudnn_convolution", 38000, 0, 256},
    {"projection_gemm", "dense_gemm",
     "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT64x64x64_MI16x16x1_SN_LDSB1_AFC1_GRVWA8_GRVWB"
     "8_ISA942_WG32_8_1",
     "ampere_bf16_s16816gemm_bf16_64x64_ldg8_f2f_stages_32x6_tn", "", "", "aten::addmm", 7700, 9000, 256},
    {"classifier_gemm", "dense_gemm",
     "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT192x128x64_MI16x16x1_SN_LDSB1_AFC1_GRVWA8_GRV"
     "WB8_ISA942_WG32_8_1",
     "ampere_bf16_s16816gemm_bf16_256x128_ldg8_f2f_stages_64x3_tn", "", "", "aten::mm", 61000, 90000, 256},
    {"log_softmax", "softmax",
     "void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float, float, float, "
     "at::native::(anonymous namespace)::LogSoftMaxForwardEpilogue>(float*, float const*, int)",
     kSameName, "", "", "aten::_log_softmax", 18300, 2000, 1024},
    // Backward and optimizer
    {"log_softmax_backward", "softmax",
     "void at::native::(anonymous namespace)::cunn_SoftMaxBackward<4, float, float, float, "
     "at::native::(anonymous namespace)::LogSoftMaxBackwardEpilogue>(float*, float const*, float "
     "const*, int)",
     kSameName, "", "", "aten::_log_softmax_backward_data", 19100, 2000, 1024},
    {"input_gradient_gemm", "dense_gemm",
     "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT128x80x64_MI16x16x1_SN_LDSB1_AFC1_GRVWA8_GRVW"
     "B8_ISA942_WG32_8_1",
     "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_nn", "", "", "aten::mm", 18800, 49000, 256},
    {"weight_gradient_gemm", "dense_gemm",
     "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT112x96x64_MI16x16x1_SN_LDSB1_AFC1_GRVWA8_GRVW"
     "B8_ISA942_WG32_8_1",
     "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_nt", "", "", "aten::mm", 19400, 51000, 256},
    {"layer_norm_backward", "norm",
     "void at::native::(anonymous "
     "namespace)::layer_norm_grad_input_kernel_vectorized<c10::BFloat16, float>(c10::BFloat16 "
     "const*, c10::BFloat16 const*, float const*, float const*, c10::BFloat16 const*, "
     "c10::BFloat16*, int)",
     kSameName, "", "", "aten::native_layer_norm_backward", 8100, 6100, 256},
    {"layer_norm_weight_backward", "norm",
     "void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernelTemplate<c10::BFloat16, "
     "float, 64u, 1u, 32u, true, true>(long, long, c10::BFloat16 const*, c10::BFloat16 const*, "
     "float const*, float const*, c10::BFloat16*, c10::BFloat16*)",
     kSameName, "", "", "aten::native_layer_norm_backward", 7300, 5100, 256},
    {"sdpa_backward", "attention", "bwd_kernel_dk_dv",
     "void "
     "pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<64, "
     "128, 128, 8, 4, 4, 4, false, false, cutlass::bfloat16_t>, false, false, false, "
     "true>(pytorch_flash::Flash_bwd_params)",
     "", "", "aten::_scaled_dot_product_flash_attention_backward", 52000, 110000, 256},
    {"gelu_backward", "activation",
     "void at::native::vectorized_elementwise_kernel<4, "
     "at::native::GeluBackwardCUDAKernelImpl(at::TensorIteratorBase&, "
     "at::native::GeluType)::{lambda()#2}::operator()() const::{lambda()#4}::operator()() "
     "const::{lambda(c10::BFloat16, c10::BFloat16)#1}, std::array<char*, 3ul> >(int, "
     "at::native::GeluBackwardCUDAKernelImpl)",
     kSameName, "", "", "aten::gelu_backward", 6300, 7800, 256},
    {"embedding_backward", "embedding",
     "void at::native::(anonymous namespace)::embedding_backward_feature_kernel<c10::BFloat16, "
     "float, long>(long const*, c10::BFloat16 const*, c10::BFloat16*, int, long, int)",
     kSameName, "", "", "aten::embedding_dense_backward", 15000, 3000, 256},
    {"gradient_all_reduce", "communication", "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)",
     "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "", "", "c10d::allreduce_", 64000, 0,
     512},
    {"adam", "optimizer",
     "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
     "namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous "
     "namespace)::FusedAdamMathFunctor<float, 4, (at::native::ADAM_MODE)1, false>, float const*, "
     "double, double, double, double, bool, float const*, float const*, "
     "(at::native::ADAM_MODE)1>(at::native::FusedOptimizerTensorListMetadata<4>)",
     kSameName, "", "", "aten::_fused_adamw_", 88000, 0, 512},
    // Diffusion
    {"modulation_gemm", "dense_gemm",
     "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT16x16x256_MI16x16x1_SN_LDSB1_AFC1_GRVWA8_GRVW"
     "B8_ISA942_WG32_8_1",
     "ampere_bf16_s16816gemm_bf16_32x32_sliced1x4_ldg8_f2f_stages_64x6_tn", "", "", "aten::addmm", 6900, 0, 256},
    {"modulated_norm", "norm", "triton_red_fused_add_mul_native_layer_norm_3", kSameName, "", "",
     "aten::native_layer_norm", 7100, 5000, 256},
    {"image_qkv_gemm", "dense_gemm",
     "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64_MI16x16x1_SN_LDSB1_AFC1_GRVWA8_GRV"
     "WB8_ISA942_WG32_8_1",
     "ampere_bf16_s16816gemm_bf16_256x128_ldg8_f2f_stages_32x3_tn", "", "", "aten::addmm", 31000, 64000, 256},
    {"text_qkv_gemm", "dense_gemm",
     "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT64x96x64_MI16x16x1_SN_LDSB1_AFC1_GRVWA8_GRVWB"
     "8_ISA942_WG32_8_1",
     "ampere_bf16_s16816gemm_bf16_64x128_ldg8_f2f_stages_32x6_tn", "", "", "aten::addmm", 14200, 9000, 256},
    {"joint_qk_norm", "norm", "triton_red_fused__to_copy_mean_mul_pow_rsqrt_8", kSameName, "", "", "aten::rms_norm",
     6100, 4400, 256},
    {"joint_rope", "rotary", "triton_poi_fused_add_mul_neg_stack_7", kSameName, "", "", "aten::mul", 6600, 5200, 256},
    {"joint_out_gemm", "dense_gemm",
     "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT160x128x64_MI16x16x1_SN_LDSB1_AFC1_GRVWA8_GRV"
     "WB8_ISA942_WG32_8_1",
     "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_64x3_tn", "", "", "aten::addmm", 15600, 31000, 256},
    {"gated_add", "elementwise", "triton_poi_fused_add_mul_9", kSameName, "", "", "aten::add", 5100, 5600, 256},
    {"block_fc1_gemm", "dense_gemm",
     "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x256x64_MI16x16x1_SN_LDSB1_AFC1_GRVWA8_GRV"
     "WB8_ISA942_WG32_8_1",
     "ampere_bf16_s16816gemm_bf16_256x128_ldg8_f2f_stages_64x3_tn", "", "", "aten::addmm", 35500, 81000, 256},
    {"block_fc2_gemm", "dense_gemm",
     "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x224x64_MI16x16x1_SN_LDSB1_AFC1_GRVWA8_GRV"
     "WB8_ISA942_WG32_8_1",
     "ampere_bf16_s16816gemm_bf16_256x64_ldg8_f2f_stages_64x4_tn", "", "", "aten::addmm", 34100, 80000, 256},
    {"single_qkv_mlp_gemm", "dense_gemm",
     "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x240x64_MI16x16x1_SN_LDSB1_AFC1_GRVWA8_GRV"
     "WB8_ISA942_WG32_8_1",
     "ampere_bf16_s16816gemm_bf16_256x128_ldg8_relu_f2f_stages_64x3_tn", "", "", "aten::addmm", 47000, 121000, 256},
    {"single_out_gemm", "dense_gemm",
     "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT192x256x64_MI16x16x1_SN_LDSB1_AFC1_GRVWA8_GRV"
     "WB8_ISA942_WG32_8_1",
     "ampere_bf16_s16816gemm_bf16_256x64_ldg8_f2f_stages_32x4_tn", "", "", "aten::addmm", 38000, 90000, 256},
    {"scheduler_step", "elementwise", "triton_poi_fused_add_mul_sub_12", kSameName, "", "", "aten::add", 4400, 1000,
     256},
    {"decoder_convolution", "convolution", "miopenSp3AsmConv_v30_3_1_gfx9_fp32_f2x3_stride1",
     "sm80_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x64x64_stage4_wa"
     "rpsize2x2x1_g1_tensor16x8x16_execute_kernel_cudnn",
     "", "", "aten::cudnn_convolution", 212000, 0, 256},
});

}  // namespace

std::span<const KernelKind> other_kernels() { return kKernels; }

}  // namespace tracedb
