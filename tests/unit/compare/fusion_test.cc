#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "compare/align/alignment.h"
#include "passes/classify/rule_set.h"
#include "passes/layers/stack_table.h"
#include "support/rows.h"

namespace tracedb {
namespace {

// Pairs by the classes of their kernels, "" for none; a class may have a name before it: "add:elementwise". Kernels
// without have one name by class and side.
class Made {
 public:
  using Pairs = std::vector<std::pair<std::string_view, std::string_view>>;

  Made& segment(const Pairs& pairs, std::vector<std::int32_t> layers = {0}) {
    AlignedSegment segment;
    const auto n = static_cast<std::int64_t>(layers.size());
    segment.layers = std::move(layers);
    segment.baseline_instances = segment.candidate_instances = n;
    segment.baseline_following = segment.candidate_following = n;
    for (const auto& [baseline, candidate] : pairs) {
      segment.pairs.emplace_back();
      segment.pairs.back().baseline = side(baseline, "a", n);
      segment.pairs.back().candidate = side(candidate, "b", n);
      alignment_.baseline_time += static_cast<double>(segment.pairs.back().baseline.time);
      alignment_.candidate_time += static_cast<double>(segment.pairs.back().candidate.time);
    }
    alignment_.segments.push_back(std::move(segment));
    return *this;
  }

  // A pair of the first segment is on another stream than all others.
  Made& on_side_stream(std::size_t pair) {
    alignment_.segments[0].pairs[pair].baseline.lane = alignment_.segments[0].pairs[pair].candidate.lane = 1;
    return *this;
  }
  // At which position either side runs the pairs of the first segment.
  Made& run_in_order(const std::vector<std::uint32_t>& positions) {
    for (std::size_t i = 0; i < positions.size(); ++i) {
      KernelPair& pair = alignment_.segments[0].pairs[i];
      pair.baseline.position = pair.candidate.position = positions[i];
    }
    return *this;
  }

  // A pair of the first segment finishes the work of another one.
  Made& finishes(std::size_t pair, std::uint32_t host) {
    alignment_.segments[0].pairs[pair].companion_of = host;
    return *this;
  }
  // Shares of the kernel time of both sides that are explained in the end, where what is aligned before is known.
  std::pair<double, double> shares() {
    for (const AlignedSegment& segment : alignment_.segments) {
      for (const KernelPair& pair : segment.pairs) {
        if (!segment.is_aligned(pair)) continue;
        alignment_.baseline_share += static_cast<double>(pair.baseline.time) / alignment_.baseline_time;
        alignment_.candidate_share += static_cast<double>(pair.candidate.time) / alignment_.candidate_time;
      }
    }
    const GroupAlignment alignment = find_fusions(alignment_, kernel_names_, 0).alignment;
    return {alignment.baseline_share, alignment.candidate_share};
  }

  // "candidate: x = y + z" by names, in the order of the findings.
  std::vector<std::string> findings() {
    std::vector<std::string> out;
    for (const Fusion& fusion : fusions()) {
      std::string text = fusion.by == FusedBy::kBaseline ? "baseline: " : "candidate: ";
      text += kernel_names_.entries()[fusion.fused.name].name;
      for (const FusionKernel& part : fusion.parts) {
        text += &part == &fusion.parts.front() ? " = " : " + ";
        text += kernel_names_.entries()[part.name].name;
      }
      out.push_back(text);
    }
    return out;
  }
  std::vector<Fusion> fusions() { return find_fusions(alignment_, kernel_names_, 0).fusions; }
  // By pair of the first segment: '1' where a finding accounts for a kernel that stands alone.
  std::string fused_pairs() {
    const GroupAlignment alignment = find_fusions(alignment_, kernel_names_, 0).alignment;
    std::string out;
    for (const KernelPair& pair : alignment.segments[0].pairs) out += pair.fused ? '1' : '0';
    return out;
  }

 private:
  PairSide side(std::string_view text, std::string_view which, std::int64_t n) {
    if (text.empty()) return {};
    const std::size_t colon = text.find(':');
    const std::string_view op = text.substr(colon == std::string_view::npos ? 0 : colon + 1);
    const std::string name = colon == std::string_view::npos ? std::string(op) + "/" + std::string(which)
                                                             : std::string(text.substr(0, colon));
    return {kernel_names_.intern(name, name, op), n, 100 * n, 0, -1};
  }

