#include "compare/wafer/alignment.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "support/wafer_trace.h"

namespace tracedb::wafer {
namespace {

const Letters kAlignmentLetters = {{'A', {"kernel_unified_attention_2d", "Attention (Prefill)"}},
                                   {'P', {"paged_attention", "Attention (Prefill)"}},
                                   {'g', {"Cijk_qkv", "Dense GEMM"}},
                                   {'h', {"Cijk_out", "Dense GEMM"}},
                                   {'n', {"norm", "RMSNorm"}}};

Trace aligned_letters(std::string_view kernels) { return lettered(kAlignmentLetters, kernels); }

// "GEMM 1 2:1": operation, position, counts.
std::string text_of(const Alignment& alignment, std::size_t layer) {
  std::string text;
  for (const KernelPair& pair : alignment.layers.at(layer).pairs) {
    text += fmt::format("{} {} {}:{}, ", alignment.ops[pair.op], pair.position, pair.first.count, pair.second.count);
  }
  return text;
}

KernelPair counts(std::uint32_t first, std::uint32_t second) { return {0, 0, {0, first, 0}, {0, second, 0}}; }

}  // namespace

TEST_CASE("a place is an operation and an absolute position: one more kernel shifts all behind it") {
  const Alignment alignment = align(aligned_letters("gnh"), aligned_letters("gnnh"));
  REQUIRE(alignment.layers.size() == 1);
  CHECK(text_of(alignment, 0) ==
        "Dense GEMM 0 1:1, Dense GEMM 2 1:0, Dense GEMM 3 0:1, RMSNorm 1 1:1, RMSNorm 2 0:1, ");
  CHECK(alignment.layers[0].first_total == 6);
  CHECK(alignment.layers[0].second_total == 10);
  CHECK(alignment.passes.all == 1);
}

TEST_CASE("attention cuts layers, and what is before the first cut is dropped") {
  const Alignment alignment = align(aligned_letters("gAgAnn"), aligned_letters("AgAnAg"));
  REQUIRE(alignment.layers.size() == 3);
  CHECK(text_of(alignment, 0) == "Attention (Prefill) 0 1:1, Dense GEMM 1 1:1, ");
  CHECK(text_of(alignment, 1) == "Attention (Prefill) 0 1:1, RMSNorm 1 1:1, RMSNorm 2 1:0, ");
  CHECK(text_of(alignment, 2) == "Attention (Prefill) 0 0:1, Dense GEMM 1 0:1, ");
}

TEST_CASE("the first side is cut at 2d and 3d only, the second at any attention") {
  CHECK(align(aligned_letters("PgPg"), aligned_letters("PgPg")).layers.size() == 2);
  CHECK(text_of(align(aligned_letters("PgPg"), aligned_letters("P")), 0) ==
        "Attention (Prefill) 0 1:1, Attention (Prefill) 2 1:0, Dense GEMM 1 1:0, Dense GEMM 3 1:0, ");
}

TEST_CASE("passes are pooled by layer and place, their kernels by both ends, empty passes do not count") {
  Trace first = aligned_letters("ghnAg");  // at 100 ... 140
  first.passes = {
      {100, 100, Phase::kPrefill}, {110, 120, Phase::kDecode}, {121, 129, Phase::kDecode}, {130, 500, Phase::kDecode}};
  const Alignment alignment = align(first, aligned_letters("g"));
  REQUIRE(alignment.layers.size() == 1);
  CHECK(text_of(alignment, 0) == "Attention (Prefill) 0 1:0, Dense GEMM 0 2:1, Dense GEMM 1 1:0, RMSNorm 1 1:0, ");
  CHECK(alignment.passes.all == 3);
  CHECK(alignment.passes.prefill == 1);
  CHECK(alignment.passes.decode == 2);
  const KernelPair& pooled = alignment.layers[0].pairs[1];
  CHECK(pooled.first.total == 1 + 2);
  CHECK(first.names[pooled.first.name].text == "Cijk_qkv");  // first seen of equals
}

TEST_CASE("the name of a place is the most frequent") {
  Trace first = aligned_letters("ghh");
  first.passes = {{100, 100, Phase::kDecode}, {110, 110, Phase::kDecode}, {120, 120, Phase::kDecode}};
  const Alignment alignment = align(first, aligned_letters("h"));
  CHECK(first.names[alignment.layers.at(0).pairs.at(0).first.name].text == "Cijk_out");
}

TEST_CASE("nothing is aligned where a side has no kernels, or none in a pass") {
  CHECK(align({}, {}).layers.empty());
  CHECK(align(aligned_letters("g"), {}).layers.empty());
  Trace outside = aligned_letters("g");
  outside.passes = {{1, 2, Phase::kDecode}};
  CHECK(align(outside, aligned_letters("g")).layers.empty());
  CHECK(align(aligned_letters("g"), outside).layers.empty());
  CHECK(align(aligned_letters("g"), outside).passes.all == 0);
}

TEST_CASE("notes of fusion by the counts of a place") {
  CHECK(fusion_note(counts(2, 3), "RMSNorm").kind == NoteKind::kNone);  // 1.5 is not more than 1.5
  const FusionNote uneven = fusion_note(counts(1, 4), "Dense GEMM");
  CHECK(uneven.kind == NoteKind::kCountRatio);
  CHECK(uneven.fused_by == Side::kFirst);
  CHECK(uneven.ratio == 4);
  CHECK(fusion_note(counts(4, 1), "Dense GEMM").fused_by == Side::kSecond);
  const FusionNote fused = fusion_note(counts(0, 1), "RMSNorm+GEMM");
  CHECK(fused.kind == NoteKind::kHasFusedKernel);
  CHECK(fused.fused_by == Side::kSecond);
  const FusionNote one_sided = fusion_note(counts(0, 1), "RMSNorm");
  CHECK(one_sided.kind == NoteKind::kOneSided);
  CHECK(one_sided.fused_by == Side::kFirst);
  for (const char* op :
       {"Attention (Prefill)", "Attention (Decode)", "Dense GEMM", "KV Cache", "MoE GEMM", "MoE Routing"}) {
    CHECK(fusion_note(counts(1, 0), op).kind == NoteKind::kNone);
  }
  CHECK(to_string(NoteKind::kOneSided) == "one_sided");
}

TEST_CASE("details of GEMMs, the first of the list in either name") {
  CHECK(operation_detail("Dense GEMM", "cijk_qkv", "") == "QKV");
  CHECK(operation_detail("Dense GEMM", "gemm_down", "gemm_out") == "O");
  CHECK(operation_detail("Dense GEMM", "", "up_proj") == "FFN_up");
  CHECK(operation_detail("Dense GEMM", "down", "down") == "FFN_down");
  CHECK(operation_detail("Dense GEMM", "gemm", "gemm").empty());
  CHECK(operation_detail("MoE GEMM", "qkv", "qkv").empty());
}

TEST_CASE("same kernels are those of one name on both sides; their ratios have no weight") {
  const Trace first = aligned_letters("gnn");
  Trace second = aligned_letters("hnn");
  second.kernels[1].dur = 4;
  second.kernels[2].dur = 0;
  const SameKernels same = find_same_kernels(align(first, second), first, second);
  REQUIRE(same.kernels.size() == 2);
  CHECK(same.kernels[0].pair.position == 1);
  CHECK(same.average_ratio == 0.5);  // the infinite one is left out
  CHECK(std::isinf(ratio_of(same.kernels[1].pair)));
  CHECK(same.first_faster == 1);
  CHECK(same.second_faster == 1);
  const SameKernels none = find_same_kernels({}, {}, {});
  CHECK(none.kernels.empty());
  CHECK(none.average_ratio == 1);
}

}  // namespace tracedb::wafer
