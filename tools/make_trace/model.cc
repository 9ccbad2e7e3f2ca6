#include "make_trace/model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/text/split.h"

namespace tracedb {
namespace {

// ---- the kernels of kernels.tsv

std::string written_out(std::string_view name, const std::map<char, std::string_view>& short_for) {
  std::string out;
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (name[at] == '$') {
      out += short_for.at(name[++at]);
    } else {
      out += name[at];
    }
  }
  return out;
}

std::vector<KernelKind> read_catalogue() {
  std::vector<KernelKind> all;
  std::map<char, std::string_view> short_for;
  for (const std::string_view line : split_lines(kernels_table())) {
    if (line.starts_with('#')) continue;
    std::vector<std::string_view> cells = split_text(line, '\t');
    if (line.starts_with('$')) {
      short_for[line[1]] = cells[1];
      continue;
    }
    cells.resize(9);
    const auto number = [&](std::size_t i) { return std::stoll(std::string(cells[i])); };
    KernelKind& kind =
        all.emplace_back(KernelKind{cells[0], cells[1], cells[2], number(3), number(4), number(5), cells[8], {}});
    for (const std::size_t vendor : {std::size_t{0}, std::size_t{1}}) {
      const std::string_view own = cells[6 + vendor], name = own == "-" ? "" : own.empty() ? cells[6] : own;
      const auto bar = name.find('|');
      kind.names[vendor] = {written_out(name.substr(0, bar), short_for),
                            written_out(name.substr(bar == name.npos ? 0 : bar + 1), short_for)};
    }
    for (const KernelKind& other : all) {
      if (cells[6].starts_with('=') && cells[6].substr(1) == other.role) kind.names = other.names;
    }
  }
  return all;
}

// Other spellings of a role come behind its usual names.
std::span<const KernelKind> kernel_catalogue() {
  static const std::vector<KernelKind> kAll = read_catalogue();
  return kAll;
}

// ---- what runs them

using Modules = std::vector<ModuleRef>;

struct FusionRule {
  std::string_view needs;  // names in --fuse
  std::string_view parts;  // roles in order
  std::string_view fused;
};

// Longer runs first: the first rule that matches at a place wins.
constexpr FusionRule kFusionRules[] = {
    {"allreduce+rmsnorm,rmsnorm+quant", "attention_all_reduce residual_add rms_norm quant",
     "all_reduce_add_rms_norm_quant"},
    {"qk_norm+rope,rope+kvcache", "q_norm q_norm rope kv_cache", "qk_norm_rope_kv_cache"},
    {"allreduce+rmsnorm", "attention_all_reduce residual_add rms_norm", "all_reduce_add_rms_norm"},
    {"add+rmsnorm,rmsnorm+quant", "residual_add rms_norm quant", "add_rms_norm_quant"},
    {"qk_norm+rope", "q_norm q_norm rope", "qk_norm_rope"},
    {"add+rmsnorm", "residual_add rms_norm", "add_rms_norm"},
    {"add+rmsnorm", "residual_add final_norm", "add_rms_norm"},
    {"rmsnorm+quant", "rms_norm quant", "rms_norm_quant"},
    {"silu+quant", "silu_mul quant", "silu_mul_quant"},
    {"rope+kvcache", "rope kv_cache", "rope_kv_cache"},
    {"moe_routing", "topk_softmax moe_sort", "fused_routing"},
    {"moe_gemm+silu", "moe_gemm_1 moe_silu_mul", "moe_gemm_silu"},
};

// What autograd runs for a kernel of the forward pass, named by its role or its operator.
struct BackwardRule {
  std::string_view forward, node, kernels;
};

constexpr BackwardRule kBackwardRules[] = {
    {"layer_norm", "NativeLayerNormBackward0", "layer_norm_backward layer_norm_weight_backward"},
    {"sdpa", "ScaledDotProductFlashAttentionBackward0", "sdpa_backward"},
    {"gelu", "GeluBackward0", "gelu_backward"},
    {"log_softmax", "LogSoftmaxBackward0", "log_softmax_backward"},
    {"classifier_gemm", "MmBackward0", "input_gradient_gemm weight_gradient_gemm"},
    {"embedding", "EmbeddingBackward0", "embedding_backward"},
    {"residual_add", "AddBackward0", ""},
    {"aten::addmm", "AddmmBackward0", "input_gradient_gemm weight_gradient_gemm"},
};

// Operations of one module, none where the name is empty.
struct Part {
  ModuleRef module;
  std::string_view roles;
};

constexpr std::array<Part, 6> layer_of(std::string_view attention, std::string_view mlp) {
  return {{{{"LayerNorm", 2, 0}, "layer_norm"},
           {{"SelfAttention"}, attention},
           {{}, "residual_add"},
           {{"LayerNorm", 2, 1}, "layer_norm"},
           {{"MLP"}, mlp},
           {{}, "residual_add"}}};
}
constexpr auto kEncoderLayer =
    layer_of("encoder_qkv_gemm sdpa encoder_out_gemm", "encoder_fc1_gemm gelu encoder_fc2_gemm");
constexpr auto kTextLayer =
    layer_of("decoder_qkv_gemm sdpa decoder_out_gemm", "decoder_fc1_gemm gelu decoder_fc2_gemm");
// Self attention, then attention to what the encoder gave.
constexpr Part kDecoderLayer[] = {
    {{"LayerNorm", 3, 0}, "layer_norm"},
    {{"SelfAttention"}, "decoder_qkv_gemm sdpa decoder_out_gemm"},
    {{}, "residual_add"},
    {{"LayerNorm", 3, 1}, "layer_norm"},
    {{"CrossAttention"}, "cross_q_gemm cross_sdpa cross_out_gemm"},
    {{}, "residual_add"},
    {{"LayerNorm", 3, 2}, "layer_norm"},
    {{"DecoderMLP"}, "decoder_fc1_gemm gelu decoder_fc2_gemm"},
    {{}, "residual_add"},
};
// Image and text in streams of their own, attention over both.
constexpr Part kDoubleBlock[] = {
    {{"AdaLayerNormZero"}, "modulation_gemm modulated_norm modulation_gemm modulated_norm"},
    {{"FluxAttention"},
     "image_qkv_gemm joint_qk_norm text_qkv_gemm joint_qk_norm joint_rope sdpa joint_out_gemm encoder_out_gemm"},
    {{}, "gated_add"},
    {{"FeedForwardNorm", 2, 0}, "modulated_norm"},
    {{"FeedForward", 2, 0}, "block_fc1_gemm gelu block_fc2_gemm"},
    {{}, "gated_add"},
    {{"FeedForwardNorm", 2, 1}, "modulated_norm"},
    {{"FeedForward", 2, 1}, "encoder_fc1_gemm gelu encoder_fc2_gemm"},
    {{}, "gated_add"},
};
constexpr Part kSingleBlock[] = {
    {{"AdaLayerNormZeroSingle"}, "modulation_gemm modulated_norm"},
    {{}, "single_qkv_mlp_gemm gelu"},
    {{"FluxSingleAttention"}, "joint_qk_norm joint_rope sdpa"},
    {{}, "single_out_gemm gated_add"},
};

void add(Operations& operations, const Modules& modules, std::string_view roles) {
  for (const std::string& role : split_list(roles, ' ')) {
    Operation operation;
    operation.kernel = find_kernel(role);
    if (operation.kernel == nullptr) throw Error(ErrorCode::kUsage, fmt::format("no kernel has the role '{}'", role));
    operation.modules = modules;
    if (role == "prefill_attention") operation.presence = Presence::kWithPrefill;
    if (role.starts_with("decode_attention")) operation.presence = Presence::kWithDecode;
    operation.slot = static_cast<std::int32_t>(operations.size());
    operations.push_back(std::move(operation));
  }
}

Operations operations_of(std::string_view roles) {
  Operations operations;
  add(operations, {}, roles);
  return operations;
}

// ---- a server's model

int norms_per_layer(const TraceOptions& options) { return options.qk_norm ? 4 : 2; }

void add_norm(const TraceOptions& options, Operations& operations, int ordinal, bool quantise) {
  add(operations, {{"RMSNorm", norms_per_layer(options), ordinal}},
      quantise && options.quantised ? "residual_add rms_norm quant" : "residual_add rms_norm");
}

void add_attention(const TraceOptions& options, Operations& operations) {
  const ModuleRef self = {options.moe ? "Qwen3MoeAttention" : "Qwen3Attention"};
  const ModuleRef output = {"RowParallelLinear", options.moe ? 1 : 2};
  add(operations, {self, {"QKVParallelLinear"}}, "qkv_gemm");
  for (const int ordinal : {1, 2}) {
    if (options.qk_norm) add(operations, {self, {"RMSNorm", norms_per_layer(options), ordinal}}, "q_norm");
  }
  add(operations, {self, {"RotaryEmbedding"}}, "rope");
  add(operations, {self, {"Attention"}}, "kv_cache prefill_attention decode_attention decode_attention_reduce");
  add(operations, {self, output}, options.quantised ? "quant o_gemm" : "o_gemm");
  if (options.tensor_parallel > 1) add(operations, {self, output}, "attention_all_reduce");
}

void add_mlp(const TraceOptions& options, Operations& operations) {
  const ModuleRef block = {options.moe ? "Qwen3MoeSparseMoeBlock" : "Qwen3MLP"};
  const ModuleRef last = options.moe ? ModuleRef{"FusedMoE"} : ModuleRef{"RowParallelLinear", 2, 1};
  if (options.moe) {
    add(operations, {block, {"ReplicatedLinear"}}, "router_gemm");
    add(operations, {block, last}, "topk_softmax moe_sort moe_gemm_1 moe_silu_mul moe_gemm_2 moe_sum");
  } else {
    add(operations, {block, {"MergedColumnParallelLinear"}}, "gate_up_gemm");
    add(operations, {block, {"SiluAndMul"}}, "silu_mul");
    add(operations, {block, last}, options.quantised ? "quant down_gemm" : "down_gemm");
  }
  if (options.tensor_parallel > 1) add(operations, {block, last}, "mlp_all_reduce");
}

// A branch beside the MLP, behind its first kernel, as a shared expert is.
void add_side_branch(Operations& operations, std::size_t mlp) {
  Operations branch;
  add(branch, {operations[mlp].modules.front(), {"SharedExpert"}},
      "shared_gate_up_gemm shared_silu_mul shared_down_gemm");
  for (Operation& operation : branch) {
    operation.slot += 700;
    operation.side = true;
  }
  operations.insert(operations.begin() + static_cast<std::ptrdiff_t>(mlp) + 1, branch.begin(), branch.end());
}

// The first layer has no residual yet, as in vLLM. Slots count from the full layer, so noise is keyed alike in all.
Operations unfused_layer(const TraceOptions& options, int layer) {
  Operations operations;
  add_norm(options, operations, 0, true);
  add_attention(options, operations);
  add_norm(options, operations, norms_per_layer(options) - 1, !options.moe);
  const std::size_t mlp = operations.size();
  add_mlp(options, operations);
  if (options.jittered_streams) add_side_branch(operations, mlp);
  if (layer == 0) operations.erase(operations.begin());
  return operations;
}

// Number of operations the rule replaces at `at`; 0 when it does not apply.
std::size_t matched_length(const std::vector<std::string>& parts, const Operations& operations, std::size_t at) {
  if (at + parts.size() > operations.size()) return 0;
  const auto is_role = [](const std::string& role, const Operation& operation) {
    return operation.kernel->role == role;
  };
  const auto first = operations.begin() + static_cast<std::ptrdiff_t>(at);
  return std::equal(parts.begin(), parts.end(), first, is_role) ? parts.size() : 0;
}

int planted_index(const FusionRule& rule, std::vector<PlantedFusion>& planted) {
  const auto known = std::ranges::find_if(planted, [&](const PlantedFusion& other) {
    return other.kernel->role == rule.fused && other.parts == split_list(rule.parts, ' ');
  });
  const auto index = static_cast<int>(known - planted.begin());
  if (known == planted.end()) planted.push_back({rule.needs, split_list(rule.parts, ' '), find_kernel(rule.fused)});
  return index;
}

// Replaces every run of operations that an enabled fusion covers.
void fuse_operations(const TraceOptions& options, Operations& operations, std::vector<PlantedFusion>& planted) {
  for (std::size_t at = 0; at < operations.size(); ++at) {
    for (const FusionRule& rule : kFusionRules) {
      const std::vector<std::string> needs = split_list(rule.needs);
      const bool enabled =
          std::ranges::all_of(needs, [&](const std::string& name) { return options.fusions.contains(name); });
      const std::size_t length = enabled ? matched_length(split_list(rule.parts, ' '), operations, at) : 0;
      if (length == 0) continue;
      operations[at].kernel = find_kernel(rule.fused);
      operations[at].fusion = planted_index(rule, planted);
      operations[at].slot += 500;  // a kernel of its own, with noise of its own
      const auto first = operations.begin() + static_cast<std::ptrdiff_t>(at);
      operations.erase(first + 1, first + static_cast<std::ptrdiff_t>(length));
      break;
    }
  }
}

const KernelKind& kernel_for_insert(const std::string& name) {
  if (const KernelKind* by_role = find_kernel(name)) return *by_role;
  for (const KernelKind& kind : kernel_catalogue()) {
    if (kind.op_class == name) return kind;
  }
  throw Error(ErrorCode::kUsage, fmt::format("--insert: no kernel of class or role '{}'", name));
}

bool applies(const LayerTarget& target, int layer) { return !target.layer || *target.layer == layer; }

void insert_kernels(const TraceOptions& options, int layer, Operations& operations) {
  std::int32_t slot = 1000;  // beyond any place in a layer
  for (const LayerTarget& target : options.inserts) {
    const KernelKind& kind = kernel_for_insert(target.name);
    ++slot;
    if (!applies(target, layer)) continue;
    const auto after =
        std::ranges::find_if(operations, [](const Operation& operation) { return operation.kernel->role == "o_gemm"; });
    Operation inserted;
    inserted.kernel = &kind;
    inserted.modules = after->modules;
    inserted.slot = slot;
    inserted.inserted = true;
    operations.insert(after + 1, std::move(inserted));
  }
}

Model server_model(const TraceOptions& options) {
  const bool moe = options.moe;
  Model model{moe ? "Qwen3MoeForCausalLM" : "Qwen3ForCausalLM", moe ? "Qwen3MoeModel" : "Qwen3Model",
              moe ? "vllm/model_executor/models/qwen3_moe.py" : "vllm/model_executor/models/qwen2.py"};
  if (options.vendor == Vendor::kAmd) add(model.head, {}, "copy_block_table");
  add(model.head, {{"VocabParallelEmbedding"}}, "embedding");
  model.stacks.push_back({"", {}, moe ? "Qwen3MoeDecoderLayer" : "Qwen3DecoderLayer", 0, {}, 0, options.layers});
  for (int layer = 0; layer < options.layers; ++layer) {
    model.layers.push_back(unfused_layer(options, layer));
    fuse_operations(options, model.layers.back(), model.fusions);
    insert_kernels(options, layer, model.layers.back());
  }
  add(model.tail, {{"RMSNorm", 1, norms_per_layer(options) * options.layers}}, "residual_add final_norm");
  add(model.tail, {{"LogitsProcessor"}},
      options.tensor_parallel > 1 ? "lm_head_gemm logits_all_gather" : "lm_head_gemm");
  add(model.tail, {{"Sampler"}}, "temperature softmax sample");
  fuse_operations(options, model.tail, model.fusions);
  return model;
}

// ---- other models

void add_backward(Operations& operations) {
  for (Operation& operation : operations) {
    for (const BackwardRule& rule : kBackwardRules) {
      if (rule.forward != operation.kernel->role && rule.forward != operation.kernel->operator_name) continue;
      operation.backward_node = rule.node;
      operation.backward = operations_of(rule.kernels);
    }
    for (Operation& kernel : operation.backward) kernel.slot = operation.slot * 8 + kernel.slot + 2000;
  }
}

void add_stack(Model& model, Stack stack, int count, std::span<const Part> layer) {
  stack.first = static_cast<int>(model.layers.size());
  stack.count = count;
  Operations operations;
  for (const Part& part : layer) {
    add(operations, part.module.class_name.empty() ? Modules() : Modules{part.module}, part.roles);
  }
  model.layers.insert(model.layers.end(), static_cast<std::size_t>(count), operations);
  model.stacks.push_back(std::move(stack));
}

int second_layers(const TraceOptions& options, int otherwise) {
  return options.second_layers > 0 ? options.second_layers : std::max(1, otherwise);
}

// Gradients of a layer are reduced when its first norm has them.
Model trained_model(const TraceOptions& options) {
  Model model{"GPTForCausalLM", "GPTModel", "model.py(211): forward"};
  add(model.head, {{"Embedding"}}, "embedding");
  add_stack(model, {"", {}, "GPTBlock"}, options.layers, kEncoderLayer);
  model.tail = operations_of("layer_norm classifier_gemm log_softmax");
  add_backward(model.head);
  for (Operations& layer : model.layers) {
    add_backward(layer);
    if (options.tensor_parallel > 1) add(layer.front().backward, {}, "gradient_all_reduce");
  }
  add_backward(model.tail);
  for (int bucket = 0; bucket < std::max(2, options.layers / 4); ++bucket) add(model.optimizer, {}, "adam");
  return model;
}

// Both towers are built of one class of layer, whose numbers go on from one to the other.
Model two_towers(const TraceOptions& options) {
  Model model{"CLIPModel", "", "transformers/models/clip/modeling_clip.py(888): forward"};
  add(model.head, {{"Conv2d"}}, "patch_convolution");
  add_stack(model, {"vision", {{"CLIPVisionTransformer"}, {"CLIPEncoder"}}, "CLIPEncoderLayer"}, options.layers,
            kEncoderLayer);
  add_stack(model,
            {"text",
             {{"CLIPTextTransformer"}, {"CLIPEncoder", 1, 1}},
             "CLIPEncoderLayer",
             0,
             operations_of("projection_gemm embedding")},
            second_layers(options, options.layers / 2), kTextLayer);
  model.tail = operations_of("layer_norm projection_gemm softmax");
  return model;
}

Model encoder_decoder(const TraceOptions& options) {
  Model model{"WhisperForConditionalGeneration", "WhisperModel",
              "transformers/models/whisper/modeling_whisper.py(1302): forward"};
  for (int at = 0; at < 2; ++at) {
    add(model.head, {{"Conv1d"}}, "patch_convolution");
    add(model.head, {}, "gelu");
  }
  add_stack(model, {"encoder", {{"WhisperEncoder"}}, "WhisperEncoderLayer"}, options.layers, kEncoderLayer);
  add_stack(
      model,
      {"decoder", {{"WhisperDecoder"}}, "WhisperDecoderLayer", options.layers, operations_of("layer_norm embedding")},
      second_layers(options, options.layers), kDecoderLayer);
  model.tail = operations_of("layer_norm classifier_gemm");
  return model;
}

// Double and single blocks, which run several times in a step.
Model diffusion(const TraceOptions& options) {
  Model model{"FluxTransformer2DModel", "", "diffusers/models/transformers/transformer_flux.py(639): forward"};
  model.passes = options.passes;
  add_stack(model,
            {"double", {}, "FluxTransformerBlock", 0, operations_of("projection_gemm modulation_gemm projection_gemm")},
            options.layers, kDoubleBlock);
  add_stack(model, {"single", {}, "FluxSingleTransformerBlock", options.layers},
            second_layers(options, 2 * options.layers), kSingleBlock);
  model.pass_end = operations_of("modulation_gemm modulated_norm projection_gemm scheduler_step");
  model.tail = operations_of("decoder_convolution decoder_convolution decoder_convolution decoder_convolution");
  return model;
}

// By ModelKind.
constexpr Model (*kModelMakers[])(const TraceOptions&) = {server_model, trained_model, two_towers, encoder_decoder,
                                                          diffusion};

// ---- what is planted in it

// By its role, its class, or what that is one of: attention is attention_prefill and attention_decode too.
bool names(const LayerTarget& target, const KernelKind& kind) {
  return target.name == kind.op_class || target.name == kind.role || kind.op_class.starts_with(target.name + "_");
}

void check_names(const TraceOptions& options) {
  for (const LayerTarget& target : options.slow) {
    const bool known =
        std::ranges::any_of(kernel_catalogue(), [&](const KernelKind& kind) { return names(target, kind); });
    if (!known) throw Error(ErrorCode::kUsage, fmt::format("--slow: no class or role '{}'", target.name));
  }
  const auto check_known = [](std::string_view option, const auto& names, const auto& known) {
    for (const std::string& name : names) {
      if (known.contains(name)) continue;
      throw Error(ErrorCode::kUsage, fmt::format("--{}: '{}' is not one of {}", option, name, fmt::join(known, " ")));
    }
  };
  check_known("fuse", options.fusions, fusion_names());
  check_known("spelling", options.spellings, spelling_names());
}

// The clock, and what is slower than that.
void slow_down(const TraceOptions& options, int layer, Operations& operations) {
  for (Operation& operation : operations) {
    operation.factor_ppm = options.clock_ppm;
    for (const LayerTarget& target : options.slow) {
      if (!names(target, *operation.kernel) || !applies(target, layer)) continue;
      operation.factor_ppm = operation.factor_ppm * target.factor_ppm / kMillion;
    }
    slow_down(options, layer, operation.backward);
  }
}

// The kernel under the name that an enabled spelling has for its role. Roles, and with them the ground truth of what is
// done, stay.
const KernelKind* respelled(const TraceOptions& options, const KernelKind* kernel) {
  for (const KernelKind& kind : kernel_catalogue()) {
    if (kind.role == kernel->role && options.spellings.contains(std::string(kind.spelling))) return &kind;
  }
  return kernel;
}

}  // namespace

