// Sequences of kernels as texts, one letter a kernel: "ENGRKDGNGXG" is an embedding, a norm, a product ...
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "passes/classify/kernel_traits.h"

namespace tracedb {

inline Traits traits_of_letter(char letter) {
  static const std::map<char, std::string_view> kClasses = {
      {'A', "attention"},        {'P', "attention_prefill"}, {'D', "attention_decode"}, {'S', "ssm"},
      {'G', "dense_gemm"},       {'M', "moe_gemm"},          {'T', "moe_routing"},      {'N', "norm"},
      {'n', "elementwise+norm"}, {'X', "activation"},        {'E', "embedding"},        {'s', "sampling"},
      {'R', "rotary"},           {'K', "kv_cache"},          {'C', "communication"},    {'c', "copy"},
      {'r', "reduce"},           {'+', "elementwise"},       {'V', "convolution"},      {'O', "optimizer"}};
  const auto found = kClasses.find(letter);
  return found == kClasses.end() ? kOtherTrait : traits_of_class(found->second);
}

inline std::vector<Traits> traits_of_letters(std::string_view letters) {
  std::vector<Traits> out;
  for (const char letter : letters) out.push_back(traits_of_letter(letter));
  return out;
}

inline std::string times(std::size_t count, std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += text;
  return out;
}

}  // namespace tracedb
