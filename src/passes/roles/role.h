// Roles: what a kernel does at its place in a model. The same kernel may have several: one matrix product is the gate
// and up projection of an MLP, another of the same name its down projection.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
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

// By Role.
inline constexpr std::array<RoleInfo, 31> kAllRoles = {{
    {"[no role]", "not known", Role::kNone},
    {"embedding", "tokens, positions or patches to vectors", Role::kEmbedding},
    {"embedding_comm", "communication after the embedding: its parts are on several devices", Role::kEmbeddingComm},
    {"input_norm", "norm before attention", Role::kInputNorm},
    {"qkv_proj", "product that makes queries, keys and values, or one of several whose share is not known",
     Role::kQkvProj},
    {"q_proj", "product that makes queries alone", Role::kQkvProj},
    {"k_proj", "product that makes keys alone", Role::kQkvProj},
    {"v_proj", "product that makes values alone", Role::kQkvProj},
    {"qk_norm", "norm of queries and keys", Role::kQkNorm},
    {"rope", "rotary position embedding, with what is fused with it", Role::kRope},
    {"kv_cache", "writing keys and values to the cache, its page tables", Role::kKvCache},
    {"attention", "attention proper, its products and softmax where they are kernels of their own", Role::kAttention},
    {"ssm", "state space model or linear attention", Role::kSsm},
    {"o_proj", "output product of attention", Role::kOProj},
    {"attention_comm", "communication after attention: an all-reduce where heads are on several devices",
     Role::kAttentionComm},
    {"post_attention_norm", "norm between attention and MLP", Role::kPostAttentionNorm},
    {"router", "product that rates the experts", Role::kRouter},
    {"routing", "choosing experts, sorting tokens by expert", Role::kRouting},
    {"experts", "products of the experts, with what is fused with them", Role::kExperts},
    {"combine", "adding up the experts' results", Role::kCombine},
    {"shared_experts", "products of an expert that every token takes", Role::kSharedExperts},
    {"gate_up", "product into the MLP: gate and up projection, in one kernel or apart, or the only one", Role::kGateUp},
    {"activation", "activation of the MLP, with the product of its gate", Role::kActivation},
    {"down", "product out of the MLP", Role::kDown},
    {"mlp_comm", "communication after the MLP or the experts", Role::kMlpComm},
    {"post_mlp_norm", "norm after the MLP, within the layer", Role::kPostMlpNorm},
    {"residual", "addition of the residual, as a kernel of its own", Role::kResidual},
    {"final_norm", "norm after the last layer", Role::kFinalNorm},
    {"lm_head", "product that makes logits", Role::kLmHead},
    {"lm_head_comm", "communication of logits", Role::kLmHeadComm},
    {"sampling", "logits to tokens", Role::kSampling},
}};
inline const RoleInfo& info_of(Role role) { return kAllRoles[static_cast<std::size_t>(role)]; }
inline std::string_view to_string(Role role) { return info_of(role).name; }

// How a role is known.
enum class RoleSource : std::uint8_t {
  kNone,     // it is not
  kModules,  // by the nn.Module around the launch
  kClass,    // by the operation class alone: attention is attention wherever it runs
  kOrder,    // by the order of the kernels around attention and activation
};
inline std::string_view to_string(RoleSource source) {
  constexpr std::string_view kNames[] = {"none", "modules", "class", "order"};
  return kNames[static_cast<std::size_t>(source)];
}

struct KernelRole {
  Role role = Role::kNone;
  RoleSource source = RoleSource::kNone;
  std::uint8_t confidence =
      0;  // percent: 100 where a module's class names the role; lower the fewer landmarks there are
  bool operator==(const KernelRole&) const = default;
};

}  // namespace tracedb
