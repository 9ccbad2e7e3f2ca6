// Roles: what a kernel does at its place in a model. The same kernel may have several: one matrix product is the gate
// and up projection of an MLP, another of the same name its down projection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tracedb {

// In the order of a step.
enum class Role : std::uint8_t {
  kNone,  // not known
  kEmbedding,
  kEmbeddingComm,
  kInputNorm,
  kQkvProj,
  kQProj,
  kKProj,
  kVProj,
  kQkNorm,
  kRope,
  kKvCache,
  kAttention,
  kSsm,
  kOProj,
  kAttentionComm,
  kPostAttentionNorm,
  kRouter,
  kRouting,
  kExperts,
  kCombine,
  kSharedExperts,
  kGateUp,
  kActivation,
  kDown,
  kMlpComm,
  kPostMlpNorm,
  kResidual,
  kFinalNorm,
  kLmHead,
  kLmHeadComm,
  kSampling,
};

struct RoleInfo {
  std::string_view name;     // "gate_up"; "[no role]" of kNone
  std::string_view meaning;  // a phrase for readers
  Role family;               // the coarser role that it is part of; itself where there is none
};

std::span<const RoleInfo> roles();  // by Role
inline const RoleInfo& info_of(Role role) { return roles()[static_cast<std::size_t>(role)]; }
inline std::string_view to_string(Role role) { return info_of(role).name; }

// How a role is known.
enum class RoleSource : std::uint8_t {
  kNone,     // it is not
  kModules,  // by the nn.Module around the launch
  kClass,    // by the operation class alone: attention is attention wherever it runs
  kOrder,    // by the order of the kernels around attention and activation
};
std::string_view to_string(RoleSource source);  // none, modules, class, order

struct KernelRole {
  Role role = Role::kNone;
  RoleSource source = RoleSource::kNone;
  std::uint8_t confidence =
      0;  // percent: 100 where a module's class names the role; lower the fewer landmarks there are
  bool operator==(const KernelRole&) const = default;
};

}  // namespace tracedb