  KernelNameTable kernel_names_{ClassFamilies(load_rules("default"))};
  GroupAlignment alignment_;
};

Made::Pairs swapped(const Made::Pairs& pairs) {
  Made::Pairs out;
  for (const auto& [a, b] : pairs) out.emplace_back(b, a);
  return out;
}

using Findings = std::vector<std::string>;

// Both ways round: the candidate, and where the sides are swapped the baseline, has fused so.
void check_fused(const Made::Pairs& pairs, const std::string& finding) {
  CHECK(Made().segment(pairs).findings() == Findings{"candidate: " + finding});
  CHECK(Made().segment(swapped(pairs)).findings() == Findings{"baseline: " + finding});
}

}  // namespace

TEST_CASE("fusion: a class that names its parts, which stand alone beside it") {
  const Made::Pairs pairs = {{"gemm:dense_gemm", "gemm:dense_gemm"},
                             {"add:elementwise", ""},
                             {"rms:norm", "fused:elementwise+norm+quantise"},
                             {"q:quantise", ""},
                             {"down:dense_gemm", "down:dense_gemm"}};
  check_fused(pairs, "fused = add + rms + q");
}

TEST_CASE("fusion: an unpaired kernel that finishes the work of a pair counts once, also as a part") {
  const Made::Pairs pairs = {{"attn:attention_decode", "attn:attention_decode"},
                             {"red:reduce", ""},
                             {"rms:norm", "fused:norm+reduce"},
                             {"", "more:softmax"}};
  REQUIRE(Made().segment(pairs).finishes(1, 0).findings() == Findings{"candidate: fused = red + rms"});
  const auto [baseline, candidate] = Made().segment(pairs).finishes(1, 0).shares();
  CHECK(baseline == doctest::Approx(1));
  CHECK(candidate == doctest::Approx(2.0 / 3));
  CHECK(Made().segment(pairs).shares().first == doctest::Approx(1));
}

TEST_CASE("fusion: the fused kernel may have no partner, or a fused one; kernels that stand alone are stepped over") {
  check_fused({{"add:elementwise", ""}, {"rms:norm", ""}, {"", "fused:elementwise+norm"}}, "fused = add + rms");
  Made partial;
  partial.segment({{"an:elementwise+norm", "fused:elementwise+norm+quantise"}, {"q:quantise", ""}});
  CHECK(partial.findings() == Findings{"candidate: fused = an + q"});
  CHECK(partial.fusions().at(0).partial);
  const Made::Pairs beside = {{"add:elementwise", ""}, {"sum:reduce", ""}, {"rms:norm", "fused:elementwise+norm"}};
  check_fused(beside, "fused = add + rms");
  const Made::Pairs opposite = {{"add:elementwise", ""}, {"", "sum:reduce"}, {"rms:norm", "fused:elementwise+norm"}};
  check_fused(opposite, "fused = add + rms");
  const Made::Pairs apart = {
      {"add:elementwise", ""}, {"g:dense_gemm", "g:dense_gemm"}, {"rms:norm", "fused:elementwise+norm"}};
  CHECK(Made().segment(apart).findings().empty());
}

TEST_CASE("fusion: kernels of another stream are stepped over, and parts are told in their own order") {
  Made made;
  made.segment({{"gemm:dense_gemm", "gemm:dense_gemm"},
                {"up:moe_gemm", ""},
                {"s:dense_gemm", "s:dense_gemm"},
                {"silu:activation", "fused:moe_gemm+activation"},
                {"down:moe_gemm", "down:moe_gemm"}});
  CHECK(made.findings().empty());
  CHECK(made.on_side_stream(2).findings() == Findings{"candidate: fused = up + silu"});
  Made crossed;
  crossed.segment({{"q:quantise", ""}, {"rms:norm", "fused:norm+quantise"}});
  CHECK(crossed.run_in_order({1, 0}).findings() == Findings{"candidate: fused = rms + q"});
}

TEST_CASE("fusion: opposite findings both appear") {
  const Made::Pairs pairs = {{"an:elementwise+norm", "rms:norm"},
                             {"", "add:elementwise"},
                             {"g:dense_gemm", "g:dense_gemm"},
                             {"silu:activation", "sq:activation+quantise"},
                             {"q:quantise", ""}};
  Findings found = Made().segment(pairs).findings();
  std::sort(found.begin(), found.end());
  CHECK(found == Findings{"baseline: an = rms + add", "candidate: sq = silu + q"});
}

TEST_CASE("fusion: nothing where nothing is missing, nor from kernels of unknown class") {
  CHECK(
      Made().segment({{"f:elementwise+norm", "f:elementwise+norm"}, {"q:quantise", "q:quantise"}}).findings().empty());
  CHECK(Made().segment({{"add:elementwise", ""}, {"rms:norm", "x:other"}}).findings().empty());
  CHECK(Made().segment({{"add:elementwise", ""}, {"rms:norm", "x:triton_fused"}}).findings().empty());
  CHECK(Made().segment({{"x:other", ""}, {"rms:norm", "fused:elementwise+norm"}}).findings().empty());
  // One kernel for one: another way of doing the work, not fewer kernels for it.
  CHECK(Made().segment({{"rms:norm", "fused:elementwise+norm"}}).findings().empty());
}

TEST_CASE("fusion: an inserted kernel is none") {
  const Made::Pairs pairs = {{"g:dense_gemm", "g:dense_gemm"},   {"", "more:norm"},
                             {"", "cast:elementwise"},           {"rms:norm", "rms:norm"},
                             {"r:moe_routing", "r:moe_routing"}, {"", "sort:moe_routing"}};
  CHECK(Made().segment(pairs).findings().empty());
  CHECK(Made().segment(swapped(pairs)).findings().empty());
}

TEST_CASE("fusion: attention in place of softmax between two matrix products") {
  const Made::Pairs pairs = {{"qk:dense_gemm", ""}, {"soft:softmax", "flash:attention"}, {"pv:dense_gemm", ""}};
  CHECK(Made().segment(pairs).findings() == Findings{"candidate: flash = qk + soft + pv"});
  const Made::Pairs beside = {
      {"qk:dense_gemm", ""}, {"soft:softmax", ""}, {"pv:dense_gemm", ""}, {"", "flash:attention_prefill"}};
  CHECK(Made().segment(beside).findings() == Findings{"candidate: flash = qk + soft + pv"});
  // Both have attention; products with partners of their own are not part of it.
  CHECK(Made()
            .segment({{"qk:dense_gemm", ""},
                      {"soft:softmax", ""},
                      {"pv:dense_gemm", ""},
                      {"paged:attention_decode", "flash:attention"}})
            .findings()
            .empty());
  CHECK(Made()
            .segment({{"qk:dense_gemm", "qk:dense_gemm"},
                      {"soft:softmax", "flash:attention"},
                      {"pv:dense_gemm", "pv:dense_gemm"}})
            .findings()
            .empty());
}

TEST_CASE("fusion: one kernel for a whole mixture of experts, for its routing, for products and their sum") {
  const Made::Pairs whole = {
      {"sort:moe_routing", ""}, {"one:moe_gemm", "all:moe_gemm"}, {"two:moe_gemm", ""}, {"sum:moe_finalize", ""}};
  check_fused(whole, "all = sort + one + two + sum");
  const Made::Pairs routing = {
      {"topk:moe_routing", "route:moe_routing"}, {"sort:moe_routing", ""}, {"one:moe_gemm", "one:moe_gemm"}};
  CHECK(Made().segment(routing).findings() == Findings{"candidate: route = topk + sort"});
  Made implied;
  implied.segment({{"one:moe_gemm", "uno:moe_gemm"}, {"two:moe_gemm", "due:moe_gemm"}, {"sum:moe_finalize", ""}});
  CHECK(implied.findings() == Findings{"candidate: due = two + sum"});
  CHECK(implied.fusions().at(0).implied);
  CHECK(implied.fusions().at(0).confidence <= 0.5);
  // The same product on both sides did not learn to add up.
  CHECK(Made().segment({{"two:moe_gemm", "two:moe_gemm"}, {"sum:moe_finalize", ""}}).findings().empty());
  // All but the routing, which it has, too; what comes between the products is in it, whatever its name says.
  for (const char* const all : {"all:moe_gemm", "all:moe_gemm+activation"}) {
    check_fused({{"topk:moe_routing", "top:moe_routing"},
                 {"sort:moe_routing", "sorts:moe_routing"},
                 {"one:moe_gemm", ""},
                 {"silu:activation", ""},
                 {"two:moe_gemm", all},
                 {"sum:moe_finalize", ""}},
                "all = one + two + sum + silu");
  }
  // An activation or a product of its own is not in it.
  for (const auto& [silu, own] : Made::Pairs{{"silu:activation", ""}, {"", "own:dense_gemm"}}) {
    CHECK(Made()
              .segment({{"one:moe_gemm", ""},
                        {"silu:activation", silu},
                        {"two:moe_gemm", "all:moe_gemm"},
                        {"sum:moe_finalize", ""},
                        {"", own}})
              .findings() == Findings{"candidate: all = two + sum"});
  }
  // What sorts or sends the tokens, and what adds up the results, are kernels of their own.
  for (const char* const own : {"own:sort", "dispatch:communication"}) {
    const Made::Pairs apart = {{"topk:moe_routing", "route:moe_routing"}, {"sort:moe_routing", ""}, {"", own}};
    CHECK(Made().segment(apart).findings().empty());
    CHECK(Made().segment(swapped(apart)).findings().empty());
  }
  CHECK(Made()
            .segment({{"two:moe_gemm", "due:moe_gemm"}, {"sum:moe_finalize", ""}, {"", "combine:communication"}})
            .findings()
            .empty());
}

TEST_CASE("fusion: what ends a layer may be fused with what begins the next") {
  const Made::Pairs first = {{"gemm:dense_gemm", "gemm:dense_gemm"}, {"ar:communication", ""}};
  const Made::Pairs layer = {{"norm:norm", "fused:communication+norm"},
                             {"q:quantise", "q:quantise"},
                             {"gemm:dense_gemm", "gemm:dense_gemm"},
                             {"ar:communication", ""}};
  const Made::Pairs tail = {{"norm:norm", "fused:communication+norm"}, {"head:dense_gemm", "head:dense_gemm"}};
  for (const bool swaps : {false, true}) {
    const auto side = [&](const Made::Pairs& pairs) { return swaps ? swapped(pairs) : pairs; };
    Made made;
    made.segment(side(first), {0}).segment(side(layer), {1, 2, 3}).segment(side(tail), {kTail});
    CHECK(made.findings() == Findings{(swaps ? "baseline" : "candidate") + std::string(": fused = ar + norm")});
    const Fusion found = made.fusions().at(0);
    CHECK(as_row(found.fused.n, found.parts[0].n, found.parts[1].n) == "4 4 4");
    const auto [baseline, candidate] = made.shares();
    CHECK(as_row(baseline, candidate) == "1 1");
  }
  // With more than is found within the next layer.
  const Made::Pairs quantised = {{"norm:norm", "all:communication+norm+quantise"}, {"q:quantise", ""}};
  CHECK(Made().segment(first, {0}).segment(quantised, {1}).findings() == Findings{"candidate: all = ar + norm + q"});
  // Not with another layer than the next, nor where the fusing side ends its layer with the same.
  CHECK(Made().segment(first, {0}).segment(tail, {2}).segment({{"x:copy", "x:copy"}}, {1}).findings().empty());
  const Made::Pairs ended = {{"gemm:dense_gemm", "gemm:dense_gemm"}, {"ar:communication", "arr:communication"}};
  CHECK(Made().segment(ended, {0}).segment(tail, {1}).findings().empty());
}

TEST_CASE("fusion: the same kernels in other layers are the same finding, with the sums of all") {
  const Made::Pairs pairs = {{"add:elementwise", ""}, {"rms:norm", "fused:elementwise+norm"}};
  Made::Pairs others = pairs;
  others.emplace_back("k:reduce", "k:reduce");
  const std::vector<Fusion> found = Made().segment(pairs, {0, 3}).segment(others, {1, 2}).fusions();
  REQUIRE(found.size() == 1);
  CHECK(found[0].layers == std::vector<std::int32_t>{0, 1, 2, 3});
  CHECK(as_row(found[0].fused.n, found[0].fused.time) == "4 400");
  REQUIRE(found[0].parts.size() == 2);
  CHECK(as_row(found[0].parts[0].n, found[0].support) == "4 1");
  CHECK(as_row(found[0].partial, found[0].implied) == "false false");
}

TEST_CASE("of what stands alone, an alignment says what a fusion accounts for") {
  const Made::Pairs pairs = {
      {"dense_gemm", "dense_gemm"}, {"elementwise", ""}, {"norm", "elementwise+norm"}, {"copy", ""}, {"", "sort"}};
  CHECK(as_row(Made().segment(pairs).fused_pairs(), Made().segment(swapped(pairs)).fused_pairs()) == "01000 01000");
  CHECK(Made().segment({{"x:norm", "norm"}, {"y:norm", ""}}).fused_pairs() == "00");
}

TEST_CASE("fusion: a residual add that a name leaves out neither makes nor prevents a finding") {
  CHECK(Made().segment({{"an:elementwise+norm", "nq:norm+quantise"}, {"q:quantise", ""}}).findings() ==
        Findings{"candidate: nq = an + q"});
  check_fused({{"ar:communication", "arn:communication+norm"}, {"an:elementwise+norm", ""}}, "arn = ar + an");
  check_fused({{"add:elementwise", ""}, {"rms:norm", "nq:norm+quantise"}, {"q:quantise", ""}}, "nq = add + rms + q");
  const Made::Pairs kept = {
      {"add:elementwise", "add:elementwise"}, {"rms:norm", "nq:norm+quantise"}, {"q:quantise", ""}};
  check_fused(kept, "nq = rms + q");
  CHECK(Made().segment({{"add:elementwise", ""}, {"rms:norm", "n:norm"}}).findings().empty());
  CHECK(Made().segment({{"an:elementwise+norm", "n:norm"}, {"q:quantise", "q:quantise"}}).findings().empty());
}

TEST_CASE("fusion: attention in two kernels against one, and one kernel for two calls of one") {
  const Made::Pairs attention = {{"split:attention_decode", "flash:attention"}, {"sum:attention_decode", ""}};
  check_fused(attention, "flash = split + sum");
  CHECK(Made().segment({{"a:attention", "a:attention"}, {"b:attention", ""}}).findings().empty());
  // Both in two.
  CHECK(Made().segment({{"a:attention", "f:attention"}, {"b:attention", ""}, {"", "g:attention"}}).findings().empty());
  const Made::Pairs norms = {{"rms:norm", "qk:norm"}, {"rms:norm", ""}, {"r:rotary", "r:rotary"}};
  check_fused(norms, "qk = rms + rms");
  // Put in, not fused: another norm, or one more of what both have.
  CHECK(Made().segment({{"rms:norm", "qk:norm"}, {"more:norm", ""}}).findings().empty());
  CHECK(Made().segment({{"rms:norm", "rms:norm"}, {"rms:norm", ""}}).findings().empty());
}

TEST_CASE("fusion: a kernel that is called once more beside the partner is part of it, too") {
  const Made::Pairs pairs = {{"gemm:dense_gemm", "gemm:dense_gemm"},
                             {"rms:norm", ""},
                             {"rms:norm", "fused:norm+rotary"},
                             {"rope:rotary", ""},
                             {"attention:attention", "attention:attention"}};
  check_fused(pairs, "fused = rms + rms + rope");
  // Another norm, or a call elsewhere, is not.
  const Made::Pairs other = {{"other:norm", ""}, {"rms:norm", "fused:norm+rotary"}, {"rope:rotary", ""}};
  CHECK(Made().segment(other).findings() == Findings{"candidate: fused = rms + rope"});
}

TEST_CASE("fusion: findings of little confidence are counted, not shown, and account for nothing") {
  KernelNameTable words;
  GroupAlignment alignment;
  AlignedSegment& segment = alignment.segments.emplace_back();
  segment.layers = {0};
  segment.baseline_instances = segment.candidate_instances = 10;
  segment.baseline_following = 2;
  segment.candidate_following = 10;
  const auto side = [&](const char* name, const char* op) {
    return PairSide{words.intern(name, name, op), 1, 100, 0, -1};
  };
  segment.pairs.resize(2);
  segment.pairs[0].baseline = side("add", "elementwise");
  segment.pairs[1].baseline = side("rms", "norm");
  segment.pairs[1].candidate = side("both", "elementwise+norm");
  alignment.baseline_time = alignment.candidate_time = 200;
  alignment.baseline_share = 0.5;
  alignment.candidate_share = 1;
  const FusedAlignment none = find_fusions(alignment, words, 0.3);
  CHECK(as_row(none.fusions.empty(), none.uncertain, none.alignment.baseline_share) == "true 1 0.5");
  CHECK_FALSE(none.alignment.segments[0].pairs[0].fused);
  const FusedAlignment all = find_fusions(alignment, words, 0);
  REQUIRE(all.fusions.size() == 1);
  CHECK(as_row(all.uncertain, all.alignment.baseline_share) == "0 1");
  CHECK(all.alignment.segments[0].pairs[0].fused);
  CHECK(all.alignment.segments[0].pairs[1].candidate.fusion == 0);
}

TEST_CASE("kernels of one class alone are not what a fused kernel was made of") {
  CHECK(Made().segment({{"x:norm", ""}, {"y:norm", ""}, {"", "norm+quantise"}}).findings().empty());
  CHECK(Made().segment({{"", "x:norm"}, {"norm+quantise", ""}, {"", "y:norm"}}).findings().empty());
  CHECK(Made().segment({{"x:norm", ""}, {"y:quantise", ""}, {"", "z:norm+quantise"}}).findings() ==
        Findings{"candidate: z = x + y"});
}

}  // namespace tracedb