const KernelKind* find_kernel(std::string_view role) {
  for (const KernelKind& kind : kernel_catalogue()) {
    if (kind.role == role) return &kind;
  }
  return nullptr;
}

std::set<std::string> fusion_names() {
  std::set<std::string> names;
  for (const FusionRule& rule : kFusionRules) {
    for (const std::string& name : split_list(rule.needs)) names.insert(name);
  }
  return names;
}

std::set<std::string> spelling_names() {
  std::set<std::string> names;
  for (const KernelKind& kind : kernel_catalogue()) names.emplace(kind.spelling);
  names.erase("");
  return names;
}

Model build_model(const TraceOptions& options) {
  check_names(options);
  Model model = kModelMakers[static_cast<std::size_t>(options.model)](options);
  std::vector<Operations*> outside = {&model.head, &model.pass_end, &model.tail, &model.optimizer};
  for (Stack& stack : model.stacks) outside.push_back(&stack.before);
  for (Operations* part : outside) slow_down(options, kHead, *part);
  for (std::size_t layer = 0; layer < model.layers.size(); ++layer) {
    slow_down(options, static_cast<int>(layer), model.layers[layer]);
  }
  for (Operations& layer : model.layers) outside.push_back(&layer);
  for (Operations* part : outside) {
    for (Operation& operation : *part) operation.kernel = respelled(options, operation.kernel);
  }
  for (PlantedFusion& fusion : model.fusions) fusion.kernel = respelled(options, fusion.kernel);
  return model;
}

}  // namespace tracedb
