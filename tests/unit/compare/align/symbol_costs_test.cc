#include "compare/align/symbol_costs.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <random>
#include <string>
#include <tuple>

namespace tracedb {
namespace {

std::uint16_t pair_cost(const AlignedSymbols& symbols, std::size_t a, std::size_t b) {
  return symbols.costs.pair[symbols.a[a] * symbols.costs.symbols + symbols.b[b]];
}

}  // namespace

TEST_CASE("parts of a class") {
  CHECK(op_parts("norm") == std::vector<std::string_view>{"norm"});
  CHECK(op_parts("elementwise+norm+quantise") == std::vector<std::string_view>{"elementwise", "norm", "quantise"});
  CHECK(op_parts("") == std::vector<std::string_view>{""});
}

TEST_CASE("class_similarity of classes, either way round") {
  const std::vector<std::tuple<std::string_view, std::string_view, ClassSimilarity>> cases = {
      {"norm", "norm", ClassSimilarity::kSame},
      {"attention", "attention_decode", ClassSimilarity::kSame},
      {"attention_prefill", "attention_decode", ClassSimilarity::kSame},
      {"dense_gemm", "moe_gemm", ClassSimilarity::kPart},
      {"elementwise+norm", "norm", ClassSimilarity::kPart},
      {"norm+quantise", "activation+quantise", ClassSimilarity::kPart},
      {"norm", "quantise", ClassSimilarity::kNone},
      {"dense_gemm", "norm", ClassSimilarity::kNone},
      {"attention", "softmax", ClassSimilarity::kNone}};
  for (const auto& [a, b, expected] : cases) {
    CHECK(class_similarity(a, b) == expected);
    CHECK(class_similarity(b, a) == expected);
  }
}

TEST_CASE("costs: the same kernel before one of its class, that before one that shares a part, never others") {
  KernelNameTable words;
  const NameId rms = words.intern("rms", "rms", "norm");
  const NameId layer = words.intern("layer_norm", "layer_norm", "norm");
  const NameId fused = words.intern("add_rms", "add_rms", "elementwise+norm");
  const NameId gemm = words.intern("gemm", "gemm", "dense_gemm");
  const NameId wide = words.intern("rms<8>", "rms", "norm");
  const std::vector<KernelUse> a = {{rms, 10}};
  const std::vector<KernelUse> b = {{rms, 10}, {wide, 10}, {layer, 10}, {fused, 10}, {gemm, 10}};
  const AlignedSymbols symbols = make_symbols(a, b, words);
  CHECK(pair_cost(symbols, 0, 0) == 0);
  for (std::size_t i = 0; i + 1 < b.size(); ++i) CHECK(pair_cost(symbols, 0, i) < pair_cost(symbols, 0, i + 1));
  const int gaps = symbols.costs.gap[symbols.a[0]] + symbols.costs.gap[symbols.b[4]];
  CHECK(pair_cost(symbols, 0, 3) < gaps);
  CHECK(pair_cost(symbols, 0, 4) > gaps);
}

TEST_CASE("costs are symmetric, and a pair costs more than its gaps differ, so that equal kernels find one another") {
  std::mt19937 chance(4);
  KernelNameTable words;
  std::vector<NameId> names;
  for (const std::string_view op : {"norm", "elementwise+norm", "dense_gemm", "moe_gemm", "attention", "quantise"}) {
    for (const char* which : {"1", "2", "3"}) {
      const std::string name = std::string(op) + which;
      names.push_back(words.intern(name, name, op));
    }
  }
  for (int round = 0; round < 50; ++round) {
    std::vector<KernelUse> a, b;
    for (const NameId name : names) {
      a.push_back({name, static_cast<double>(1 + chance() % 10'000)});
      b.push_back({name, static_cast<double>(1 + chance() % 10'000)});
    }
    const AlignedSymbols symbols = make_symbols(a, b, words);
    const AlignmentCosts& costs = symbols.costs;
    CHECK(make_symbols(b, a, words).costs.pair == costs.pair);
    for (std::size_t i = 0; i < costs.symbols; ++i) {
      for (std::size_t j = 0; j < costs.symbols; ++j) {
        CHECK(costs.pair[i * costs.symbols + j] == costs.pair[j * costs.symbols + i]);
        if (i != j) CHECK(costs.pair[i * costs.symbols + j] > std::abs(costs.gap[i] - costs.gap[j]));
      }
    }
  }
}

}  // namespace tracedb
