#include "compare/wafer/architecture.h"

#include <algorithm>
#include <array>

namespace tracedb::wafer {
namespace {

constexpr std::array kAttentionParts = {"fmha", "attention", "flash", "sdpa"};
constexpr std::array kSsmParts = {"selective_scan", "mamba", "ssd", "causal_conv"};
constexpr std::array<std::string_view, 4> kNames = {"unknown", "transformer", "ssm", "hybrid"};

template <class Parts>
bool any_name(const Trace& trace, const Parts& parts) {
  return std::any_of(trace.names.begin(), trace.names.end(), [&](const KernelName& name) {
    return std::any_of(parts.begin(), parts.end(), [&](const char* part) { return contains(name.lower, part); });
  });
}

Architecture architecture_of(bool attention, bool ssm) {
  if (attention) return ssm ? Architecture::kHybrid : Architecture::kTransformer;
  return ssm ? Architecture::kSsm : Architecture::kUnknown;
}

}  // namespace

Architecture architecture_of(const Trace& trace) {
  return architecture_of(any_name(trace, kAttentionParts), any_name(trace, kSsmParts));
}

Architecture architecture_of(const Trace& first, const Trace& second) {
  return architecture_of(any_name(first, kAttentionParts) || any_name(second, kAttentionParts),
                         any_name(first, kSsmParts) || any_name(second, kSsmParts));
}

std::string_view to_string(Architecture architecture) { return kNames[static_cast<std::size_t>(architecture)]; }

}  // namespace tracedb::wafer
