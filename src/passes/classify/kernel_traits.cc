#include "passes/classify/kernel_traits.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/statistics.h"
#include "base/text/split.h"

namespace tracedb {
namespace {

constexpr std::pair<std::string_view, Traits> kMeaningful[] = {
    {"attention", kAttentionTrait},
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
    {"triton_fused", kGeneratedTrait},
};
constexpr std::array<std::string_view, 8> kPlain = {"rotary", "quantise", "kv_cache", "softmax",
                                                    "reduce", "sort",     "copy",     "convolution"};

static_assert((kFirstPlainTrait << 3) == kSoftmaxTrait && kPlain[3] == "softmax");

Traits traits_of_part(std::string_view part) {
  const auto* const found = std::ranges::find(kMeaningful, part, &std::pair<std::string_view, Traits>::first);
  if (found != std::end(kMeaningful)) return found->second;
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

namespace {

constexpr std::size_t kLeastSpacing = 12;  // hybrids have one attention layer in eight at most

// How many positions lie between two mixers of one name: the median.
std::size_t median_distance(std::vector<std::size_t>& distances) { return upper_median(std::span(distances)); }

}  // namespace

std::vector<MixerRun> mixer_runs(std::span<const Traits> sequence) {
  std::vector<MixerRun> runs;
  bool any_product = false;
  bool separated = true;
  int products = 0;
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    const Traits traits = sequence[i];
    if ((traits & kMixerTraits) != 0) {
      if (!any_product) continue;
      if (separated) {
        runs.push_back({i, i});
      } else {
        runs.back().last = i;
      }
      separated = false;
      products = 0;
      continue;
    }
    if ((traits & kGemmTrait) != 0) any_product = true;
    if ((traits & kGemmTrait) != 0) ++products;
    if ((traits & (kNormTrait | kActivationTrait | kMoeTrait | kSamplingTrait | kEmbeddingTrait)) != 0 ||
        products >= 3) {
      separated = true;
    }
  }
  return runs;
}

std::vector<Traits> without_seldom_mixers(std::span<const std::uint32_t> names, const std::vector<Traits>& traits) {
  constexpr std::size_t kNever = SIZE_MAX;
  std::vector<Traits> out = traits;
  std::vector<std::vector<std::size_t>> distances(traits.size());  // by name
  std::vector<std::size_t> latest(traits.size(), kNever);
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::uint32_t name = names[i];
    if ((traits_of(traits, name) & kMixerTraits) == 0) continue;
    if (latest[name] != kNever) {
      distances[name].push_back(i - latest[name]);
      all.push_back(i - latest[name]);
    }
    latest[name] = i;
  }
  if (all.empty()) return out;
  const std::size_t usual = median_distance(all);
  for (std::size_t name = 0; name < out.size(); ++name) {
    std::vector<std::size_t>& own = distances[name];
    if (own.empty() || own.size() * kLeastSpacing >= all.size()) continue;
    if (median_distance(own) > usual * kLeastSpacing) out[name] &= ~kMixerTraits;
  }
  return out;
}

}  // namespace tracedb
