// FLOPs and bytes of operators by their arguments, and the peaks of devices.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "passes/work/device_peaks.h"
#include "passes/work/operator_work.h"

namespace tracedb {
namespace {

std::string text_of(Amount amount) { return amount ? std::to_string(*amount) : "-"; }

std::string work_text(std::string_view name, std::string_view dims, std::string_view types, std::string_view strides,
                      std::string_view values, const StepLengths* lengths = nullptr) {
  const OperatorArguments arguments = read_arguments(dims, types, strides, values);
  if (!arguments.problem.empty()) return std::string(arguments.problem);
  const OperatorWork work = work_of(name, arguments.list, lengths);
  std::string text = fmt::format("{} {}", text_of(work.flops), text_of(work.bytes));
  if (!work.layout.empty()) text += " " + work.layout;
  return work.missing.empty() ? text : text + " " + std::string(work.missing);
}

struct WorkCase {
  const char *name, *dims, *types, *strides, *values;
  const char* expected;  // FLOPs, bytes, layout, what is missing
};

constexpr const char* kBf16x2 = R"(["c10::BFloat16","c10::BFloat16"])";
constexpr const char* kFloat2 = R"(["float","float"])";
constexpr const char* kFloat3 = R"(["float","float","float"])";
constexpr const char* kConvolution = R"(["float","float","float","","","","","",""])";
constexpr const char* kNoBias = R"(["float","float","","","","","","",""])";
constexpr const char* kAttentionTypes3 = R"(["c10::Half","c10::Half","c10::Half"])";
constexpr const char* kAttentionTypes5 =
    R"(["c10::Half","c10::Half","c10::Half","Scalar","Scalar","Scalar","Scalar","Scalar"])";
// Keys of pages, of which a table (argument 14) tells those that are used; and keys in chunks of 2 (argument 27).
constexpr const char *kPagedDims = "[[4,1,8,16],[9,2,8,16],[9,2,8,16],[],[],[],[],[],[],[],[],[],[],[],[4,3]]",
                     *kPagedTypes = R"(["c10::Half","c10::Half","c10::Half","","","","","","","","","","","","int"])",
                     *kChunkedDims =
                         "[[1,4,8,16],[1,6,2,16],[1,6,2,16],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],"
                         "[],[],[],[],[],[],[],[]]",
                     *kChunkedTypes =
                         R"(["c10::Half","c10::Half","c10::Half","","","","","","","","","","","","","","","",)"
                         R"("","","","","","Scalar","Scalar","Scalar","Scalar","Scalar"])",
                     *kChunkedValues = R"(["","","","","","","","","","","","","","","","","","","","","","","",)"
                                       R"("0.25","True","-1","-1","2"])";
constexpr const char* kAttentionTypes = R"(["c10::Half","c10::Half","c10::Half","Scalar","Scalar"])";

// Worked out by hand.
const std::vector<WorkCase> kCases = {
    {"aten::mm", "[[2,3],[3,5]]", kBf16x2, "[[3,1],[5,1]]", "", "60 62 NN"},
    {"aten::mm", "[[2,3],[3,5]]", kBf16x2, "[[3,1],[1,3]]", "", "60 62 NT"},
    {"aten::mm", "[[2,3],[3,5]]", R"(["c10::Half","float"])", "", "", "60 112"},  // the result is float
    {"aten::mm", "[[2,3],[3,5],[2,5]]", R"(["c10::Half","c10::Half","float"])", "", "", "60 82"},  // `out` says so
    {"aten::mm", "[[2,3],[3,5]]", R"(["c10::Half","c10::New"])", "", "",
     "60 - size of a type not known, or a product too large"},
    {"aten::mm", "[[2,3],[3,5],[]]", R"(["c10::Half","c10::Half","Scalar"])", "", R"(["","","6"])", "60 82"},
    {"aten::addmm", "[[5],[2,3],[3,5],[],[],[]]", R"(["c10::Half","c10::Half","c10::Half","Scalar","Scalar","Scalar"])",
     "", R"(["","","","6","1","1"])", "60 92"},
    {"aten::_scaled_mm", "[[2,16],[16,4],[],[],[],[],[],[]]",
     R"(["c10::Float8_e4m3fn","c10::Float8_e4m3fn","","","","","Scalar","Scalar"])", "",
     R"(["","","","","","","24","True"])", "256 104"},
    {"aten::_grouped_mm", "[[4,3],[2,3,5],[2],[],[]]", R"(["c10::Half","c10::Half","int","","Scalar"])", "",
     R"(["","","","","6"])", "120 164"},
    {"aten::bmm", "[[4,2,3],[4,3,5]]", kBf16x2, "", "", "240 248"},
    {"aten::addmm", "[[5],[2,3],[3,5]]", kFloat3, "", "", "60 144"},
    {"aten::linear", "[[7,2,3],[5,3],[]]", R"(["float","float",""])", "", "", "420 508"},
    {"aten::_scaled_mm", "[[2,16],[16,4]]", R"(["c10::Float4_e2m1fn_x2","c10::Float4_e2m1fn_x2"])", "", "", "512 112"},
    {"aten::mm", "[[4294967296,4294967296],[4294967296,2]]", kFloat2, "", "",
     "- - size of a type not known, or a product too large"},
    {"aten::mm", "[[0,3],[3,5]]", kFloat2, "", "", "0 60"},
    {"aten::mm", "[]", "[]", "", "", "- - shapes not recorded"},
    {"aten::mm", "[[2,3],[4,5]]", kFloat2, "", "", "- - sizes of matrices that do not fit"},
    {"aten::bmm", "[[4,2,3],[6,3,5]]", kFloat2, "", "", "- - sizes of matrices that do not fit"},
    {"aten::mm", "[[-1,3],[3,5]]", kFloat2, "", "", "a dimension is negative"},
    {"aten::mm", R"([["a",3],[3,5]])", kFloat2, "", "", "a dimension is no number"},
    {"aten::mm", "[[2,3],[3,5]", kFloat2, "", "", "the list of dimensions is cut short"},
    {"aten::mm", "[[2,3],[3,5]]", R"(["float"])", "", "", "not as many types as arguments"},
    {"aten::mm", "[[1e30,3],[3,5]]", kFloat2, "", "", "a dimension is no number"},
    {"aten::_scaled_dot_product_flash_attention", "[[1,8,4,16],[1,2,6,16],[1,2,6,16],[],[]]", kAttentionTypes, "",
     R"(["","","","0.","False"])", "12288 2816"},
    {"aten::_scaled_dot_product_flash_attention", "[[1,8,4,16],[1,2,6,16],[1,2,6,16],[],[]]", kAttentionTypes, "",
     R"(["","","","0.","True"])", "8192 2816"},
    {"aten::_scaled_dot_product_flash_attention", "[[1,8,4,16],[1,2,6,16],[1,2,6,16],[],[]]", kAttentionTypes, "", "",
     "- 2816 whether it is causal is not recorded"},
    {"aten::_scaled_dot_product_flash_attention", "[[1,8,8,16],[1,2,6,16],[1,2,6,16],[],[]]", kAttentionTypes, "",
     R"(["","","","0.","True"])", "- 4864 causal with fewer keys than queries"},
    {"flash_attn::_flash_attn_forward", "[[1,4,8,16],[1,6,2,16],[1,6,2,16],[],[],[],[],[]]", kAttentionTypes5, "",
     R"(["","","","0.","0.25","True","-1","0"])", "8192 2816"},
    {"flash_attn::_flash_attn_forward", "[[1,4,8,16],[1,6,2,16],[1,6,2,16],[],[],[],[],[]]", kAttentionTypes5, "",
     R"(["","","","0.","0.25","True","128","0"])", "- 2816 a sliding window"},
    {"aten::_scaled_dot_product_flash_attention", "[[4,8,4,16],[4,8,6,16],[4,8,5,16],[],[]]", kAttentionTypes, "",
     R"(["","","","0.","False"])", "- - sizes of queries, keys and values that do not fit"},
    {"aten::_scaled_dot_product_flash_attention", "[[1,8,4,16],[1,2,6,16],[1,2,6,16],[],[]]",
     R"(["c10::Half","float","float","Scalar","Scalar"])", "", R"(["","","","0.","False"])", "12288 3584"},
    {"flash_attn_3::fwd", kPagedDims, kPagedTypes, "", "", "- - lengths not recorded"},
    {"flash_attn_3::fwd", kChunkedDims, kChunkedTypes, "", kChunkedValues, "- 2816 attention in chunks"},
    {"aten::convolution", "[[1,4,8,8],[6,2,3,3],[6],[],[],[],[],[],[]]", kConvolution, "",
     R"(["","","","[1, 1]","[1]","[1, 1]","False","[0, 0]","2"])", "13824 3016"},
    {"aten::convolution", "[[1,4,8,8],[4,3,2,2],[],[],[],[],[],[],[]]", kNoBias, "",
     R"(["","","","[2, 2]","[0, 0]","[1, 1]","True","[0, 0]","1"])", "6144 4288"},
    {"aten::convolution", "[[1,4,8,8],[6,2,3,3],[6],[],[],[],[],[],[]]", kConvolution, "", "",
     "- - stride and padding not recorded"},
    {"aten::convolution", "[[1,4,8,8],[6,2,3,3],[6],[],[],[],[],[],[]]", kConvolution, "",
     R"(["","","","[0, 0]","[1]","[1, 1]","False","[0, 0]","2"])", "- - stride and padding not recorded"},
    {"aten::cudnn_convolution", "[[1,4,8,8],[6,2,3,3],[],[],[],[],[],[],[]]", kNoBias, "",
     R"(["","","[1, 1]","[2, 2]","[1, 1]","2","False","False","True"])", "3456 1840"},
    {"aten::miopen_convolution", "[[1,4,8,8],[6,2,3,3],[6],[],[],[],[],[],[]]", kConvolution, "",
     R"(["","","","[1, 1]","[2, 2]","[1, 1]","2","False","False"])", "3456 1864"},
    {"aten::cudnn_convolution_transpose", "[[1,4,8,8],[4,3,2,2],[],[],[],[],[],[],[]]", kNoBias, "",
     R"(["","","[0, 0]","[0, 0]","[2, 2]","[1, 1]","1","False","False"])", "6144 4288"},
    {"aten::_conv_depthwise2d", "[[1,4,8,8],[4,1,3,3],[],[],[],[],[]]", R"(["float","float","","","","",""])", "",
     R"(["","","[3, 3]","","[1, 1]","[1, 1]","[1, 1]"])", "4608 2192"},
    {"aten::cudnn_convolution", "[[1,4,8,8],[6,2,3,3],[6],[],[],[],[],[],[]]", kConvolution, "",
     R"(["","","","[1, 1]","[2, 2]","[1, 1]","2","False","False"])", "- - stride and padding not recorded"},
    {"aten::add", "[[2,1,3],[4,1],[]]", R"(["float","c10::Half","Scalar"])", "", "", "24 128"},
    {"aten::add_", "[[2,3],[],[]]", R"(["c10::Half","Scalar","Scalar"])", "", "", "6 24"},
    {"aten::mul", "[[],[5]]", R"(["double","c10::Half"])", "", "", "5 28"},
    {"aten::eq", "[[8],[8]]", kFloat2, "", "", "8 72"},
    {"aten::add", "[[8],[8],[]]", R"(["c10::Half","c10::BFloat16","Scalar"])", "", "", "8 64"},  // a float
    {"aten::mul", "[[8],[]]", R"(["long int","double"])", "", "", "8 104"},                      // by a number
    {"aten::div", "[[8],[8]]", R"(["long int","long int"])", "", "", "8 160"},
    {"aten::div", "[[8],[8],[]]", R"(["long int","long int",""])", "", "", "8 - whether it rounds is not recorded"},
    {"aten::sqrt", "[[8]]", R"(["long int"])", "", "", "8 96"},
    {"aten::abs", "[[8]]", R"(["c10::complex<float>"])", "", "", "8 96"},
    {"aten::pow", "[[],[8]]", R"(["Scalar","float"])", "", R"(["10000",""])", "8 64"},
    {"aten::addcmul", "[[2],[3,2],[3,2],[]]", R"(["float","float","float","Scalar"])", "", "",
     "- 80 its FLOPs are not counted"},
    {"aten::lerp_", "[[8],[8],[8]]", kFloat3, "", "", "- 128 its FLOPs are not counted"},
    {"aten::copy_", "[[8],[8]]", R"(["long unsigned int","unsigned short"])", "", "", "0 80"},
    {"aten::copy_", "[[8],[8]]", R"(["float","c10::Half"])", "", "", "0 48"},
    {"aten::fill_", "[[8],[]]", R"(["float","Scalar"])", "", "", "0 32"},
    {"aten::sum", "[[2,3,4],[],[],[]]", R"(["float","ScalarList","Scalar",""])", "", R"(["","[0, -1]","False",""])",
     "24 108"},
    {"aten::sum", "[[2,3,4],[]]", R"(["float",""])", "", R"(["",""])", "24 100"},
    {"aten::sum", "[[2,3],[]]", R"(["float","ScalarList"])", "", R"(["","[7]"])",
     "6 - a dimension that it does not have"},
    {"aten::max", "[[2,3],[],[]]", R"(["float","Scalar","Scalar"])", "", R"(["","1","False"])", "6 32"},
    {"aten::prod", "[[2,3],[],[],[]]", R"(["float","Scalar","Scalar",""])", "", R"(["","1","False",""])", "6 32"},
    {"aten::prod", "[[2,3],[]]", R"(["float","Scalar"])", "", R"(["","7"])", "6 32"},  // the type of the result
    {"aten::sum", "[[2,3],[],[],[]]", R"(["float","ScalarList","Scalar",""])", "", "", "6 - dimensions not recorded"},
    {"aten::norm", "[[2,3],[],[],[]]", R"(["float","Scalar","ScalarList","Scalar"])", "", R"(["","2","[1]","True"])",
     "6 32"},
    {"aten::sum", "[[2,3],[],[],[]]", R"(["bool","ScalarList","Scalar",""])", "", R"(["","[1]","False",""])", "6 22"},
    {"aten::sum", "[[2,3],[],[],[]]", R"(["c10::Half","ScalarList","Scalar","Scalar"])", "",
     R"(["","[1]","False","6"])", "6 20"},
    {"aten::cumsum", "[[8],[],[]]", R"(["bool","Scalar",""])", "", R"(["","0",""])", "8 72"},
    {"aten::_softmax", "[[8],[],[]]", R"(["c10::Half","Scalar","Scalar"])", "", R"(["","0","True"])", "40 48"},
    {"aten::_softmax", "[[8],[],[]]", R"(["c10::Half","Scalar","Scalar"])", "", R"(["","0","False"])", "40 32"},
    {"aten::_softmax", "[[8],[],[]]", R"(["c10::Half","Scalar","Scalar"])", "", "",
     "40 - type of the result not recorded"},
    {"aten::_softmax", "[[8],[],[]]", R"(["float","Int","Bool"])", "", "", "40 64"},
    {"aten::_softmax_backward_data", "[[8],[8],[],[8]]", R"(["float","float","Int","float"])", "", "", "40 96"},
    {"aten::_softmax_backward_data", "[[8],[8],[],[]]", R"(["float","float","Scalar","Scalar"])", "",
     R"(["","","0","15"])", "40 80"},
    {"aten::batch_norm", "[[2,3],[3],[3],[3],[3],[]]", R"(["float","float","float","float","float","Bool"])", "",
     R"(["","","","","","True"])", "30 120"},
    {"aten::batch_norm", "[[2,3],[3],[3],[3],[3],[]]", R"(["float","float","float","float","float","Bool"])", "",
     R"(["","","","","","False"])", "30 96"},
    {"aten::batch_norm", "[[2,3],[3],[3],[3],[3],[]]", R"(["float","float","float","float","float","Bool"])", "", "",
     "30 - whether it trains is not recorded"},
    {"aten::embedding", "[[100,8],[2,3]]", R"(["c10::Half","long int"])", "", "", "0 240"},
    {"aiter::fused_moe", "[[4,16],[8,64,16],[8,16,32],[4,2]]", R"(["c10::Half","c10::Half","c10::Half","float"])", "",
     "", "24576 24832"},
    {"aiter::fused_moe", "[[4,16],[8,64,8],[8,16,16],[4,2]]", R"(["c10::Half","signed char","signed char","float"])",
     "", "", "- - weights are packed"},
    {"vllm::inplace_fused_experts", "[[4,16],[8,64,16],[8,16,32],[4,2],[4,2],[],[16]]",
     R"(["c10::Half","c10::Half","c10::Half","float","int","Scalar","int"])", "", "",
     "- - which of the experts' tokens are computed here is not recorded"},
    {"aten::_grouped_mm", "[[4,3],[2,9,5],[2]]", R"(["c10::Half","c10::Half","int"])", "", "",
     "- - not rows and a matrix a group that fits"},
    {"aten::addmm", "[[8,2],[8,8],[8,2]]", kFloat3, "[[2,1],[],[2,1]]", "",
     "- - a sparse operand, of which the values are not counted"},
    {"vllm::moe_forward", "[[4,16],[4,8],[]]", R"(["c10::Half","c10::Half",""])", "", "",
     "- - weights are not among its arguments"},
    {"aten::cat", "[[[2,3],[4,3]],[]]", R"(["TensorList","Scalar"])", "", "",
     "0 - types of a list of tensors are not recorded"},
    {"triton_poi_fused_add_0", "[[8],[8],[]]", R"(["float","c10::Half","Scalar"])", "", "",
     "- 48 its FLOPs are not counted"},
    {"aten::gather", "[[],[],[8],[]]", R"(["","Scalar","long int","Scalar"])", "", "",
     "- - operands that are absent, or of another rank"},
    {"vllm::unified_attention_with_output", "[[4,128],[4,128],[4,128]]", kAttentionTypes3, "", "",
     "- - operands that are absent, or of another rank"},
    {"aten::unheard_of", "[[8]]", R"(["float"])", "", "", "- -"},
};

TEST_CASE("names of kernels say whether they run on matrix units") {
  struct NamedKernel {
    const char* name;
    std::optional<bool> expected;
  };
  for (const NamedKernel& kernel : std::vector<NamedKernel>{
           {"sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x64x64", true},
           {"sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize64x64x8_stage3_warpsize1x4x1_ffma_aligna4", false},
           {"void cutlass::Kernel2<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>(Params)", false},
           {"void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16>(Params)", true},
           {"volta_sgemm_128x64_nt", false},
           {"volta_h884gemm_128x64_ldg8_nn", true},
           {"nvjet_tst_128x256_64x4_2x1_v_bz_TNT", true},
           {"Cijk_Ailk_Bljk_BBS_BH_MT64x64x64_MI16x16x16x1_SN_1LDSB0", true},
           {"Cijk_Ailk_Bljk_SB_MT64x64x16_SE_1LDSB0", std::nullopt},
           {"igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32", true},
           {"void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>>", false},
           {"my_fused_kernel", std::nullopt},
           {"", std::nullopt}}) {
    CHECK_MESSAGE(runs_on_matrix_units(kernel.name) == kernel.expected, kernel.name);
  }
}

}  // namespace

TEST_CASE("an operator's FLOPs and bytes follow from its arguments") {
  for (const WorkCase& one : kCases) {
    CAPTURE(std::string(one.name));
    CAPTURE(std::string(one.dims));
    CHECK(work_text(one.name, one.dims, one.types, one.strides, one.values) == std::string(one.expected));
  }
}

TEST_CASE("attention whose lengths are in a tensor takes them from the annotation of the step") {
  const auto lengths = step_lengths("execute_5_context_1(sq4sk4sqsq16sqsk16)_generation_1(sq1sk9sqsq1sqsk9)");
  REQUIRE(lengths);
  constexpr const char* kName = "flash_attn::_flash_attn_varlen_forward";
  constexpr const char *kDims = "[[5,8,16],[13,2,16],[13,2,16]]", *kTypes = kAttentionTypes3;
  // context: 2 * 16 - 16 pairs, generation: 2 * 9
  CHECK(work_text(kName, kDims, kTypes, "", "", &*lengths) == "8704 4224");
  CHECK(work_text(kName, kDims, kTypes, "", "") == "- - lengths not recorded");
  constexpr const char* kTyped =
      R"(["c10::Half","c10::Half","c10::Half","int","int","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar"])";
  const auto text_of_call = [&](std::int64_t tokens, std::string_view causal, int left, int right) {
    return work_text(kName, fmt::format("[[{},8,16],[13,2,16],[13,2,16],[2],[2],[],[],[],[],[],[],[]]", tokens), kTyped,
                     "", fmt::format(R"(["","","","","","4","9","0.","0.25","{}","{}","{}"])", causal, left, right),
                     &*lengths);
  };
  CHECK(text_of_call(5, "True", -1, 0) == "8704 4224");
  CHECK(text_of_call(5, "False", -1, -1) == "12800 4224");
  CHECK(text_of_call(5, "True", 127, 0) == "- - a sliding window");
  CHECK(text_of_call(4, "True", -1, 0) == "4096 2560");  // those of context
  CHECK(text_of_call(1, "True", -1, 0) == "4608 1664");  // of generation
  for (const std::int64_t tokens : {2, 8, 1024}) {
    CHECK(text_of_call(tokens, "True", -1, 0) == "- - tokens of the step that are not those of this call");
  }
  // Filled up to a size for which there is a graph; each operand of its own type.
  CHECK(work_text("vllm::unified_attention_with_output", "[[8,8,16],[8,2,16],[8,2,16],[8,8,16]]",
                  R"(["c10::Float8_e4m3fn","c10::BFloat16","c10::BFloat16","c10::BFloat16"])", "", "",
                  &*lengths) == "8704 3584");
  CHECK(step_lengths("step[EXTEND bs=2 c_sq=4 c_sk=4 c_sqsq=16 c_sqsk=16]"));
  for (const char* text : {"execute_context_1(888_788544)_generation_0(0)", "step[DECODE bs=16]", "execute_5", "",
                           "execute_1_context_1(sq-1sk4sqsq16sqsk16)_generation_1(sq1sk9sqsq1sqsk9)"}) {
    CHECK_FALSE(step_lengths(text));
  }
}

TEST_CASE("peaks of devices are their units by clock and operations") {
  for (const DevicePeaks& one : device_peaks()) {
    if (!one.ghz || !one.operations) continue;
    const double peak = one.bf16 ? *one.bf16 : one.fp16.value();
    CAPTURE(one.name);
    CHECK(std::abs(one.units * *one.ghz * *one.operations / 1000 - peak) <= 0.01 * peak);
  }
}

TEST_CASE("rows of the user come before those of the program, and say where they are wrong") {
  const std::string cells = " | - | - | 1 | 2 | - | 3 | 4 | - | - | 5 | 6 | 7 | 8 | - | - | measured | own run";
  const auto own = parse_device_peaks("# mine\n\n device H100" + cells + "\n", "mine");
  REQUIRE(own.size() == 1);
  CHECK(peaks_of("NVIDIA H100 80GB HBM3", 85'000'000'000, 60, own)->bf16 == 4);
  CHECK(peaks_of("NVIDIA A100-SXM4-80GB", 0, 0, own)->name == "A100");
  for (const auto& [text, why] :
       {std::pair<std::string, std::string>{"device H100 | 80", "mine:1: a device has 18 cells"},
        {"\nH100" + cells, "mine:2: a line begins with"},
        {"device " + cells, "mine:1: a device has a name"},
        {"device X | 0" + cells.substr(4), "mine:1: cell 2 is a number above 0"},
        {"device X | nan" + cells.substr(4), "mine:1: cell 2 is a number above 0"},
        {"device X" + cells.substr(0, cells.find("meas")) + "guessed | x", "mine:1: the kind"}}) {
    CHECK_THROWS_WITH_AS(parse_device_peaks(text, "mine"), doctest::Contains(why.c_str()), Error);
  }
}

TEST_CASE("a device is known by name, memory and multiprocessors") {
  const auto document = [](std::string_view name, std::int64_t gb, std::int64_t units) {
    const DevicePeaks* peaks = peaks_of(name, gb * 1'000'000'000, units);
    return peaks == nullptr ? "" : fmt::format("{} {}", peaks->name, peaks->memory_gb_s.value());
  };
  CHECK(document("NVIDIA A100-PG509-200", 42, 108) == "A100 1555");
  CHECK(document("NVIDIA A100-SXM4-80GB", 85, 108) == "A100 2039");
  CHECK(document("NVIDIA H100 PCIe", 85, 114) == "H100 PCIe 2000");
  CHECK(document("NVIDIA H100 80GB HBM3", 0, 0) == "H100 3350");
  CHECK(document("Tesla V100-SXM2-32GB", 34, 80) == "V100 900");
  CHECK(document("Tesla V100-PCIE-32GB", 34, 80) == "V100-PCIE 900");
  CHECK(document("Tesla V100S-PCIE-32GB", 34, 80) == "V100S-PCIE 1134");
  CHECK(document("NVIDIA A100 80GB PCIe", 85, 108) == "A100 80GB PCIe 1935");
  CHECK(document("NVIDIA H200 NVL", 150, 132) == "H200 NVL 4800");
  CHECK(document("NVIDIA H200", 150, 132) == "H200 4800");
  for (const char* other : {"NVIDIA GB200", "NVIDIA GH200 144G HBM3e"}) CHECK(document(other, 0, 0).empty());
  CHECK(document("NVIDIA H100 80GB HBM3", 85, 60).empty());  // a part of one
  CHECK(document("Fancy 9000", 85, 108).empty());
  const DevicePeaks* h100 = peaks_of("NVIDIA H100 80GB HBM3", 0, 0);
  REQUIRE(h100 != nullptr);
  CHECK(h100->rate(WorkFamily::kGemm, "float", false) == 66.9);
  CHECK(h100->rate(WorkFamily::kGemm, "float", true) == 494.7);
  CHECK(h100->rate(WorkFamily::kGemm, "c10::bfloat16", false) == h100->rate(WorkFamily::kGemm, "c10::BFloat16", false));
  CHECK(h100->rate(WorkFamily::kNorm, "c10::BFloat16", false) == 66.9);
  CHECK_FALSE(h100->rate(WorkFamily::kGemm, "long int", false));
}

}  // namespace tracedb
