#include "passes/classify/normalized_name.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tracedb {
namespace {

// "fused add rms norm 2 d": a blank before each word but the first.
std::string words(std::string_view text) {
  const NormalizedName parts = normalize_name(text);
  REQUIRE(parts.word_starts.size() == parts.letters.size() + 1);
  std::string out;
  for (std::size_t i = 0; i < parts.letters.size(); ++i) {
    if (parts.word_starts[i] != 0 && i > 0) out += ' ';
    out += parts.letters[i];
  }
  return out;
}

}  // namespace

TEST_CASE("words begin at punctuation, camel case and digits") {
  const std::vector<std::pair<std::string_view, std::string_view>> texts = {
      {"fused_add_rms_norm", "fused add rms norm"},
      {"FusedAddRMSNorm2dFwd", "fused add rms norm 2 d fwd"},
      {"s16816gemm_bf16", "s 16816 gemm bf 16"},
      {"flash::FlashAttnFwdSm90", "flash : flash attn fwd sm 90"},
      {"topkGatingSoftmax", "topk gating softmax"},
      {"__amd_rocclr_copyBuffer", "amd rocclr copy buffer"},
      {"QKNorm", "qk norm"},
      {"f<(Mode)1, bool>", "f , , mode 1 , bool ,"},
      {"", ""},
      {"___", ""},
      {"\xc3\xa9x", ", , x"},
  };
  for (const auto& entry : texts) {
    CAPTURE(entry.first);
    CHECK(words(entry.first) == entry.second);
  }
}

}  // namespace tracedb
