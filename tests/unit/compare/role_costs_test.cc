#include "compare/role_costs.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <random>
#include <string>
#include <tuple>

namespace tracedb {
namespace {

std::uint16_t pair_cost(const Roles& roles, std::size_t a, std::size_t b) {
  return roles.costs.pair[roles.a[a] * roles.costs.roles + roles.b[b]];
}

}  // namespace

TEST_CASE("parts of a class") {
  CHECK(op_parts("norm") == std::vector<std::string_view>{"norm"});
  CHECK(op_parts("elementwise+norm+quantise") == std::vector<std::string_view>{"elementwise", "norm", "quantise"});
  CHECK(op_parts("") == std::vector<std::string_view>{""});
}

TEST_CASE("likeness of classes, either way round") {
  const std::vector<std::tuple<std::string_view, std::string_view, Likeness>> cases = {
      {"norm", "norm", Likeness::kSame},
      {"attention", "attention_decode", Likeness::kSame},
      {"attention_prefill", "attention_decode", Likeness::kSame},
      {"dense_gemm", "moe_gemm", Likeness::kPart},
      {"elementwise+norm", "norm", Likeness::kPart},
      {"norm+quantise", "activation+quantise", Likeness::kPart},
      {"norm", "quantise", Likeness::kNone},
      {"dense_gemm", "norm", Likeness::kNone},
      {"attention", "softmax", Likeness::kNone}};
  for (const auto& [a, b, expected] : cases) {
    CHECK(likeness(a, b) == expected);
    CHECK(likeness(b, a) == expected);
  }
}

TEST_CASE("costs: the same kernel before one of its class, that before one that shares a part, never others") {
  Vocabulary words;
  const NameId rms = words.enter("rms", "rms", "norm");
  const NameId layer = words.enter("layer_norm", "layer_norm", "norm");
  const NameId fused = words.enter("add_rms", "add_rms", "elementwise+norm");
  const NameId gemm = words.enter("gemm", "gemm", "dense_gemm");
  const NameId wide = words.enter("rms<8>", "rms", "norm");
  const std::vector<RoleUse> a = {{rms, 10}};
  const std::vector<RoleUse> b = {{rms, 10}, {wide, 10}, {layer, 10}, {fused, 10}, {gemm, 10}};
  const Roles roles = make_roles(a, b, words);
  CHECK(pair_cost(roles, 0, 0) == 0);
  for (std::size_t i = 0; i + 1 < b.size(); ++i) CHECK(pair_cost(roles, 0, i) < pair_cost(roles, 0, i + 1));
  const int gaps = roles.costs.gap[roles.a[0]] + roles.costs.gap[roles.b[4]];
  CHECK(pair_cost(roles, 0, 3) < gaps);
  CHECK(pair_cost(roles, 0, 4) > gaps);
}

TEST_CASE("costs are symmetric, and a pair costs more than its gaps differ, so that equal kernels find one another") {
  std::mt19937 chance(4);
  Vocabulary words;
  std::vector<NameId> names;
  for (const std::string_view op : {"norm", "elementwise+norm", "dense_gemm", "moe_gemm", "attention", "quantise"}) {
    for (const char* which : {"1", "2", "3"}) {
      const std::string name = std::string(op) + which;
      names.push_back(words.enter(name, name, op));
    }
  }
  for (int round = 0; round < 50; ++round) {
    std::vector<RoleUse> a, b;
    for (const NameId name : names) {
      a.push_back({name, static_cast<double>(1 + chance() % 10'000)});
      b.push_back({name, static_cast<double>(1 + chance() % 10'000)});
    }
    const Roles roles = make_roles(a, b, words);
    const AlignmentCosts& costs = roles.costs;
    CHECK(make_roles(b, a, words).costs.pair == costs.pair);
    for (std::size_t i = 0; i < costs.roles; ++i) {
      for (std::size_t j = 0; j < costs.roles; ++j) {
        CHECK(costs.pair[i * costs.roles + j] == costs.pair[j * costs.roles + i]);
        if (i != j) CHECK(costs.pair[i * costs.roles + j] > std::abs(costs.gap[i] - costs.gap[j]));
      }
    }
  }
}

}  // namespace tracedb
