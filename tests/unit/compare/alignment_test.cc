#include "compare/align/alignment.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <tuple>

#include "compare/align/sequence_alignment.h"
#include "passes/layers/stack_table.h"

namespace tracedb {
namespace {

TEST_CASE("the order of a step") {
  std::vector<std::int32_t> layers = {kNoLayer, 2, kTail, 0, kHead, 10, 1};
  std::sort(layers.begin(), layers.end(), comes_before);
  CHECK(layers == std::vector<std::int32_t>{kHead, 0, 1, 2, 10, kTail, kNoLayer});
  for (const std::int32_t layer : layers) CHECK_FALSE(comes_before(layer, layer));
}

// Kernels by name; a digit behind it is its stream. "sum" is a companion of matrix products.
class Sequences {
 public:
  std::vector<TemplateKernel> kernels(const std::vector<std::string>& names) {
    std::vector<TemplateKernel> out;
    for (const std::string& text : names) {
      const bool numbered = text.back() >= '0' && text.back() <= '9';
      const std::string name = numbered ? text.substr(0, text.size() - 1) : text;
      TemplateKernel& kernel = out.emplace_back();
      kernel.name =
          name == "sum" ? words_.intern(name, name, "reduce", "gemm.split_sum") : words_.intern(name, name, op(name));
      kernel.lane = numbered ? static_cast<std::uint32_t>(text.back() - '0') : 0;
      kernel.n = 1;
      kernel.time = kernel.accounted = 100;
    }
    return out;
  }
  // "gemm=mm norm= =copy"
  std::string aligned(const std::vector<std::string>& a, const std::vector<std::string>& b) {
    const auto first = kernels(a);
    const auto second = kernels(b);
    std::string text;
    for (const AlignedPair& pair : align_positions(first, second, words_)) {
      text += text.empty() ? "" : " ";
      if (pair.a != kNoPartner) text += words_.entries()[first[pair.a].name].name;
      text += '=';
      if (pair.b != kNoPartner) text += words_.entries()[second[pair.b].name].name;
    }
    return text;
  }

  [[nodiscard]] const KernelNameTable& words() const { return words_; }

