#include "passes/work/operator_work.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <unordered_map>
#include <utility>

#include "base/text/decimal.h"
#include "base/text/json_text.h"
#include "base/text/split.h"
#include "passes/work/operator_formulas.h"

namespace tracedb {
namespace {

constexpr std::size_t kMostDims = 64;

// Empty: nothing is wrong with them.
std::string_view read_dims(std::string_view list, Dims& out) {
  for (const std::string_view element : json_elements(list)) {
    const auto size = parse_int64(element);
    if (!size) return "a dimension is no number";
    if (*size < 0) return "a dimension is negative";
    if (out.size() == kMostDims) return "too many dimensions";
    out.push_back(*size);
  }
  return {};
}

// A tensor's, or those of a list of tensors.
std::string_view read_shape(std::string_view text, Argument& out) {
  const auto inner = json_elements(text);
  if (inner.empty() || !inner.front().starts_with('[')) return read_dims(text, out.dims);
  for (const std::string_view member : inner) {
    const std::string_view problem = read_dims(member, out.list.emplace_back());
    if (!problem.empty()) return problem;
  }
  return {};
}

}  // namespace

Amount times(Amount a, Amount b) {
  if (!a || !b || *a < 0 || *b < 0) return std::nullopt;
  if (*b != 0 && *a > std::numeric_limits<std::int64_t>::max() / *b) return std::nullopt;
  return *a * *b;
}

Amount plus(Amount a, Amount b) {
  if (!a || !b || *a > std::numeric_limits<std::int64_t>::max() - *b) return std::nullopt;
  return *a + *b;
}

Amount elements(const Dims& dims) {
  Amount out = 1;
  if (std::ranges::find(dims, 0) != dims.end()) return 0;
  for (const std::int64_t size : dims) out = times(out, size);
  return out;
}

Amount Argument::bytes() const { return is_tensor() ? times(elements(dims), element->bytes) : Amount(0); }

std::optional<bool> Argument::flag() const {
  if (value == "True" || value == "true") return true;
  if (value == "False" || value == "false") return false;
  return std::nullopt;
}

std::optional<Dims> Argument::numbers() const {
  std::string_view text = trim_json_space(value);
  if (text.empty()) return std::nullopt;
  const bool is_list = text.front() == '[';
  if (is_list && text.back() != ']') return std::nullopt;
  if (is_list) text = trim_json_space(text.substr(1, text.size() - 2));
  Dims out;
  if (text.empty()) return out;
  for (const std::string_view part : split_text(text, ',')) {
    const auto number = parse_int64(trim_json_space(part));
    if (!number) return std::nullopt;
    out.push_back(*number);
  }
  return out;
}

OperatorArguments read_arguments(std::string_view dims, std::string_view types, std::string_view strides,
                                 std::string_view values) {
  const auto shape_list = json_elements(dims), type_list = json_elements(types), stride_list = json_elements(strides),
             value_list = json_elements(values);
  OperatorArguments out;
  if (!dims.empty() && json_value_length(dims) != dims.size()) out.problem = "the list of dimensions is cut short";
  if (!types.empty() && type_list.size() != shape_list.size()) out.problem = "not as many types as arguments";
  out.list.resize(shape_list.size());
  for (std::size_t i = 0; i < out.list.size(); ++i) {
    Argument& one = out.list[i];
    const auto text = [&](const auto& list) { return i < list.size() ? unescape(raw_string(list[i])).text : ""; };
    one.type = text(type_list);
    one.value = text(value_list);
    one.element = element_type(one.type);
    const std::string_view problem = read_shape(shape_list[i], one);
    if (!problem.empty()) out.problem = problem;
    if (i >= stride_list.size() || !one.list.empty()) continue;
    for (const std::string_view stride : json_elements(stride_list[i])) {
      one.strides.push_back(parse_int64(stride).value_or(0));
    }
    one.is_sparse = one.strides.empty() && !one.dims.empty();
  }
  return out;
}

namespace {

using Of = WorkFamily;

// The operators that are known, by name; a name that ends with * stands for all that begin so. Operators of several
// names and one formula are in the lists below.
constexpr int kForward = 2, kBackward = 5, kNormFlops = 5, kNormBackwardFlops = 9, kScaledResult = 2, kBytesOnly = -1;
constexpr FormulaRule backward_attention(std::string_view name, ArgumentPlaces at, std::string_view uses = {}) {
  return {name, Of::kAttention, attention, at, uses, kBackward};
}
const auto kRules = std::to_array<FormulaRule>({
    {"aten::mm", Of::kGemm, gemm, {0, 1, -1, 2, 0, 2}},
    {"aten::bmm", Of::kGemm, gemm, {0, 1, -1, 2, 0, 2}},
    {"aten::addmm", Of::kGemm, gemm, {1, 2, 0, 5, 0, 3}},
    {"aten::addmm_", Of::kGemm, gemm, {1, 2, 0, -1, 0}},
    {"aten::baddbmm", Of::kGemm, gemm, {1, 2, 0, 5, 0, 3}},
    {"aten::_addmm_activation", Of::kGemm, gemm, {1, 2, 0, -1, 0}},
    {"aten::_scaled_mm", Of::kGemm, gemm, {0, 1, -1, -1, 0, 6}, {}, kScaledResult},
    {"aten::linear", Of::kGemm, gemm, {0, 1, 2, -1, 1}},
    {"aiter::gemm_a16w16", Of::kGemm, gemm, {0, 1, 2, -1, 1}},
    {"aiter::gemm_a8w8*", Of::kGemm, gemm, {0, 1, -1, -1, 1}, {}, kScaledResult},
    {"vllm::rocm_unquantized_gemm", Of::kGemm, gemm, {0, 1, 2, -1, 1}},
    {"_C::cutlass_scaled_mm", Of::kGemm, gemm, {1, 2, -1, 0, 0}},
    {"sgl_kernel::fp8_scaled_mm", Of::kGemm, gemm, {0, 1, -1, -1, 0}, {}, kScaledResult},
    {"sgl_kernel::int8_scaled_mm", Of::kGemm, gemm, {0, 1, -1, -1, 0}, {}, kScaledResult},
    {"aten::_grouped_mm", Of::kMoe, grouped_gemm, {0, 1, -1, -1, 0, 4}},
    {"aten::_scaled_dot_product_flash_attention", Of::kAttention, attention, {0, 1, 2, 4, 0, -1, -1}, {}, kForward},
    {"aten::_scaled_dot_product_efficient_attention", Of::kAttention, attention, {0, 1, 2, 6, 0, 3, -1}, {}, kForward},
    {"aten::_scaled_dot_product_cudnn_attention", Of::kAttention, attention, {0, 1, 2, 6, 0, 3, -1}, {}, kForward},
    {"aten::_flash_attention_forward",
     Of::kAttention,
     attention,
     {0, 1, 2, 8, 1, -1, -1, 11},
     "...ll........l",
     kForward},
    {"flash_attn::_flash_attn_forward", Of::kAttention, attention, {0, 1, 2, 5, 1, -1, -1, 6}, {}, kForward},
    {"aiter::_flash_attn_forward", Of::kAttention, attention, {0, 1, 2, 5, 1, -1, -1, 6}, {}, kForward},
    {"aiter::mha_fwd", Of::kAttention, attention, {0, 1, 2, 5, 1, -1, -1, 6}, {}, kForward},
    {"aiter::fmha_v3_fwd", Of::kAttention, attention, {0, 1, 2, 5, 1, -1, -1, 6}, {}, kForward},
    {"aiter::wrapper_fmha_v3_fwd", Of::kAttention, attention, {0, 1, 2, 5, 1, -1, -1, 6}, {}, kForward},
    {"flash_attn_3::fwd", Of::kAttention, attention, {0, 1, 2, 24, 1, -1, 6, 25, 27}, "...lll.lllllllllllll", kForward},
    backward_attention("aten::_scaled_dot_product_flash_attention_backward", {1, 2, 3, 11, 0, -1, -1}),
    backward_attention("aten::_scaled_dot_product_efficient_attention_backward", {1, 2, 3, 11, 0, 4, -1}),
    backward_attention("aten::_scaled_dot_product_cudnn_attention_backward", {1, 2, 3, 14, 0, 8, -1}),
    backward_attention("aten::_flash_attention_backward", {1, 2, 3, 11, 1, -1, -1, 15}, "......ll"),
    backward_attention("flash_attn::_flash_attn_backward", {1, 2, 3, 11, 1, -1, -1, 12}),
    backward_attention("aiter::_flash_attn_backward", {1, 2, 3, 11, 1, -1, -1, 12}),
    backward_attention("aiter::mha_bwd", {1, 2, 3, 8, 1, -1, -1, 9}),
    {"flash_attn::_flash_attn_varlen_forward", Of::kAttention, attention_of_step, {0, 1, 2, 9, 10, -1}},
    {"aiter::_flash_attn_varlen_forward", Of::kAttention, attention_of_step, {0, 1, 2, 10, 12, -1}},
    {"aiter::mha_batch_prefill", Of::kAttention, attention_of_step, {0, 1, 2, 12, 13, -1}},
    {"vllm::unified_attention_with_output", Of::kAttention, attention_of_step, {0, 1, 2, -1, -1, 3, 1}},
    {"aiter::mha_varlen_fwd", Of::kAttention, attention_of_step, {0, 1, 2, 12, 13, -1}},
    {"aiter::fmha_v3_varlen_fwd", Of::kAttention, attention_of_step, {0, 1, 2, 12, 13, -1}},
    {"aiter::wrapper_mha_varlen_fwd", Of::kAttention, attention_of_step, {0, 1, 2, 12, 13, -1}},
    {"aiter::wrapper_fmha_v3_varlen_fwd", Of::kAttention, attention_of_step, {0, 1, 2, 12, 13, -1}},
    {"aten::convolution", Of::kConvolution, convolution, {2, 3, 4, 5, 6, 7, 8}},
    {"aten::_convolution", Of::kConvolution, convolution, {2, 3, 4, 5, 6, 7, 8}},
    {"aten::cudnn_convolution", Of::kConvolution, convolution, {-1, 3, 2, 4, kNotTransposed, -1, 5}},
    {"aten::cudnn_convolution_relu", Of::kConvolution, convolution, {2, 3, 4, 5, kNotTransposed, -1, 6}},
    {"aten::cudnn_convolution_transpose", Of::kConvolution, convolution, {-1, 4, 2, 5, kTransposed, 3, 6}},
    {"aten::miopen_convolution", Of::kConvolution, convolution, {2, 4, 3, 5, kNotTransposed, -1, 6}},
    {"aten::miopen_convolution_relu", Of::kConvolution, convolution, {2, 3, 4, 5, kNotTransposed, -1, 6}},
    {"aten::miopen_convolution_transpose", Of::kConvolution, convolution, {2, 5, 3, 6, kTransposed, 4, 7}},
    {"aten::miopen_depthwise_convolution", Of::kConvolution, convolution, {2, 4, 3, 5, kNotTransposed, -1, 6}},
    {"aten::_conv_depthwise2d", Of::kConvolution, convolution, {3, 4, 5, 6, kNotTransposed, -1, -1}},
    {"aten::convolution_backward", Of::kConvolution, convolution_backward},
    {"aiter::fused_moe*", Of::kMoe, moe, {0, 1, 2, 3}},
    {"sgl_kernel::fused_experts*", Of::kMoe, moe, {0, 1, 2, 3}},
    {"vllm::inplace_fused_experts", Of::kMoe, moe, {0, 1, 2, 3}},
    {"vllm::outplace_fused_experts", Of::kMoe, moe, {0, 1, 2, 3}},
    {"sglang::inplace_fused_experts", Of::kMoe, moe, {0, 1, 2, 3}},
    {"sglang::outplace_fused_experts", Of::kMoe, moe, {0, 1, 2, 3}},
    {"vllm::moe_forward", Of::kMoe, not_recorded, {}, "weights are not among its arguments"},
    {"aten::layer_norm", Of::kNorm, moved, {}, "d.rr", kNormFlops},
    {"aten::native_layer_norm", Of::kNorm, moved, {}, "d.rr", kNormFlops},
    {"aten::group_norm", Of::kNorm, moved, {}, "d.rr", kNormFlops},
    {"aten::native_group_norm", Of::kNorm, moved, {}, "drr", kNormFlops},
    {"aten::rms_norm", Of::kNorm, moved, {}, "d.r", kNormFlops},
    {"aten::_fused_rms_norm", Of::kNorm, moved, {}, "d.r", kNormFlops},
    {"aten::batch_norm", Of::kNorm, batch_norm, {0, 5}, {}, kNormFlops},
    {"aten::native_batch_norm", Of::kNorm, batch_norm, {0, 5}, {}, kNormFlops},
    {"aten::cudnn_batch_norm", Of::kNorm, batch_norm, {0, 5}, {}, kNormFlops},
    {"aten::miopen_batch_norm", Of::kNorm, batch_norm, {0, 5}, {}, kNormFlops},
    {"aten::_native_batch_norm_legit", Of::kNorm, batch_norm, {0, 5}, {}, kNormFlops},
    {"aten::native_batch_norm_backward", Of::kNorm, moved, {}, "drt..rr", kNormBackwardFlops},
    {"aten::cudnn_batch_norm_backward", Of::kNorm, moved, {}, "rdt..rr", kNormBackwardFlops},
    {"aten::miopen_batch_norm_backward", Of::kNorm, moved, {}, "rdt..rr", kNormBackwardFlops},
    {"aten::native_layer_norm_backward", Of::kNorm, moved, {}, "dr.rrdw", kNormBackwardFlops},
    {"aten::native_group_norm_backward", Of::kNorm, moved, {}, "drrrt", kNormBackwardFlops},
    {"_C::rms_norm", Of::kNorm, moved, {1}, "wrr", kNormFlops},
    {"_C::fused_add_rms_norm", Of::kNorm, moved, {0}, "bbr", kNormFlops + 1},
    {"aiter::rmsnorm", Of::kNorm, moved, {1}, "wrr", kNormFlops},
    {"aiter::add_rmsnorm", Of::kNorm, moved, {1}, "wrrwr", kNormFlops + 1},
    {"aiter::_groupnorm_run", Of::kNorm, moved, {}, "d.rr", kNormFlops},
    {"sgl_kernel::rmsnorm", Of::kNorm, moved, {1}, "wrr", kNormFlops},
    {"sgl_kernel::fused_add_rmsnorm", Of::kNorm, moved, {0}, "bbr", kNormFlops + 1},
    {"_C::silu_and_mul", Of::kElementwise, moved, {0}, "wr", 2},
    {"_C::gelu_and_mul", Of::kElementwise, moved, {0}, "wr", 2},
    {"sgl_kernel::silu_and_mul", Of::kElementwise, moved, {0}, "wr", 2},
    {"_C::static_scaled_fp8_quant", Of::kElementwise, moved, {1}, "wrr", 1},
    {"_C::dynamic_scaled_fp8_quant", Of::kElementwise, moved, {1}, "wrw", 2},
    {"_C::rotary_embedding", Of::kElementwise, moved, {}, "rbb", kBytesOnly},
    {"sgl_kernel::rotary_embedding", Of::kElementwise, moved, {}, "rbb", kBytesOnly},
    {"sglang::store_cache", Of::kCopy, moved, {}, "dd..r"},
    {"aten::gelu_backward", Of::kElementwise, moved, {}, "dr", 1},
    {"aten::silu_backward", Of::kElementwise, moved, {}, "dr", 1},
    {"aten::native_dropout_backward", Of::kElementwise, moved, {}, "dr", 1},
    {"aten::addcmul", Of::kElementwise, elementwise, {0, kOwnResult, 3}, {}, kBytesOnly},
    {"aten::addcdiv", Of::kElementwise, elementwise, {0, kOwnResult, 3}, {}, kBytesOnly},
    {"aten::addcmul_", Of::kElementwise, elementwise, {0, kInPlace, 3}, {}, kBytesOnly},
    {"aten::addcdiv_", Of::kElementwise, elementwise, {0, kInPlace, 3}, {}, kBytesOnly},
    {"aten::lerp_", Of::kElementwise, elementwise, {0, kInPlace, 3}, {}, kBytesOnly},
    {"aten::copy_", Of::kCopy, moved, {}, "wr"},
    {"aten::clone", Of::kCopy, moved, {}, "d"},
    {"aten::contiguous", Of::kCopy, moved, {}, "d"},
    {"aten::cat", Of::kCopy, not_recorded, {}, "types of a list of tensors are not recorded"},
    {"aten::fill_", Of::kCopy, moved, {}, "w"},
    {"aten::zero_", Of::kCopy, moved, {}, "w"},
    {"aten::_softmax", Of::kReduce, moved, {0, 2, 1}, "d", 5},
    {"aten::_log_softmax", Of::kReduce, moved, {0, 2, 1}, "d", 5},
    {"aten::_softmax_backward_data", Of::kReduce, moved, {0, 3}, "dr", 5},
    {"aten::_log_softmax_backward_data", Of::kReduce, moved, {0, 3}, "dr", 5},
    {"aten::cumsum", Of::kReduce, moved, {0, 2}, "d", 1},
    {"aten::embedding", Of::kGather, gather, {0, 1, -1}},
    {"aten::index_select", Of::kGather, gather, {0, 2, 1}},
    {"aten::gather", Of::kGather, gather, {0, 2, 0}},
    {"aten::index", Of::kGather, not_recorded, {}, "sizes of a list of indices are not recorded"},
    {"triton_poi_*", Of::kGenerated, moved, {}, "*", kBytesOnly},
    {"triton_red_*", Of::kGenerated, moved, {}, "*", kBytesOnly},
    {"triton_per_*", Of::kGenerated, moved, {}, "*", kBytesOnly},
});

// pow with a tensor of exponents is a binary operation.
void unary(Args args, const FormulaRule& rule, const StepLengths* step, OperatorWork& work) {
  if (rule.name == "pow" && is_given(argument(args, 1))) {
    elementwise(args, rule, step, work);
  } else {
    moved(args.first(std::min<std::size_t>(args.size(), 1)), rule, step, work);
  }
}

// Names without "aten::" that share a rule, and whether those with _ behind are their forms in place.
struct AlikeOperators {
  std::string_view names;
  FormulaRule rule;
  bool in_place = false;
};
const AlikeOperators kAlike[] = {
    {"silu gelu neg pow clamp clamp_min clamp_max relu floor ceil round trunc sign leaky_relu hardtanh elu mish "
     "softplus hardswish hardsigmoid square bitwise_not nan_to_num log_sigmoid",
     {"", Of::kElementwise, unary, {0, kOwnResult}, "d", 1},
     true},
    {"sigmoid rsqrt sqrt exp log sin cos tanh reciprocal erf erfinv exp2 log2 log1p expm1 logit tan atan asin acos",
     {"", Of::kElementwise, unary, {0, kFloatResult}, "d", 1},
     true},
    {"abs", {"", Of::kElementwise, unary, {0, kRealResult}, "d", 1}, true},
    {"add sub mul rsub maximum minimum remainder fmod floor_divide bitwise_and bitwise_or bitwise_xor "
     "sigmoid_backward threshold_backward tanh_backward hypot leaky_relu_backward hardtanh_backward",
     {"", Of::kElementwise, elementwise, {0, kOwnResult}},
     true},
    {"div atan2", {"", Of::kElementwise, elementwise, {0, kFloatResult}}, true},
    {"eq ne lt le gt ge logical_and logical_or logical_xor", {"", Of::kElementwise, elementwise, {0, kBoolResult}}},
    {"sum mean", {"", Of::kReduce, reduce, {1, 0, 1}}},
    {"prod", {"", Of::kReduce, reduce, {1, 1, 1}}},
    {"norm linalg_norm linalg_vector_norm", {"", Of::kReduce, reduce, {2, 0, 1}}},
    {"std var logsumexp amin amax", {"", Of::kReduce, reduce, {1}}},
    {"max min", {"", Of::kReduce, reduce, {1, 1}}},
};

class FormulaRules {
 public:
  FormulaRules() {
    for (const FormulaRule& rule : kRules) {
      if (rule.name.ends_with('*')) {
        prefixes_.push_back(&rule);
      } else {
        by_name_.emplace(rule.name, rule);
      }
    }
    for (const AlikeOperators& one : kAlike) {
      for (const std::string_view name : split_text(one.names, ' ')) {
        FormulaRule rule = one.rule;
        rule.name = name;
        add(name, rule);
        rule.at = {0, kInPlace};
        if (one.in_place) add(std::string(name) + "_", rule);
      }
    }
  }

