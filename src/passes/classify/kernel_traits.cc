#include "passes/classify/kernel_traits.h"

#include <algorithm>
#include <array>

#include "base/text/split.h"

namespace tracedb {
namespace {

struct ClassTraits {
  std::string_view name;
  Traits traits;
};

constexpr std::array<ClassTraits, 16> kMeaningful = {{{"attention", kAttentionTrait},
                                                      {"attention_prefill", kAttentionTrait | kPrefillTrait},
                                                      {"attention_decode", kAttentionTrait | kDecodeTrait},
                                                      {"ssm", kSsmTrait},
                                                      {"dense_gemm", kGemmTrait},
                                                      {"moe_gemm", kMoeTrait | kGemmTrait},
                                                      {"moe_routing", kMoeTrait},
                                                      {"moe_finalize", kMoeTrait},
                                                      {"norm", kNormTrait},
                                                      {"activation", kActivationTrait},
                                                      {"sampling", kSamplingTrait},
                                                      {"embedding", kEmbeddingTrait},
                                                      {"optimizer", kOptimizerTrait},
                                                      {"elementwise", kElementwiseTrait},
                                                      {"communication", kCommunicationTrait},
                                                      {"triton_fused", kGeneratedTrait}}};
constexpr std::array<std::string_view, 8> kPlain = {"rotary", "quantise", "kv_cache", "softmax",
                                                    "reduce", "sort",     "copy",     "convolution"};

static_assert((kFirstPlainTrait << 3) == kSoftmaxTrait && kPlain[3] == "softmax");

Traits traits_of_part(std::string_view part) {
  const auto found = std::ranges::find_if(kMeaningful, [&](const ClassTraits& entry) { return entry.name == part; });
  if (found != kMeaningful.end()) return found->traits;
  const auto plain = std::ranges::find(kPlain, part);
  if (plain == kPlain.end()) return kOtherTrait;
  const Traits own = kFirstPlainTrait << static_cast<unsigned>(plain - kPlain.begin());
  return part == "convolution" ? own | kConvolutionTrait : own;
}

}  // namespace

Traits traits_of_class(std::string_view class_name) {
  Traits traits = 0;
  for (const std::string_view part : split_text(class_name, '+')) traits |= traits_of_part(part);
  return traits;
}

}  // namespace tracedb
