#include "compare/wafer/layers.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text/characters.h"
#include "base/text/decimal.h"
#include "base/text/split.h"
#include "base/unknown.h"

namespace tracedb::wafer {
namespace {

constexpr std::int64_t kFewestKernels = 70;  // of a correlation that is a layer

bool is_marker(const std::string& lower, Architecture architecture) {
  if (architecture == Architecture::kTransformer) {
    return contains_any(lower, {"fmha", "attention", "flash"}) && contains_any(lower, {"context", "2d", "fmhasm100a"});
  }
  return architecture == Architecture::kSsm && contains_any(lower, {"selective_scan", "mamba", "ssd"});
}

std::vector<bool> markers(const Trace& trace) {
  const Architecture architecture = architecture_of(trace);
  std::vector<bool> is(trace.names.size());
  for (std::size_t i = 0; i < is.size(); ++i) is[i] = is_marker(trace.names[i].lower, architecture);
  return is;
}

LayerMap layers_by_markers(const Trace& trace) {
  const std::vector<bool> is = markers(trace);
  LayerMap layers;
  if (std::ranges::find(is, true) == is.end()) return layers;
  layers.reserve(trace.kernels.size());
  std::uint32_t begun = 0;
  std::size_t next = 0;  // kernels before it have been looked at for markers
  for (const Kernel& kernel : trace.kernels) {
    // Kernels with the start of a marker are in its layer even if they come before it.
    for (; next < trace.kernels.size() && trace.kernels[next].ts <= kernel.ts; ++next) {
      if (is[trace.kernels[next].name]) ++begun;
    }
    if (begun > 0 && kernel.correlation != kUnknownValue) layers.put(kernel.correlation, begun - 1);
  }
  return layers;
}

struct Launch {
  std::int64_t kernels = 0;
  bool attention = false, gemm = false;
};

// What each name shows; of one kernel each.
std::vector<Launch> shown_by_names(const Trace& trace) {
  std::vector<Launch> shown;
  for (const KernelName& name : trace.names) {
    const bool gemm = contains_any(name.lower, {"cijk_", "nvjet", "wvsplitk", "gemm"});
    shown.push_back({1, contains_any(name.lower, {"attention", "fmha"}), gemm});
  }
  return shown;
}

LayerMap layers_by_correlation(const Trace& trace) {
  const std::vector<Launch> shown = shown_by_names(trace);
  std::unordered_map<std::int64_t, Launch> launches;
  for (const Kernel& kernel : trace.kernels) {
    if (kernel.correlation == kUnknownValue) continue;
    Launch& launch = launches[kernel.correlation];
    ++launch.kernels;
    launch.attention = launch.attention || shown[kernel.name].attention;
    launch.gemm = launch.gemm || shown[kernel.name].gemm;
  }
  std::vector<std::int64_t> found;
  for (const auto& [correlation, launch] : launches) {
    if (launch.kernels >= kFewestKernels && launch.attention && launch.gemm) found.push_back(correlation);
  }
  std::ranges::sort(found);
  LayerMap layers;
  for (std::size_t i = 0; i < found.size(); ++i) layers.put(found[i], static_cast<std::uint32_t>(i));
  return layers;
}

constexpr std::array<std::string_view, 4> kAttentionParts = {"fmha", "attention", "flash", "sdpa"};
constexpr std::array<std::string_view, 4> kSsmParts = {"selective_scan", "mamba", "ssd", "causal_conv"};
constexpr std::array<std::string_view, 4> kNames = {"unknown", "transformer", "ssm", "hybrid"};

bool any_name(const Trace& trace, std::span<const std::string_view> parts) {
  return std::ranges::any_of(trace.names, [&](const KernelName& name) { return contains_any(name.lower, parts); });
}

Architecture architecture_of(bool attention, bool ssm) {
  if (attention) return ssm ? Architecture::kHybrid : Architecture::kTransformer;
  return ssm ? Architecture::kSsm : Architecture::kUnknown;
}

std::int64_t number_in_parentheses(std::string_view part) {
  const std::size_t open = part.find('(');
  const std::size_t close = part.find(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return 0;
  return parse_int64(part.substr(open + 1, close - open - 1)).value_or(0);
}

}  // namespace

LayerMap find_layers(const Trace& trace) {
  LayerMap layers = layers_by_markers(trace);
  return layers.size() > 0 ? std::move(layers) : layers_by_correlation(trace);
}

Architecture architecture_of(const Trace& trace) {
  return architecture_of(any_name(trace, kAttentionParts), any_name(trace, kSsmParts));
}

Architecture architecture_of(const Trace& first, const Trace& second) {
  return architecture_of(any_name(first, kAttentionParts) || any_name(second, kAttentionParts),
                         any_name(first, kSsmParts) || any_name(second, kSsmParts));
}

std::string_view to_string(Architecture architecture) { return kNames[static_cast<std::size_t>(architecture)]; }

std::int64_t token_count(std::string_view annotation) {
  const std::vector<std::string_view> parts = split_text(annotation, '_');
  const auto context = std::ranges::find(parts, "context");
  return parts.end() - context > 1 ? number_in_parentheses(*(context + 1)) : 0;
}

Phase phase_of(std::string_view annotation) {
  const bool no_generation = annotation.find("generation_0") != std::string_view::npos;
  return no_generation && token_count(annotation) > 0 ? Phase::kPrefill : Phase::kDecode;
}

void assign_phases(Trace& trace) {
  std::size_t begun = 0;
  for (Kernel& kernel : trace.kernels) {
    while (begun < trace.passes.size() && trace.passes[begun].begin <= kernel.ts) ++begun;
    const bool inside = begun > 0 && kernel.ts <= trace.passes[begun - 1].end;
    kernel.phase = inside ? trace.passes[begun - 1].phase : Phase::kDecode;
  }
}

std::string_view to_string(Phase phase) { return phase == Phase::kPrefill ? "prefill" : "decode"; }

}  // namespace tracedb::wafer
