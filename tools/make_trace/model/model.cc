#include "make_trace/model/model.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "make_trace/model/fusion.h"
#include "make_trace/model/other_models.h"
#include "make_trace/model/spellings.h"
#include "make_trace/run/step.h"

namespace tracedb {
namespace {

const KernelKind& kernel(std::string_view role) {
  const KernelKind* found = find_kernel(role);
  if (found == nullptr) throw Error(ErrorCode::kUsage, fmt::format("no kernel has the role '{}'", role));
  return *found;
}

using Modules = std::vector<ModuleRef>;

int norms_per_layer(const TraceOptions& options) { return options.qk_norm ? 4 : 2; }

void add_norm(const TraceOptions& options, std::vector<Operation>& operations, int ordinal, bool residual,
              bool quantise) {
  const Modules modules = {{"RMSNorm", norms_per_layer(options), ordinal}};
  if (residual) add_operation(operations, "residual_add", modules);
  add_operation(operations, "rms_norm", modules);
  if (quantise && options.quantised) add_operation(operations, "quant", modules);
}

void add_attention(const TraceOptions& options, std::vector<Operation>& operations) {
  const ModuleRef self = {options.moe ? "Qwen3MoeAttention" : "Qwen3Attention", 1, 0};
  const int norms = norms_per_layer(options);
  const ModuleRef attention = {"Attention", 1, 0};
  add_operation(operations, "qkv_gemm", {self, {"QKVParallelLinear", 1, 0}});
  if (options.qk_norm) {
    add_operation(operations, "q_norm", {self, {"RMSNorm", norms, 1}});
    add_operation(operations, "q_norm", {self, {"RMSNorm", norms, 2}});
  }
  add_operation(operations, "rope", {self, {"RotaryEmbedding", 1, 0}});
  add_operation(operations, "kv_cache", {self, attention});
  add_operation(operations, "prefill_attention", {self, attention}, Presence::kWithPrefill);
  add_operation(operations, "decode_attention", {self, attention}, Presence::kWithDecode);
  add_operation(operations, "decode_attention_reduce", {self, attention}, Presence::kWithDecode);
  const ModuleRef output = {"RowParallelLinear", options.moe ? 1 : 2, 0};
  if (options.quantised) add_operation(operations, "quant", {self, output});
  add_operation(operations, "o_gemm", {self, output});
  if (options.tensor_parallel > 1) add_operation(operations, "attention_all_reduce", {self, output});
}

void add_dense_mlp(const TraceOptions& options, std::vector<Operation>& operations) {
  const ModuleRef mlp = {"Qwen3MLP", 1, 0};
  const ModuleRef down = {"RowParallelLinear", 2, 1};
  add_operation(operations, "gate_up_gemm", {mlp, {"MergedColumnParallelLinear", 1, 0}});
  add_operation(operations, "silu_mul", {mlp, {"SiluAndMul", 1, 0}});
  if (options.quantised) add_operation(operations, "quant", {mlp, down});
  add_operation(operations, "down_gemm", {mlp, down});
  if (options.tensor_parallel > 1) add_operation(operations, "mlp_all_reduce", {mlp, down});
}

void add_moe(const TraceOptions& options, std::vector<Operation>& operations) {
  const ModuleRef block = {"Qwen3MoeSparseMoeBlock", 1, 0};
  const ModuleRef experts = {"FusedMoE", 1, 0};
  add_operation(operations, "router_gemm", {block, {"ReplicatedLinear", 1, 0}});
  for (const std::string_view role :
       {"topk_softmax", "moe_sort", "moe_gemm_1", "moe_silu_mul", "moe_gemm_2", "moe_sum"}) {
    add_operation(operations, role, {block, experts});
  }
  if (options.tensor_parallel > 1) add_operation(operations, "mlp_all_reduce", {block, experts});
}

// A branch beside the MLP, behind its first kernel, as a shared expert is.
void add_side_branch(std::vector<Operation>& operations, std::size_t mlp) {
  std::vector<Operation> branch;
  Modules modules = {operations[mlp].modules.front(), {"SharedExpert", 1, 0}};
  for (const std::string_view role : {"shared_gate_up_gemm", "shared_silu_mul", "shared_down_gemm"}) {
    add_operation(branch, role, modules);
    branch.back().slot += 700;
    branch.back().side = true;
  }
  operations.insert(operations.begin() + static_cast<std::ptrdiff_t>(mlp) + 1, branch.begin(), branch.end());
}

// The first layer has no residual yet, as in vLLM. Slots count from the full layer, so noise is keyed alike in all.
std::vector<Operation> unfused_layer(const TraceOptions& options, int layer) {
  std::vector<Operation> operations;
  add_norm(options, operations, 0, true, true);
  add_attention(options, operations);
  add_norm(options, operations, norms_per_layer(options) - 1, true, !options.moe);
  const std::size_t mlp = operations.size();
  if (options.moe)
    add_moe(options, operations);
  else
    add_dense_mlp(options, operations);
  if (options.jittered_streams) add_side_branch(operations, mlp);
  if (layer == 0) operations.erase(operations.begin());
  return operations;
}

bool applies(const LayerTarget& target, int layer) { return !target.layer || *target.layer == layer; }

const KernelKind& kernel_for_insert(const std::string& name) {
  if (const KernelKind* by_role = find_kernel(name)) return *by_role;
  for (const KernelKind& kind : kernel_catalogue()) {
    if (kind.op_class == name) return kind;
  }
  throw Error(ErrorCode::kUsage, fmt::format("--insert: no kernel of class or role '{}'", name));
}

void insert_kernels(const TraceOptions& options, int layer, std::vector<Operation>& operations) {
  std::int32_t slot = 1000;  // beyond any place in a layer
  for (const LayerTarget& target : options.inserts) {
    const KernelKind& kind = kernel_for_insert(target.name);
    ++slot;
    if (!applies(target, layer)) continue;
    const auto after = std::find_if(operations.begin(), operations.end(),
                                    [](const Operation& operation) { return operation.kernel->role == "o_gemm"; });
    Operation inserted;
    inserted.kernel = &kind;
    inserted.modules = after->modules;
    inserted.slot = slot;
    inserted.inserted = true;
    operations.insert(after + 1, std::move(inserted));
  }
}

void slow_down(const TraceOptions& options, int layer, std::vector<Operation>& operations) {
  for (Operation& operation : operations) {
    operation.factor_ppm = options.clock_ppm;
    for (const LayerTarget& target : options.slow) {
      const bool named = target.name == operation.kernel->op_class || target.name == operation.kernel->role;
      if (named && applies(target, layer)) operation.factor_ppm = operation.factor_ppm * target.factor_ppm / kMillion;
    }
    slow_down(options, layer, operation.backward);
  }
}

void slow_down_all(const TraceOptions& options, Model& model) {
  for (std::vector<Operation>* part : {&model.head, &model.pass_end, &model.tail, &model.optimizer}) {
    slow_down(options, kHead, *part);
  }
  for (Stack& stack : model.stacks) slow_down(options, kHead, stack.before);
  for (std::size_t layer = 0; layer < model.layers.size(); ++layer) {
    slow_down(options, static_cast<int>(layer), model.layers[layer]);
  }
}

void check_slow_names(const TraceOptions& options) {
  for (const LayerTarget& target : options.slow) {
    const auto kinds = kernel_catalogue();
    const bool known = std::any_of(kinds.begin(), kinds.end(), [&](const KernelKind& kind) {
      return kind.op_class == target.name || kind.role == target.name;
    });
    if (!known) throw Error(ErrorCode::kUsage, fmt::format("--slow: no class or role '{}'", target.name));
  }
}

std::vector<Operation> head_operations(const TraceOptions& options) {
  std::vector<Operation> operations;
  if (options.vendor == Vendor::kAmd) add_operation(operations, "copy_block_table", {});
  add_operation(operations, "embedding", {{"VocabParallelEmbedding", 1, 0}});
  return operations;
}

std::vector<Operation> tail_operations(const TraceOptions& options) {
  std::vector<Operation> operations;
  const Modules norm = {{"RMSNorm", 1, norms_per_layer(options) * options.layers}};
  add_operation(operations, "residual_add", norm);
  add_operation(operations, "final_norm", norm);
  const Modules logits = {{"LogitsProcessor", 1, 0}};
  add_operation(operations, "lm_head_gemm", logits);
  if (options.tensor_parallel > 1) add_operation(operations, "logits_all_gather", logits);
  for (const std::string_view role : {"temperature", "softmax", "sample"})
    add_operation(operations, role, {{"Sampler", 1, 0}});
  return operations;
}

Model server_model(const TraceOptions& options) {
  Model model;
  model.model_class = options.moe ? "Qwen3MoeForCausalLM" : "Qwen3ForCausalLM";
  model.inner_class = options.moe ? "Qwen3MoeModel" : "Qwen3Model";
  model.forward_file = options.moe ? "vllm/model_executor/models/qwen3_moe.py" : "vllm/model_executor/models/qwen2.py";
  model.head = head_operations(options);
  model.tail = tail_operations(options);
  Stack stack;
  stack.layer_class = options.moe ? "Qwen3MoeDecoderLayer" : "Qwen3DecoderLayer";
  stack.count = options.layers;
  model.stacks.push_back(std::move(stack));
  for (int layer = 0; layer < options.layers; ++layer) {
    std::vector<Operation> operations = unfused_layer(options, layer);
    fuse_operations(options, operations, model.fusions);
    insert_kernels(options, layer, operations);
    model.layers.push_back(std::move(operations));
  }
  fuse_operations(options, model.tail, model.fusions);
  return model;
}

}  // namespace

std::string_view to_text(Pass pass) {
  constexpr std::string_view kNames[] = {"", "forward", "backward", "optimizer"};
  return kNames[static_cast<std::size_t>(pass)];
}

void add_operation(std::vector<Operation>& operations, std::string_view role, std::vector<ModuleRef> modules,
                   Presence presence) {
  Operation operation;
  operation.kernel = &kernel(role);
  operation.modules = std::move(modules);
  operation.presence = presence;
  operation.slot = static_cast<std::int32_t>(operations.size());
  operations.push_back(std::move(operation));
}

Model build_model(const TraceOptions& options) {
  check_slow_names(options);
  Model model = options.model == ModelKind::kServe ? server_model(options) : other_model(options);
  slow_down_all(options, model);
  respell(options, model);
  return model;
}

}  // namespace tracedb
