#include "passes/roles/role.h"

#include <array>

namespace tracedb {
namespace {

using enum Role;

constexpr std::array<RoleInfo, 31> kRoles = {{
    {"[no role]", "not known", kNone},
    {"embedding", "tokens, positions or patches to vectors", kEmbedding},
    {"embedding_comm", "communication after the embedding: its parts are on several devices", kEmbeddingComm},
    {"input_norm", "norm before attention", kInputNorm},
    {"qkv_proj", "product that makes queries, keys and values, or one of several whose share is not known", kQkvProj},
    {"q_proj", "product that makes queries alone", kQkvProj},
    {"k_proj", "product that makes keys alone", kQkvProj},
    {"v_proj", "product that makes values alone", kQkvProj},
    {"qk_norm", "norm of queries and keys", kQkNorm},
    {"rope", "rotary position embedding, with what is fused with it", kRope},
    {"kv_cache", "writing keys and values to the cache, its page tables", kKvCache},
    {"attention", "attention proper, its products and softmax where they are kernels of their own", kAttention},
    {"ssm", "state space model or linear attention", kSsm},
    {"o_proj", "output product of attention", kOProj},
    {"attention_comm", "communication after attention: an all-reduce where heads are on several devices",
     kAttentionComm},
    {"post_attention_norm", "norm between attention and MLP", kPostAttentionNorm},
    {"router", "product that rates the experts", kRouter},
    {"routing", "choosing experts, sorting tokens by expert", kRouting},
    {"experts", "products of the experts, with what is fused with them", kExperts},
    {"combine", "adding up the experts' results", kCombine},
    {"shared_experts", "products of an expert that every token takes", kSharedExperts},
    {"gate_up", "product into the MLP: gate and up projection, in one kernel or apart, or the only one", kGateUp},
    {"activation", "activation of the MLP, with the product of its gate", kActivation},
    {"down", "product out of the MLP", kDown},
    {"mlp_comm", "communication after the MLP or the experts", kMlpComm},
    {"post_mlp_norm", "norm after the MLP, within the layer", kPostMlpNorm},
    {"residual", "addition of the residual, as a kernel of its own", kResidual},
    {"final_norm", "norm after the last layer", kFinalNorm},
    {"lm_head", "product that makes logits", kLmHead},
    {"lm_head_comm", "communication of logits", kLmHeadComm},
    {"sampling", "logits to tokens", kSampling},
}};

}  // namespace

std::span<const RoleInfo> roles() { return kRoles; }

std::string_view to_string(RoleSource source) {
  constexpr std::string_view kNames[] = {"none", "modules", "class", "order"};
  return kNames[static_cast<std::size_t>(source)];
}

}  // namespace tracedb
