#include "passes/work/operator_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <unordered_map>
#include <utility>

#include "base/text/characters.h"
#include "base/text/decimal.h"
#include "base/text/json_text.h"
#include "base/text/split.h"
#include "passes/work/operator_formulas.h"

namespace tracedb {

namespace {

using enum NumberKind;

constexpr auto kTypes = std::to_array<ElementType>({
    {"unsigned char", "uint8", 0, 1, kInteger},
    {"signed char", "int8", 1, 1, kInteger},
    {"char", "int8", 1, 1, kInteger},
    {"short int", "int16", 2, 2, kInteger},
    {"short", "int16", 2, 2, kInteger},
    {"int", "int32", 3, 4, kInteger},
    {"long int", "int64", 4, 8, kInteger},
    {"long", "int64", 4, 8, kInteger},
    {"c10::half", "float16", 5, 2, kFloat},
    {"float", "float32", 6, 4, kFloat},
    {"double", "float64", 7, 8, kFloat},
    {"c10::complex<float>", "complex64", 9, 8, kComplex},
    {"c10::complex<double>", "complex128", 10, 16, kComplex},
    {"bool", "bool", 11, 1, kBool},
    {"c10::bfloat16", "bfloat16", 15, 2, kFloat},
    {"c10::float8_e5m2", "float8_e5m2", 23, 1, kFloat},
    {"c10::float8_e4m3fn", "float8_e4m3fn", 24, 1, kFloat},
    {"c10::float8_e5m2fnuz", "float8_e5m2fnuz", 25, 1, kFloat},
    {"c10::float8_e4m3fnuz", "float8_e4m3fnuz", 26, 1, kFloat},
    {"short unsigned int", "uint16", 27, 2, kInteger},
    {"unsigned short", "uint16", 27, 2, kInteger},
    {"unsigned int", "uint32", 28, 4, kInteger},
    {"long unsigned int", "uint64", 29, 8, kInteger},
    {"unsigned long", "uint64", 29, 8, kInteger},
    {"c10::float8_e8m0fnu", "float8_e8m0fnu", 44, 1, kFloat},
    {"c10::float4_e2m1fn_x2", "float4_e2m1fn_x2", 45, 1, kFloat, 2},
});

const ElementType* known(const ElementType* found) { return found == kTypes.end() ? nullptr : found; }

}  // namespace

std::span<const ElementType> element_types() { return kTypes; }

const ElementType* element_type(std::string_view recorded) {
  const std::string name = recorded.starts_with("c10::") ? ascii_lower(recorded) : std::string(recorded);
  return known(std::ranges::find(kTypes, name, &ElementType::name));
}

const ElementType* element_type(std::int64_t number) {
  return known(std::ranges::find(kTypes, number, &ElementType::number));
}

const ElementType* wider(const ElementType* a, const ElementType* b) {
  constexpr std::int64_t kShort = 2, kSingle = 6;
  if (a == nullptr || b == nullptr) return nullptr;
  const auto width = [](const ElementType& one) { return std::pair(one.bytes, one.kind); };
  if (a->number != b->number && width(*a) == width(*b) && a->bytes <= 2) {
    return element_type(a->kind == kFloat ? kSingle : kShort);
  }
  return width(*a) < width(*b) ? b : a;
}

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

// pow with a tensor of exponents is a binary operation.
void unary(Args args, const FormulaRule& rule, const StepLengths* step, OperatorWork& work) {
  if (rule.name == "pow" && is_given(argument(args, 1))) {
    elementwise(args, rule, step, work);
  } else {
    moved(args.first(std::min<std::size_t>(args.size(), 1)), rule, step, work);
  }
}

// The operators that are known, those with one rule together. A name without a library is one of ATen's; one that ends
// with * stands for all that begin so.
constexpr int kForward = 2, kBackward = 5, kNormFlops = 5, kNormBackwardFlops = 9, kScaledResult = 2, kBytesOnly = -1;
constexpr FormulaRule forward_attention(std::string_view names, ArgumentPlaces at, std::string_view uses = {}) {
  return {names, Of::kAttention, attention, at, uses, kForward};
}
constexpr FormulaRule backward_attention(std::string_view names, ArgumentPlaces at, std::string_view uses = {}) {
  return {names, Of::kAttention, attention, at, uses, kBackward};
}
constexpr FormulaRule of_one(std::string_view names, ResultType result) {
  return {names, Of::kElementwise, unary, {0, result}, "d", 1};
}
constexpr FormulaRule of_two(std::string_view names, ResultType result) {
  return {names, Of::kElementwise, elementwise, {0, result}};
}
const auto kRules = std::to_array<FormulaRule>({
    {"mm bmm", Of::kGemm, gemm, {0, 1, -1, 2, 0, 2}},
    {"addmm baddbmm", Of::kGemm, gemm, {1, 2, 0, 5, 0, 3}},
    {"addmm_ _addmm_activation", Of::kGemm, gemm, {1, 2, 0, -1, 0}},
    {"_scaled_mm", Of::kGemm, gemm, {0, 1, -1, -1, 0, 6}, {}, kScaledResult},
    {"linear aiter::gemm_a16w16 vllm::rocm_unquantized_gemm", Of::kGemm, gemm, {0, 1, 2, -1, 1}},
    {"aiter::gemm_a8w8*", Of::kGemm, gemm, {0, 1, -1, -1, 1}, {}, kScaledResult},
    {"_C::cutlass_scaled_mm", Of::kGemm, gemm, {1, 2, -1, 0, 0}},
    {"sgl_kernel::fp8_scaled_mm sgl_kernel::int8_scaled_mm", Of::kGemm, gemm, {0, 1, -1, -1, 0}, {}, kScaledResult},
    {"_grouped_mm", Of::kMoe, grouped_gemm, {0, 1, -1, -1, 0, 4}},
    forward_attention("_scaled_dot_product_flash_attention", {0, 1, 2, 4, 0, -1, -1}),
    forward_attention("_scaled_dot_product_efficient_attention _scaled_dot_product_cudnn_attention",
                      {0, 1, 2, 6, 0, 3, -1}),
    forward_attention("_flash_attention_forward", {0, 1, 2, 8, 1, -1, -1, 11}, "...ll........l"),
    forward_attention("flash_attn::_flash_attn_forward aiter::_flash_attn_forward aiter::mha_fwd aiter::fmha_v3_fwd "
                      "aiter::wrapper_fmha_v3_fwd",
                      {0, 1, 2, 5, 1, -1, -1, 6}),
    forward_attention("flash_attn_3::fwd", {0, 1, 2, 24, 1, -1, 6, 25, 27}, "...lll.lllllllllllll"),
    backward_attention("_scaled_dot_product_flash_attention_backward", {1, 2, 3, 11, 0, -1, -1}),
    backward_attention("_scaled_dot_product_efficient_attention_backward", {1, 2, 3, 11, 0, 4, -1}),
    backward_attention("_scaled_dot_product_cudnn_attention_backward", {1, 2, 3, 14, 0, 8, -1}),
    backward_attention("_flash_attention_backward", {1, 2, 3, 11, 1, -1, -1, 15}, "......ll"),
    backward_attention("flash_attn::_flash_attn_backward aiter::_flash_attn_backward", {1, 2, 3, 11, 1, -1, -1, 12}),
    backward_attention("aiter::mha_bwd", {1, 2, 3, 8, 1, -1, -1, 9}),
    {"flash_attn::_flash_attn_varlen_forward", Of::kAttention, attention_of_step, {0, 1, 2, 9, 10, -1}},
    {"aiter::_flash_attn_varlen_forward", Of::kAttention, attention_of_step, {0, 1, 2, 10, 12, -1}},
    {"aiter::mha_batch_prefill aiter::mha_varlen_fwd aiter::fmha_v3_varlen_fwd aiter::wrapper_mha_varlen_fwd "
     "aiter::wrapper_fmha_v3_varlen_fwd",
     Of::kAttention,
     attention_of_step,
     {0, 1, 2, 12, 13, -1}},
    {"vllm::unified_attention_with_output", Of::kAttention, attention_of_step, {0, 1, 2, -1, -1, 3, 1}},
    {"convolution _convolution", Of::kConvolution, convolution, {2, 3, 4, 5, 6, 7, 8}},
    {"cudnn_convolution", Of::kConvolution, convolution, {-1, 3, 2, 4, kNotTransposed, -1, 5}},
    {"cudnn_convolution_relu miopen_convolution_relu",
     Of::kConvolution,
     convolution,
     {2, 3, 4, 5, kNotTransposed, -1, 6}},
    {"cudnn_convolution_transpose", Of::kConvolution, convolution, {-1, 4, 2, 5, kTransposed, 3, 6}},
    {"miopen_convolution miopen_depthwise_convolution",
     Of::kConvolution,
     convolution,
     {2, 4, 3, 5, kNotTransposed, -1, 6}},
    {"miopen_convolution_transpose", Of::kConvolution, convolution, {2, 5, 3, 6, kTransposed, 4, 7}},
    {"_conv_depthwise2d", Of::kConvolution, convolution, {3, 4, 5, 6, kNotTransposed, -1, -1}},
    {"convolution_backward", Of::kConvolution, convolution_backward},
    {"aiter::fused_moe* sgl_kernel::fused_experts* vllm::inplace_fused_experts vllm::outplace_fused_experts "
     "sglang::inplace_fused_experts sglang::outplace_fused_experts",
     Of::kMoe,
     moe,
     {0, 1, 2, 3}},
    {"vllm::moe_forward", Of::kMoe, not_recorded, {}, "weights are not among its arguments"},
    {"layer_norm native_layer_norm group_norm aiter::_groupnorm_run", Of::kNorm, moved, {}, "d.rr", kNormFlops},
    {"native_group_norm", Of::kNorm, moved, {}, "drr", kNormFlops},
    {"rms_norm _fused_rms_norm", Of::kNorm, moved, {}, "d.r", kNormFlops},
    {"batch_norm native_batch_norm cudnn_batch_norm miopen_batch_norm _native_batch_norm_legit",
     Of::kNorm,
     batch_norm,
     {0, 5},
     {},
     kNormFlops},
    {"native_batch_norm_backward", Of::kNorm, moved, {}, "drt..rr", kNormBackwardFlops},
    {"cudnn_batch_norm_backward miopen_batch_norm_backward", Of::kNorm, moved, {}, "rdt..rr", kNormBackwardFlops},
    {"native_layer_norm_backward", Of::kNorm, moved, {}, "dr.rrdw", kNormBackwardFlops},
    {"native_group_norm_backward", Of::kNorm, moved, {}, "drrrt", kNormBackwardFlops},
    {"_C::rms_norm aiter::rmsnorm sgl_kernel::rmsnorm", Of::kNorm, moved, {1}, "wrr", kNormFlops},
    {"_C::fused_add_rms_norm sgl_kernel::fused_add_rmsnorm", Of::kNorm, moved, {0}, "bbr", kNormFlops + 1},
    {"aiter::add_rmsnorm", Of::kNorm, moved, {1}, "wrrwr", kNormFlops + 1},
    {"_C::silu_and_mul _C::gelu_and_mul sgl_kernel::silu_and_mul", Of::kElementwise, moved, {0}, "wr", 2},
    {"_C::static_scaled_fp8_quant", Of::kElementwise, moved, {1}, "wrr", 1},
    {"_C::dynamic_scaled_fp8_quant", Of::kElementwise, moved, {1}, "wrw", 2},
    {"_C::rotary_embedding sgl_kernel::rotary_embedding", Of::kElementwise, moved, {}, "rbb", kBytesOnly},
    {"sglang::store_cache", Of::kCopy, moved, {}, "dd..r"},
    {"gelu_backward silu_backward native_dropout_backward", Of::kElementwise, moved, {}, "dr", 1},
    {"addcmul addcdiv", Of::kElementwise, elementwise, {0, kOwnResult, 3}, {}, kBytesOnly},
    {"addcmul_ addcdiv_ lerp_", Of::kElementwise, elementwise, {0, kInPlace, 3}, {}, kBytesOnly},
    {"copy_", Of::kCopy, moved, {}, "wr"},
    {"clone contiguous", Of::kCopy, moved, {}, "d"},
    {"cat", Of::kCopy, not_recorded, {}, "types of a list of tensors are not recorded"},
    {"fill_ zero_", Of::kCopy, moved, {}, "w"},
    {"_softmax _log_softmax", Of::kReduce, moved, {0, 2, 1}, "d", 5},
    {"_softmax_backward_data _log_softmax_backward_data", Of::kReduce, moved, {0, 3}, "dr", 5},
    {"cumsum", Of::kReduce, moved, {0, 2}, "d", 1},
    {"embedding", Of::kGather, gather, {0, 1, -1}},
    {"index_select", Of::kGather, gather, {0, 2, 1}},
    {"gather", Of::kGather, gather, {0, 2, 0}},
    {"index", Of::kGather, not_recorded, {}, "sizes of a list of indices are not recorded"},
    {"triton_poi_* triton_red_* triton_per_*", Of::kGenerated, moved, {}, "*", kBytesOnly},
    of_two("eq ne lt le gt ge logical_and logical_or logical_xor", kBoolResult),
    {"sum mean", Of::kReduce, reduce, {1, 0, 1}},
    {"prod", Of::kReduce, reduce, {1, 1, 1}},
    {"norm linalg_norm linalg_vector_norm", Of::kReduce, reduce, {2, 0, 1}},
    {"std var logsumexp amin amax", Of::kReduce, reduce, {1}},
    {"max min", Of::kReduce, reduce, {1, 1}},
});
// Those of which a name with _ behind is the form in place.
const FormulaRule kAlsoInPlace[] = {
    of_one("silu gelu neg pow clamp clamp_min clamp_max relu floor ceil round trunc sign leaky_relu hardtanh elu mish "
           "softplus hardswish hardsigmoid square bitwise_not nan_to_num log_sigmoid",
           kOwnResult),
    of_one(
        "sigmoid rsqrt sqrt exp log sin cos tanh reciprocal erf erfinv exp2 log2 log1p expm1 logit tan atan asin acos",
        kFloatResult),
    of_one("abs", kRealResult),
    of_two("add sub mul rsub maximum minimum remainder fmod floor_divide bitwise_and bitwise_or bitwise_xor "
           "sigmoid_backward threshold_backward tanh_backward hypot leaky_relu_backward hardtanh_backward",
           kOwnResult),
    of_two("div atan2", kFloatResult),
};

class FormulaRules {
 public:
  FormulaRules() {
    for (FormulaRule rule : kRules) add(rule, rule.name, "");
    for (FormulaRule rule : kAlsoInPlace) {
      const std::string_view names = rule.name;
      add(rule, names, "");
      rule.at = {0, kInPlace};
      add(rule, names, "_");
    }
  }
  const FormulaRule* find(std::string_view name) const {
    const auto found = by_name_.find(std::string(name));
    if (found != by_name_.end()) return &found->second;
    for (const FormulaRule& rule : prefixes_) {
      if (name.starts_with(rule.name.substr(0, rule.name.size() - 1))) return &rule;
    }
    return nullptr;
  }

 private:
  void add(FormulaRule rule, std::string_view names, std::string_view behind) {
    for (const std::string_view name : split_text(names, ' ')) {
      rule.name = name;
      if (name.ends_with('*')) {
        prefixes_.push_back(rule);
      } else {
        by_name_.emplace(fmt::format("{}{}{}", name.find("::") != std::string_view::npos ? "" : "aten::", name, behind),
                         rule);
      }
    }
  }

  std::unordered_map<std::string, FormulaRule> by_name_;
  std::vector<FormulaRule> prefixes_;
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