  const FormulaRule* find(std::string_view name) const {
    const auto found = by_name_.find(std::string(name));
    if (found != by_name_.end()) return &found->second;
    for (const FormulaRule* rule : prefixes_) {
      if (name.starts_with(rule->name.substr(0, rule->name.size() - 1))) return rule;
    }
    return nullptr;
  }

 private:
  void add(std::string_view name, const FormulaRule& rule) { by_name_.emplace("aten::" + std::string(name), rule); }

  std::unordered_map<std::string, FormulaRule> by_name_;
  std::vector<const FormulaRule*> prefixes_;
};

const FormulaRule* rule_of(std::string_view name) {
  static const FormulaRules kAll;
  return kAll.find(name);
}

// "sq32sk55086sqsq32sqsk55086", or with " c_sq=" before each.
std::optional<std::int64_t> number_behind(std::string_view text, std::string_view key) {
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    std::int64_t value = 0;
    const char* begin = text.data() + at + key.size();
    const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
    if (error == std::errc{} && end != begin) return value >= 0 ? std::optional(value) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<RequestLengths> request_lengths(std::string_view text, std::string_view before, std::string_view behind) {
  const auto of = [&](std::string_view name) {
    return number_behind(text, std::string(before) + std::string(name) + std::string(behind));
  };
  const auto q = of("sq"), k = of("sk"), qq = of("sqsq"), qk = of("sqsk");
  if (!q || !k || !qq || !qk) return std::nullopt;
  return RequestLengths{*q, *k, *qq, *qk};
}

}  // namespace

std::string_view family_name(WorkFamily family) {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"", "gemm", "attention", "convolution", "moe", "norm", "elementwise", "copy", "reduce", "gather", "generated"});
  return kNames.at(static_cast<std::size_t>(family));
}

