// Sequences of kernels as texts, one letter a kernel: "ENGRKDGNGXG" is an embedding, a norm, a product ...
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "passes/classify/kernel_traits.h"

namespace tracedb {

inline Traits traits_of_letter(char letter) {
  switch (letter) {
    case 'A':
      return traits_of_class("attention");
    case 'P':
      return traits_of_class("attention_prefill");
    case 'D':
      return traits_of_class("attention_decode");
    case 'S':
      return traits_of_class("ssm");
    case 'G':
      return traits_of_class("dense_gemm");
    case 'M':
      return traits_of_class("moe_gemm");
    case 'T':
      return traits_of_class("moe_routing");
    case 'N':
      return traits_of_class("norm");
    case 'n':
      return traits_of_class("elementwise+norm");
    case 'X':
      return traits_of_class("activation");
    case 'E':
      return traits_of_class("embedding");
    case 's':
      return traits_of_class("sampling");
    case 'R':
      return traits_of_class("rotary");
    case 'K':
      return traits_of_class("kv_cache");
    case 'C':
      return traits_of_class("communication");
    case 'c':
      return traits_of_class("copy");
    case 'r':
      return traits_of_class("reduce");
    case '+':
      return traits_of_class("elementwise");
    case 'V':
      return traits_of_class("convolution");
    case 'O':
      return traits_of_class("optimizer");
    default:
      return kOtherTrait;
  }
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