 private:
  static std::string op(const std::string& name) {
    if (name.starts_with("gemm") || name == "mm") return "dense_gemm";
    if (name.starts_with("norm")) return "norm";
    return name.starts_with("nccl") ? "communication" : "copy";
  }
  KernelNameTable words_{ClassFamilies(load_rules("default"))};
};

TEST_CASE("streams: in order, and the same ones where they start in another order") {
  Sequences sequences;
  CHECK(sequences.aligned({"gemm", "norm", "copy"}, {"gemm", "copy"}) == "gemm=gemm norm= copy=copy");
  CHECK(sequences.aligned({"norm", "copy"}, {"copy", "norm"}) != "norm=norm copy=copy");
  const std::vector<std::string> a = {"gemm0", "nccla1", "norm0", "ncclb1"}, b = {"nccla5", "ncclb5", "gemm2", "norm2"};
  CHECK(sequences.aligned(a, b) == "gemm=gemm nccla=nccla norm=norm ncclb=ncclb");
  CHECK(sequences.aligned(b, a) == "gemm=gemm nccla=nccla norm=norm ncclb=ncclb");
}

TEST_CASE("a branch that starts at another time takes no neighbours along") {
  Sequences sequences;
  // What stands alone (norm) is behind the product before it on its own stream, wherever the branch (nccl) starts.
  CHECK(sequences.aligned({"gemma0", "ncclx1", "nccly1", "normf0", "mm0"},
                          {"gemma0", "norm0", "normb0", "mm0", "ncclx1", "nccly1"}) ==
        sequences.aligned({"gemma0", "ncclx1", "nccly1", "normf0", "mm0"},
                          {"gemma0", "norm0", "normb0", "ncclx1", "mm0", "nccly1"}));
  CHECK(sequences.aligned({"ncclx1", "gemma0", "mm0", "nccly1"}, {"gemma0", "norm0", "mm0", "ncclx1", "nccly1"}) ==
        "ncclx=ncclx gemma=gemma =norm mm=mm nccly=nccly");
}

TEST_CASE("what stands alone on both sides of a pair of streams is not paired across what lies between") {
  Sequences sequences;
  const std::vector<std::string> a = {"ncclx1", "normq0", "gemm0", "mm0", "nccly1"};
  const std::vector<std::string> b = {"gemm0", "mm0", "ncclx1", "normz0", "nccly1"};
  CHECK(sequences.aligned(a, b).find("normq= ") != std::string::npos);
  CHECK(sequences.aligned(b, a).find("=normq") != std::string::npos);
}

TEST_CASE("of equal kernels of a branch, the one at its position among the others has the partner") {
  Sequences sequences;
  const std::vector<std::string> a = {"copyx2", "gemm0", "ncclr1", "norm0", "mm0", "ncclr1"};
  const std::vector<std::string> early = {"gemm0", "ncclr1", "norm0", "mm0", "copyx2"};
  const std::vector<std::string> late = {"gemm0", "norm0", "mm0", "copyx2", "ncclr1"};
  CHECK(sequences.aligned(a, late) == "gemm=gemm ncclr= norm=norm mm=mm copyx=copyx ncclr=ncclr");
  CHECK(sequences.aligned(a, early) == "gemm=gemm ncclr=ncclr norm=norm mm=mm ncclr= copyx=copyx");
  CHECK(sequences.aligned(late, a) == "gemm=gemm =ncclr norm=norm mm=mm copyx=copyx ncclr=ncclr");
  CHECK(sequences.aligned(early, a) == "gemm=gemm ncclr=ncclr norm=norm mm=mm =ncclr copyx=copyx");
}

TEST_CASE("what one side runs on a stream of its own finds its partner across streams") {
  Sequences sequences;
  CHECK(sequences.aligned({"gemm0", "nccl0", "norm0"}, {"gemm0", "norm0", "nccl1"}) == "gemm=gemm nccl=nccl norm=norm");
  CHECK(sequences.aligned({"gemm0", "norm0", "nccl1", "copy1"}, {"gemm0", "nccl1", "norm0", "copy0", "norm0"}) ==
        "gemm=gemm norm=norm nccl=nccl copy=copy =norm");
}

TEST_CASE("a companion stands behind the kernel whose work it ends") {
  Sequences sequences;
  CHECK(sequences.aligned({"gemm", "norm"}, {"mm", "sum", "norm"}) == "gemm=mm =sum norm=norm");
  CHECK(sequences.aligned({"gemm", "sum", "gemm", "norm"}, {"mm", "gemm", "sum", "norm"}) ==
        "gemm=mm sum= gemm=gemm =sum norm=norm");
  const auto kernels = sequences.kernels({"gemm", "sum", "copy", "norm", "copy", "sum", "sum1"});
  CHECK(companion_hosts(kernels, sequences.words()) ==
        std::vector<std::uint32_t>{kNoPartner, 0, kNoPartner, kNoPartner, kNoPartner, kNoPartner, kNoPartner});
}

using Sequence = std::vector<std::uint32_t>;

// Symmetric, nothing for equal symbols, and no less than the difference of the gaps, as real costs are.
AlignmentCosts random_costs(std::mt19937& chance, std::size_t symbols) {
  AlignmentCosts costs{symbols, std::vector<std::uint16_t>(symbols * symbols), std::vector<std::uint16_t>(symbols)};
  for (std::uint16_t& gap : costs.gap) gap = static_cast<std::uint16_t>(20 + chance() % 60);
  for (std::size_t a = 0; a < symbols; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const int apart = std::abs(costs.gap[a] - costs.gap[b]);
      const bool never = chance() % 4 == 0;
      const auto cost =
          static_cast<std::uint16_t>(never ? kNeverPaired : static_cast<unsigned>(apart) + 1 + chance() % 60);
      costs.pair[a * symbols + b] = costs.pair[b * symbols + a] = cost;
    }
  }
  return costs;
}

// The whole table, without bands and short cuts.
std::uint64_t least_cost(const Sequence& a, const Sequence& b, const AlignmentCosts& costs) {
  std::vector<std::uint64_t> row(b.size() + 1, 0), before;
  for (std::size_t j = 1; j <= b.size(); ++j) row[j] = row[j - 1] + costs.gap[b[j - 1]];
  for (const std::uint32_t symbol : a) {
    before.swap(row);
    row.assign(b.size() + 1, before[0] + costs.gap[symbol]);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({before[j - 1] + costs.pair[symbol * costs.symbols + b[j - 1]], before[j] + costs.gap[symbol],
                         row[j - 1] + costs.gap[b[j - 1]]});
    }
  }
  return row.back();
}

// Of a path, which must hold every element once, in order.
std::uint64_t cost_of(const std::vector<AlignedPair>& path, const Sequence& a, const Sequence& b,
                      const AlignmentCosts& costs) {
  std::uint64_t cost = 0;
  std::size_t i = 0, j = 0;
  for (const AlignedPair& pair : path) {
    if (pair.a != kNoPartner) REQUIRE(pair.a == i++);
    if (pair.b != kNoPartner) REQUIRE(pair.b == j++);
    REQUIRE((pair.a != kNoPartner || pair.b != kNoPartner));
    cost += pair.b == kNoPartner   ? costs.gap[a[pair.a]]
            : pair.a == kNoPartner ? costs.gap[b[pair.b]]
                                   : costs.pair[a[pair.a] * costs.symbols + b[pair.b]];
  }
  REQUIRE(i == a.size());
  REQUIRE(j == b.size());
  return cost;
}

