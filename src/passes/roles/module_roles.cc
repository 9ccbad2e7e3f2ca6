#include "passes/roles/module_roles.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/text/ascii.h"

namespace tracedb {
namespace {

// Words that class names hold, in lower case, and what they say.
constexpr std::array kNormWords = {"norm"};
constexpr std::array kRopeWords = {"rotary", "rope"};
constexpr std::array kEmbeddingWords = {"embed"};
constexpr std::array kActivationWords = {"silu",       "gelu",  "relu", "swiglu", "geglu",
                                         "activation", "swish", "tanh", "sigmoid"};
constexpr std::array kAttentionWords = {"attention", "attn"};
constexpr std::array kMlpWords = {"mlp", "feedforward", "ffn", "layerff", "intermediate", "gateddense", "actdense"};
constexpr std::array kExpertsWords = {"sparsemoe", "moeblock", "fusedmoe", "mixtureofexperts", "moelayer"};
constexpr std::array kLogitWords = {"lmhead", "logitsprocessor"};
constexpr std::array kLanguageModelWords = {"forcausallm", "lmheadmodel", "formaskedlm", "forconditionalgeneration"};
constexpr std::array kLinearWords = {"linear", "conv1d", "dense"};

template <std::size_t n>
bool has_any(std::string_view name, const std::array<const char*, n>& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](const char* word) { return name.find(word) != std::string_view::npos; });
}

bool holds_experts(std::string_view name) { return has_any(name, kExpertsWords) || name.ends_with("moe"); }

// "BertOnlyMLMHead"; a "BertLMHeadModel" is all of the model.
bool makes_logits(std::string_view name) { return has_any(name, kLogitWords) && !name.ends_with("model"); }

// A path of modules, lower case.
using Path = std::vector<std::string>;

template <std::size_t n>
bool any_has(const Path& path, const std::array<const char*, n>& words) {
  return std::any_of(path.begin(), path.end(), [&](const std::string& name) { return has_any(name, words); });
}

// Of the innermost module that is one. "BertOutput" is the second half of an MLP unless it is of attention.
ModulePart part_of(const Path& path) {
  bool is_output = false;
  for (auto name = path.rbegin(); name != path.rend(); ++name) {
    if (has_any(*name, kAttentionWords)) return ModulePart::kAttention;
    if (has_any(*name, kMlpWords) || holds_experts(*name)) return ModulePart::kMlp;
    is_output = is_output || name->ends_with("output");
  }
  return is_output ? ModulePart::kMlp : ModulePart::kUnknown;
}

// Of linear maps whose class says how the model is divided over devices, which tells what they are for.
Role role_of_parallel(std::string_view leaf, ModulePart part) {
  const bool is_attention = part == ModulePart::kAttention;
  if (leaf.find("qkvparallel") != std::string_view::npos) return Role::kQkvProj;
  if (leaf.find("rowparallel") != std::string_view::npos) return is_attention ? Role::kOProj : Role::kDown;
  if (is_attention) return Role::kNone;
  return leaf.find("mergedcolumnparallel") != std::string_view::npos ? Role::kGateUp : Role::kNone;
}

void mark_linear(const Path& path, ModuleMark& out) {
  const std::string& leaf = path.back();
  const auto experts = std::find_if(path.begin(), path.end(), holds_experts);
  if (leaf.find("router") != std::string::npos) out.product = Role::kRouter;
  if (path.size() > 1 && has_any(path[path.size() - 2], kLanguageModelWords)) {
    out.part = ModulePart::kLogits;
    out.product = Role::kLmHead;
  }
  if (out.product != Role::kNone || (out.part != ModulePart::kAttention && out.part != ModulePart::kMlp)) return;
  const bool in_expert = experts != path.end() && std::any_of(experts, path.end(), [](const std::string& name) {
                           return has_any(name, kMlpWords) && !holds_experts(name);
                         });
  if (!in_expert) {
    out.product = role_of_parallel(leaf, out.part);
  } else if (role_of_parallel(leaf, out.part) != Role::kNone) {
    out.product = Role::kSharedExperts;  // the others' products are not linear maps of their own
  } else {
    out.part = ModulePart::kOutside;  // one expert of many, or a shared one
  }
}

}  // namespace

ModuleMark mark_of_modules(std::span<const std::string_view> classes) {
  ModuleMark out;
  if (classes.empty()) return out;
  Path path;
  for (const std::string_view name : classes) path.push_back(ascii_lower(name));
  const std::string& leaf = path.back();
  out.part = part_of(path);
  if (std::any_of(path.begin(), path.end(), makes_logits)) {
    out.part = ModulePart::kLogits;
    out.product = Role::kLmHead;
    out.comm = Role::kLmHeadComm;
  } else if (any_has(path, kRopeWords)) {
    out.all = Role::kRope;
  } else if (any_has(path, kEmbeddingWords)) {
    out.all = Role::kEmbedding;
    out.comm = Role::kEmbeddingComm;
  } else if (leaf.find("sampler") != std::string::npos) {
    out.all = Role::kSampling;
  } else if (has_any(leaf, kNormWords)) {
    out.mark = Mark::kNorm;
  } else if (has_any(leaf, kActivationWords)) {
    out.mark = Mark::kActivation;
  } else if (has_any(leaf, kLinearWords)) {
    out.linear = true;
    mark_linear(path, out);
  }
  const bool is_known = out.linear || out.mark != Mark::kOther;
  if (out.part == ModulePart::kUnknown && is_known) out.part = ModulePart::kOutside;
  return out;
}

MarkedKernel marked(const MarkedKernel& by_class, const ModuleMark& module) {
  MarkedKernel out = by_class;
  out.part = module.part;
  const bool is_product = by_class.mark == Mark::kProduct;
  const bool is_comm = by_class.mark == Mark::kComm;
  out.linear = module.linear && is_product;
  if (is_comm) {
    out.named = module.comm;
  } else if (module.all != Role::kNone) {
    out.named = module.all;
    out.mark = Mark::kOther;
  } else if (is_product) {
    out.named = module.product;
  } else if (module.mark == Mark::kNorm) {
    out.in_norm = true;
  } else if (module.mark != Mark::kOther) {
    out.mark = module.mark;
  }
  return out;
}

}  // namespace tracedb