WorkFamily family_of(std::string_view operator_name) {
  const FormulaRule* rule = rule_of(operator_name);
  return rule == nullptr ? WorkFamily::kNone : rule->family;
}

bool needs_step_lengths(std::string_view operator_name) {
  const FormulaRule* rule = rule_of(operator_name);
  return rule != nullptr && rule->formula == attention_of_step;
}

OperatorWork work_of(std::string_view operator_name, const std::vector<Argument>& arguments,
                     const StepLengths* lengths) {
  OperatorWork work;
  const FormulaRule* rule = rule_of(operator_name);
  if (rule == nullptr) return work;
  work.family = rule->family;
  if (std::ranges::any_of(arguments, &Argument::is_sparse)) {
    work.missing = "a sparse operand, of which the values are not counted";
  } else {
    rule->formula(arguments, *rule, lengths, work);
  }
  if (arguments.empty()) work.missing = "shapes not recorded";
  if ((work.flops && work.bytes) || !work.missing.empty()) return work;
  work.missing = work.type.empty()                               ? "operands that are absent, or of another rank"
                 : work.bytes && rule->per_element == kBytesOnly ? "its FLOPs are not counted"
                                                                 : "size of a type not known, or a product too large";
  return work;
}

std::optional<StepLengths> step_lengths(std::string_view annotation) {
  const std::size_t half = annotation.find("_generation_");
  if (annotation.starts_with("execute_") && half != std::string_view::npos) {
    const auto context = request_lengths(annotation.substr(0, half), "", "");
    const auto generation = request_lengths(annotation.substr(half), "", "");
    if (context && generation) return StepLengths{*context, *generation};
    return std::nullopt;
  }
  if (!annotation.starts_with("step[")) return std::nullopt;
  const auto context = request_lengths(annotation, "c_", "="), generation = request_lengths(annotation, "g_", "=");
  if (!context && !generation) return std::nullopt;
  return StepLengths{context.value_or(RequestLengths{}), generation.value_or(RequestLengths{})};
}

}  // namespace tracedb