void check(const Sequence& a, const Sequence& b, const AlignmentCosts& costs) {
  const std::vector<AlignedPair> there = align_sequences(a, b, costs);
  REQUIRE(cost_of(there, a, b, costs) == least_cost(a, b, costs));
  std::vector<AlignedPair> back = align_sequences(b, a, costs);
  for (AlignedPair& pair : back) std::swap(pair.a, pair.b);
  const auto order = [](const AlignedPair& x, const AlignedPair& y) {
    return std::pair(x.a, x.b) < std::pair(y.a, y.b);
  };
  std::vector<AlignedPair> sorted = there;
  std::sort(sorted.begin(), sorted.end(), order);
  std::sort(back.begin(), back.end(), order);
  REQUIRE(back == sorted);
}

Sequence random_sequence(std::mt19937& chance, std::size_t most, std::size_t symbols) {
  Sequence out(chance() % (most + 1));
  for (std::uint32_t& symbol : out) symbol = static_cast<std::uint32_t>(chance() % symbols);
  return out;
}

// A long sequence as models have: the same symbols over and over, with a few that differ.
Sequence layers(std::mt19937& chance, std::size_t length, std::size_t symbols) {
  Sequence out(length);
  for (std::size_t i = 0; i < length; ++i) {
    const std::size_t usual = i % (symbols - 2);
    out[i] = static_cast<std::uint32_t>(chance() % 40 == 0 ? chance() % symbols : usual);
  }
  return out;
}

TEST_CASE("short random sequences: least cost, whichever comes first") {
  std::mt19937 chance(17);
  for (int round = 0; round < 3000; ++round) {
    const std::size_t symbols = 1 + chance() % 7;
    const AlignmentCosts costs = random_costs(chance, symbols);
    check(random_sequence(chance, 14, symbols), random_sequence(chance, 14, symbols), costs);
  }
}

TEST_CASE("long sequences with a long insertion: the band is widened") {
  std::mt19937 chance(18);
  const AlignmentCosts costs = random_costs(chance, 12);
  const Sequence a = layers(chance, 1500, 12);
  for (const std::size_t extra : {std::size_t{1}, std::size_t{90}, std::size_t{700}}) {
    for (const std::size_t at : {std::size_t{0}, std::size_t{600}, a.size()}) {
      Sequence b = a;
      b.insert(b.begin() + static_cast<std::ptrdiff_t>(at), extra, 11);
      b[5] = 10;
      b[b.size() - 5] = 10;
      check(a, b, costs);
    }
  }
}

TEST_CASE("as much is gone in front as is new behind: the path leaves the first band") {
  std::mt19937 chance(19);
  const AlignmentCosts costs = random_costs(chance, 30);
  Sequence middle(900);
  for (std::size_t i = 0; i < middle.size(); ++i) middle[i] = static_cast<std::uint32_t>(chance() % 28);
  Sequence a(300, 28), b = middle;
  a.insert(a.end(), middle.begin(), middle.end());
  b.insert(b.end(), 300, 29);
  check(a, b, costs);
  AlignmentCosts only_equal = costs;
  only_equal.pair.clear();
  const std::vector<AlignedPair> path = align_sequences(a, b, only_equal);
  const auto paired = std::count_if(path.begin(), path.end(), [](const AlignedPair& pair) {
    return pair.a != kNoPartner && pair.b != kNoPartner && pair.a == pair.b + 300;
  });
  CHECK(paired == 900);
}

TEST_CASE("one inserted element shifts nothing") {
  std::mt19937 chance(20);
  for (int round = 0; round < 200; ++round) {
    const AlignmentCosts costs = random_costs(chance, 6);
    const Sequence a = random_sequence(chance, 30, 6);
    Sequence b = a;
    b.insert(b.begin() + static_cast<std::ptrdiff_t>(chance() % (a.size() + 1)),
             static_cast<std::uint32_t>(chance() % 6));
    const std::vector<AlignedPair> path = align_sequences(a, b, costs);
    REQUIRE(path.size() == b.size());
    for (const AlignedPair& pair : path) {
      if (pair.a != kNoPartner) CHECK(a[pair.a] == b[pair.b]);
    }
  }
}

TEST_CASE("empty sequences, and ones too long to pair") {
  std::mt19937 chance(21);
  const AlignmentCosts costs = random_costs(chance, 2);
  CHECK(align_sequences({}, {}, costs).empty());
  check({}, {0, 1, 0}, costs);
  check({1}, {}, costs);
  const Sequence longest(kLongestAlignment, 0);
  CHECK(align_sequences(longest, longest, costs).size() == kLongestAlignment);
  const Sequence longer(kLongestAlignment + 1, 0);
  const std::vector<AlignedPair> apart = align_sequences(longer, {{0}}, costs);
  CHECK(apart.size() == kLongestAlignment + 2);
  CHECK(cost_of(apart, longer, {0}, costs) == apart.size() * costs.gap[0]);
}

std::uint16_t pair_cost(const AlignedSymbols& symbols, std::size_t a, std::size_t b) {
  return symbols.costs.pair[symbols.a[a] * symbols.costs.symbols + symbols.b[b]];
}

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

}  // namespace
}  // namespace tracedb
