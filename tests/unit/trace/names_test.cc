#include <doctest/doctest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "support/cases.h"
#include "support/rows.h"
#include "trace/display_name.h"
#include "trace/event_names.h"
#include "trace/kernel_name.h"
#include "trace/python_frame.h"
#include "trace/rank_name.h"

namespace tracedb {
namespace {

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : display_names(names)) out += (out.empty() ? "" : " | ") + name;
  return out;
}

TEST_CASE("what distinguishes a kernel is shown") {
  CHECK(display_name("void at::native::(anonymous namespace)::cunn_SoftMaxForwardReg<float, float, 4>(float*, int)") ==
        "cunn_SoftMaxForwardReg");
  CHECK(display_name("loop_fusion @ jit_f/loop_fusion.3 = fusion f32[8,128]") == "loop_fusion.3 f32[8,128]");
  CHECK(display_name("gemm @ jit_f/cublas-gemm.4 = custom-call:__cublas$gemm (f32[8], u8[0])") ==
        "gemm @ cublas-gemm.4 (f32[8], u8[0])");
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
  check_unchanged(display_name, {"", "[others]", "Memcpy HtoD (Pageable -> Device)", "gemm", "all 次数", "a::", "<<<"});
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

TEST_CASE("kinds of runtime calls") {
  check_each(CallKind::kLaunch, call_kind,
             {"cudaLaunchKernel", "cudaLaunchKernel_v7000", "cudaLaunchKernelExC_v11060", "cudaLaunchCooperativeKernel",
              "cuLaunchKernel", "cuLaunchKernelEx", "cudaLaunch", "hipLaunchKernel", "hipExtLaunchKernel",
              "hipModuleLaunchKernel", "hipExtModuleLaunchKernel"});
  check_each(CallKind::kGraphLaunch, call_kind,
             {"cudaGraphLaunch", "cudaGraphLaunch_v10000", "cuGraphLaunch", "hipGraphLaunch"});
  check_each(CallKind::kCopy, call_kind,
             {"cudaMemcpyAsync", "cuMemcpyHtoDAsync_v2", "hipMemcpyWithStream", "hipMemsetAsync"});
  check_each(CallKind::kSync, call_kind,
             {"cudaStreamSynchronize", "cudaStreamWaitEvent", "hipEventQuery", "hipDeviceSynchronize"});
  check_each(CallKind::kOther, call_kind,
             {"cudaMalloc", "hipGetDevice", "cudaEventRecord", "cudaStreamIsCapturing", "hipGraphInstantiate", ""});
}

TEST_CASE("directions of copies") {
  const auto direction = [](std::string_view name) { return copy_directions()[copy_direction_index(name)]; };
  check_each(
      "HtoD", direction,
      {"Memcpy HtoD (Pinned -> Device)", "CopyHostToDevice", "MEMORY_COPY_HOST_TO_DEVICE", "Memcpy H2D", "Memcpy M2D"});
  check_each("DtoH", direction, {"Memcpy DtoH (Device -> Pageable)", "Memcpy D2M(DEVICE -> HOST)"});
  check_each("DtoD", direction, {"Memcpy DtoD (Device -> Device)", "DeviceToDevice"});
  check_each("PtoP", direction, {"Memcpy PtoP (Device -> Device)", "Memcpy P2P"});
  check_each("", direction, {"Memset (Device)", "Memcpy D2S", "Memcpy2D", ""});
}

TEST_CASE("short names of kernels") {
  check_pairs<std::string_view>(
      short_name,
      {{"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3> "
        ">(int, "
        "at::native::CUDAFunctor_add<float>, std::array<char*, 3>)",
        "at::native::vectorized_elementwise_kernel"},
       {"void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 3>(float*, int)",
        "at::native::CatArrayBatchedCopy"},
       {"void (anonymous namespace)::softmax_warp_forward<float>(float*)", "softmax_warp_forward"},
       {"void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl<f>(at::TensorIteratorBase&, f "
        "const&)::"
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
       {"_Znonsense", "_Znonsense"}});
}

TEST_CASE("a name of any length and nesting is cut without harm") {
  CHECK(as_row(short_name("void k<" + std::string(100000, '<')), short_name(std::string(100000, '(')).empty(),
               short_name("_ZN" + std::string(20000, 'I')).empty()) == "k false false");
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

TEST_CASE("symbols are outlined by their identifiers and literals") {
  check_pairs<std::string_view>(
      outline_symbol,
      {{"_Z3foov", "foo"},
       {"_ZN2ns3fooEv", "ns::foo"},
       {"_ZN2ns12_GLOBAL__N_13fooEv", "ns::foo"},
       {"_ZN2ns3fooIDF16bLi256ELb1ELb0EEEvv", "ns::foo<bfloat16, 256, true, false>"},
       {"_ZN2ns3fooINS_3barIfNS_3bazEEEEEvv", "ns::foo<bar<float, baz>>"},
       {"_ZN2ns3fooILNS_4EnumE2EiEEvv", "ns::foo<Enum2, int>"},
       {"_ZN2ns3fooIJNS_1aENS_1bEEEEvv", "ns::foo<a, b>"},
       {"_ZN4vllm18act_and_mul_kernelIN3c108BFloat16ETnPFT_RKS3_EXadL_ZNS_11silu_kernelIS2_EES3_S5_EELb1EEEvPS3_PS4_i",
        "vllm::act_and_mul_kernel<c10::BFloat16, ref, ref, silu_kernel<ref>, ref, ref, true>"},
       {"_Z", ""},
       {"_Z99x", ""},
       {"plain", ""}});
}

TEST_CASE("names the demangler does not know get a short name all the same") {
  CHECK(short_name("_ZN4vllm18act_and_mul_kernelIN3c108BFloat16ETnPFT_RKS3_EXadL_Z4siluIS2_ES3_S5_EEEEvPS3_PS4_i") ==
        "vllm::act_and_mul_kernel");
  CHECK(short_name("_ZN5aiter3addIDF16bEEvPT_") == "aiter::add");
}

TEST_CASE("a name is cut into path and arguments") {
  const KernelName plain = split_kernel_name("void ns::k<int, a<b, c>, (x)1>(float)");
  CHECK(plain.path == "ns::k");
  CHECK(plain.arguments == "int, a<b, c>, (x)1");
  REQUIRE(plain.argument_list.size() == 3);
  CHECK(plain.argument_list[1] == " a<b, c>");
  const KernelName guarded =
      split_kernel_name("std::enable_if<(((8)>(0)))&&t<c10::Half>::exists, void>::type vllm::norm<c10::Half, 8>(int)");
  CHECK(guarded.path == "vllm::norm");
  CHECK(guarded.arguments == "c10::Half, 8");
  CHECK(as_row(split_kernel_name("void f<a->b, 2>(int)").argument_list.size(),
               split_kernel_name("outer<int>::inner").path,
               split_kernel_name(" ns::type<int> ").path) == "2 outer::inner ns::type");
}

TEST_CASE("whose code a frame is") {
  using enum FrameOrigin;
  check_each(
      kOwn, frame_origin,
      {"train.py(12): main", "vllm/model_executor/models/llama.py(374): forward", "/app/xDiT/xfuser/runner.py(3): run",
       "transformers/models/t5/modeling_t5.py(1): forward", "torchvision/models/resnet.py(266): forward",
       "/sgl-workspace/sglang/python/sglang/srt/managers/scheduler.py(9): event_loop",
       "/usr/lib/python3/dist-packages/vllm/worker.py(7): run", "/opt/venv/lib/python3.12/site-packages/x/y.py(1): f",
       "/home/me/python3/train.py(2): go"});
  check_each(
      kLibrary, frame_origin,
      {"torch/nn/modules/module.py(1755): _call_impl", "contextlib.py(79): inner", "<frozen os>(812): fsdecode",
       "multiprocessing/spawn.py(122): spawn_main", "tqdm/_monitor.py(60): run", "triton/runtime/jit.py(5): run",
       "/usr/lib/python3.10/threading.py(973): _bootstrap", "/usr/lib/python3/dist-packages/numpy/core/x.py(1): f",
       "/sgl-workspace/triton-custom/python/triton/runtime/jit.py(4): run",
       "/workspace/pytorch/torch/nn/functional.py(2): linear"});
  check_each(kGenerated, frame_origin,
             {"<string>(1): <module>", "<eval_with_key>.162(4): forward", "/tmp/torchinductor_root/dn/cdn.py(40): call",
              "/data/cache/vllm/torch_compile_cache/ab/rank_0_0/inductor_cache/cd/efg.py(7): call"});
  check_each(kModule, frame_origin, {"nn.Module: LlamaForCausalLM_0"});
  check_each(kBuiltIn, frame_origin, {"<built-in method replay of PyCapsule object at 0x7fecdbf584b0>", ""});
}

TEST_CASE("frames in short") {
  CHECK(short_frame("vllm/model_executor/models/llama.py(374): forward") == "llama.py:374 forward");
  CHECK(short_frame("json/__init__.py(183): dumps") == "json/__init__.py:183 dumps");
  CHECK(short_frame("/app/pkg/__init__.py(1): f") == "pkg/__init__.py:1 f");
  CHECK(short_frame("train.py(3): <module>") == "train.py:3 <module>");
  CHECK(short_frame("nn.Module: Linear_3") == "nn.Module: Linear_3");
  CHECK(short_frame("<built-in method size of Tensor object at 0x7f12>") == "<built-in method size of Tensor object>");
}

std::string rank(std::string_view name) {
  const std::optional<NamedRank> found = rank_in_name(name);
  return found ? std::to_string(found->rank) + " " + found->from : "none";
}

TEST_CASE("ranks in names") {
  check_pairs<std::string_view>(rank, {{"rank0.json", "0 rank0"},
                                       {"rank0.pt.trace.json.gz", "0 rank0"},
                                       {"rank_3.json", "3 rank_3"},
                                       {"rank-12.json.gz", "12 rank-12"},
                                       {"rank=7.json", "7 rank=7"},
                                       {"rank_00031.json", "31 rank_00031"},
                                       {"RANK2.json", "2 RANK2"},
                                       {"Rank 4.json", "4 Rank 4"},
                                       {"inference_rank1_kernels_only.json.gz", "1 rank1"},
                                       {"cpu_only_rank34.json.gz", "34 rank34"},
                                       {"3f2a-rank-3.1754398294123456789.pt.trace.json.gz", "3 rank-3"},
                                       {"host_1234.rank5.1754398294.pt.trace.json", "5 rank5"},
                                       {"node7_rank61.json", "61 rank61"},
                                       {"rank0_20240513.json", "0 rank0"},
                                       {"rank3of8.json", "3 rank3"},
                                       {"rank3_of_8.json", "3 rank3"},
                                       {"global_rank9.json", "9 rank9"},
                                       {"globalrank9.json", "9 globalrank9"},
                                       {"node1_local_rank3_rank11.json", "11 rank11"},
                                       {"local_rank3_global_rank_11.json", "11 rank_11"},
                                       {"rank5_rank-5.json", "5 rank5"},
                                       {"mi300x_rank2.json", "2 rank2"},
                                       {"dp0_pp0_tp3_dcp0_ep3_rank3.1754.pt.trace.json.gz", "3 rank3"},
                                       {"dp1_pp0_tp3_rank11.pt.trace.json.gz", "11 rank11"},
                                       {"dp0_pp0_tp3.pt.trace.json.gz", "3 dp0_pp0_tp3"},
                                       {"dp0_pp0_tp3_ep3.json", "3 dp0_pp0_tp3_ep3"},
                                       {"tp5-pp0.json", "5 tp5-pp0"},
                                       {"tp0_pp0.json", "0 tp0_pp0"},
                                       {"run_tp0.json", "0 tp0"},
                                       {"TP-3.trace.json.gz", "3 TP-3"},
                                       {"ascend_pytorch_profiler_3.db", "3 pytorch_profiler_3"},
                                       {"profiler_info_12.json", "12 profiler_info_12"},
                                       {"1754398294.1234567-TP-3.trace.json.gz", "3 TP-3"},
                                       {"1754398294.1234567-TP-3-DECODE.trace.json.gz", "3 TP-3"},
                                       {"1754398294.1-TP-3-DP-0-PP-0-EP-0.trace.json.gz", "3 TP-3-DP-0-PP-0-EP-0"}});
}

TEST_CASE("names that tell no rank, or more than one") {
  CHECK(rank("") == "none");
  check_words("none", rank, R"(
    rank rank.json no_rank.json.gz rank_a.json rankings5.json ranks8.json frank3.json lowrank8.json low_rank8.json
    lora_rank16.json lora-rank-16.json rerank2.json re-rank-2.json dlrm_8rank.json 8rank3.json rank16bit.json
    rank3b.json rank--3.json local_rank3.json local-rank-3.json node1_local_rank3.json tp_rank3.json pp-rank-1.json
    rank_20240513.json rank_240513.json rank1754398294.json rank99999999999999999999.json rank0_vs_rank1.json
    2024-05-13_12-30-59.json 20240513.json host_31337.1715600000000000000.pt.trace.json worker3.pt.trace.json
    localhost_42.json mi300x.json h100_0.json gpu3.json llama_tp4_vllm_mi300x.pt.trace.json.gz
    llama-70b-TP-4.trace.json.gz TP-4-H100.trace.json.gz tp-3.trace.json.gz tp8.json tp4_pp2.json tp8_dp1.json
    dp1_pp0_tp3.json tp3_pp1.json dp3.json pp0.json tp0_tp1_pp0.json http0.json 1754398294.1-TP-3-DP-1.trace.json.gz
    r16.json)");
}

}  // namespace
}  // namespace tracedb
