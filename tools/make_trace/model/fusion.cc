#include "make_trace/model/fusion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/error.h"

namespace tracedb {
namespace {

struct FusionRule {
  std::array<std::string_view, 2> needs;  // names in --fuse; the second may be empty
  std::array<std::string_view, 4> parts;  // roles in order; trailing ones may be empty
  std::string_view fused;
};

// Longer runs first: the first rule that matches at a place wins.
constexpr auto kFusionRules = std::to_array<FusionRule>({
    {{"allreduce+rmsnorm", "rmsnorm+quant"},
     {"attention_all_reduce", "residual_add", "rms_norm", "quant"},
     "all_reduce_add_rms_norm_quant"},
    {{"qk_norm+rope", "rope+kvcache"}, {"q_norm", "q_norm", "rope", "kv_cache"}, "qk_norm_rope_kv_cache"},
    {{"allreduce+rmsnorm", ""}, {"attention_all_reduce", "residual_add", "rms_norm", ""}, "all_reduce_add_rms_norm"},
    {{"add+rmsnorm", "rmsnorm+quant"}, {"residual_add", "rms_norm", "quant", ""}, "add_rms_norm_quant"},
    {{"qk_norm+rope", ""}, {"q_norm", "q_norm", "rope", ""}, "qk_norm_rope"},
    {{"add+rmsnorm", ""}, {"residual_add", "rms_norm", "", ""}, "add_rms_norm"},
    {{"add+rmsnorm", ""}, {"residual_add", "final_norm", "", ""}, "add_rms_norm"},
    {{"rmsnorm+quant", ""}, {"rms_norm", "quant", "", ""}, "rms_norm_quant"},
    {{"silu+quant", ""}, {"silu_mul", "quant", "", ""}, "silu_mul_quant"},
    {{"rope+kvcache", ""}, {"rope", "kv_cache", "", ""}, "rope_kv_cache"},
    {{"moe_routing", ""}, {"topk_softmax", "moe_sort", "", ""}, "fused_routing"},
    {{"moe_gemm+silu", ""}, {"moe_gemm_1", "moe_silu_mul", "", ""}, "moe_gemm_silu"},
});

bool enabled(const TraceOptions& options, const FusionRule& rule) {
  return std::all_of(rule.needs.begin(), rule.needs.end(), [&](std::string_view name) {
    return name.empty() || options.fusions.contains(std::string(name));
  });
}

// Number of operations the rule replaces at `at`; 0 when it does not apply.
std::size_t matched_length(const FusionRule& rule, const std::vector<Operation>& operations, std::size_t at) {
  std::size_t length = 0;
  for (const std::string_view role : rule.parts) {
    if (role.empty()) break;
    if (at + length >= operations.size() || operations[at + length].kernel->role != role) return 0;
    ++length;
  }
  return length;
}

int planted_index(const FusionRule& rule, std::size_t length, std::vector<PlantedFusion>& planted) {
  PlantedFusion fusion;
  fusion.names =
      rule.needs[1].empty() ? std::string(rule.needs[0]) : fmt::format("{},{}", rule.needs[0], rule.needs[1]);
  fusion.parts.assign(rule.parts.begin(), rule.parts.begin() + static_cast<std::ptrdiff_t>(length));
  fusion.kernel = find_kernel(rule.fused);
  const auto known = std::find_if(planted.begin(), planted.end(), [&](const PlantedFusion& other) {
    return other.kernel == fusion.kernel && other.parts == fusion.parts;
  });
  if (known != planted.end()) return static_cast<int>(known - planted.begin());
  planted.push_back(std::move(fusion));
  return static_cast<int>(planted.size()) - 1;
}

void check_fusion_names(const TraceOptions& options) {
  const auto known = fusion_names();
  for (const std::string& name : options.fusions) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    throw Error(ErrorCode::kUsage, fmt::format("--fuse: '{}' is not one of {}", name, fmt::join(known, " ")));
  }
}

}  // namespace

std::vector<std::string_view> fusion_names() {
  std::vector<std::string_view> names;
  for (const FusionRule& rule : kFusionRules) {
    for (const std::string_view name : rule.needs) {
      if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

void fuse_operations(const TraceOptions& options, std::vector<Operation>& operations,
                     std::vector<PlantedFusion>& planted) {
  check_fusion_names(options);
  for (std::size_t at = 0; at < operations.size(); ++at) {
    for (const FusionRule& rule : kFusionRules) {
      const std::size_t length = enabled(options, rule) ? matched_length(rule, operations, at) : 0;
      if (length == 0) continue;
      operations[at].kernel = find_kernel(rule.fused);
      operations[at].fusion = planted_index(rule, length, planted);
      operations[at].slot += 500;  // a kernel of its own, with noise of its own
      const auto first = operations.begin() + static_cast<std::ptrdiff_t>(at);
      operations.erase(first + 1, first + static_cast<std::ptrdiff_t>(length));
      break;
    }
  }
}

}  // namespace tracedb
