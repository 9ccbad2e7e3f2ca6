// The kernels that a synthetic trace may contain: for each role in the model its operation class, the names libraries
// of either vendor give it, and how long it takes. Names follow the public naming habits of PyTorch, vLLM, FlashInfer,
// CK, aiter, hipBLASLt and cuBLAS; a name alone is enough to tell the class.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "make_trace/trace_options.h"

namespace tracedb {

inline constexpr std::string_view kSameName = "=";  // for NVIDIA as for AMD

struct KernelKind {
  std::string_view role;
  std::string_view op_class;
  std::string_view amd, nvidia;              // empty: that vendor's libraries have no such kernel
  std::string_view amd_large, nvidia_large;  // for steps with a prefill; empty: the same name
  std::string_view operator_name;            // innermost cpu_op that launches it
  std::int64_t fixed_ns;                     // on AMD; NVIDIA takes 7/8 of it
  std::int64_t per_token_ps;
  int block;

  [[nodiscard]] std::string_view name(Vendor vendor, bool large) const {
    const std::string_view big = vendor == Vendor::kAmd ? amd_large : nvidia_large;
    if (large && !big.empty()) return big;
    return vendor == Vendor::kAmd || nvidia == kSameName ? amd : nvidia;
  }
};

std::span<const KernelKind> kernel_catalogue();

// nullptr when no kernel has this role.
const KernelKind* find_kernel(std::string_view role);

}  // namespace tracedb
