// What is said of a pair beyond its figures.
#include <algorithm>
#include <array>

#include "compare/wafer/alignment.h"

namespace tracedb::wafer {
namespace {

constexpr std::array<std::string_view, 4> kKindNames = {"", "has_fused_kernel", "one_sided", "count_ratio"};
constexpr double kUnevenCounts = 1.5;

// On one side only, they are no sign of fusion.
constexpr std::array<std::string_view, 6> kNeverFused = {
    "Attention (Prefill)", "Attention (Decode)", "Dense GEMM", "KV Cache", "MoE GEMM", "MoE Routing"};

struct Detail {
  const char* part;
  std::string_view detail;
};
constexpr std::array<Detail, 4> kDetails = {{{"qkv", "QKV"}, {"out", "O"}, {"up", "FFN_up"}, {"down", "FFN_down"}}};

FusionNote one_sided_note(Side has, const std::string& op) {
  if (contains(op, "+")) return {NoteKind::kHasFusedKernel, has, 0};
  if (std::find(kNeverFused.begin(), kNeverFused.end(), op) != kNeverFused.end()) return {};
  return {NoteKind::kOneSided, other(has), 0};
}

}  // namespace

std::string_view to_string(NoteKind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }

FusionNote fusion_note(const KernelPair& pair, const std::string& op) {
  if (pair.first.count == 0 || pair.second.count == 0) {
    return one_sided_note(pair.second.count == 0 ? Side::kFirst : Side::kSecond, op);
  }
  const auto [fewer, more] = std::minmax(pair.first.count, pair.second.count);
  const double ratio = static_cast<double>(more) / static_cast<double>(fewer);
  if (ratio <= kUnevenCounts) return {};
  return {NoteKind::kCountRatio, pair.first.count < pair.second.count ? Side::kFirst : Side::kSecond, ratio};
}

std::string_view operation_detail(const std::string& op, const std::string& first_name,
                                  const std::string& second_name) {
  if (op != "Dense GEMM") return {};
  for (const Detail& detail : kDetails) {
    if (contains(first_name, detail.part) || contains(second_name, detail.part)) return detail.detail;
  }
  return {};
}

bool is_same_kernel(const KernelPair& pair, const Trace& first, const Trace& second) {
  if (pair.first.name == kNoName || pair.second.name == kNoName) return false;
  const std::string& name = first.names[pair.first.name].text;
  return !name.empty() && name == second.names[pair.second.name].text;
}

}  // namespace tracedb::wafer
