#include "make_trace/model/other_models.h"

#include <algorithm>

namespace tracedb {
namespace {

using Operations = std::vector<Operation>;
using Modules = std::vector<ModuleRef>;
using BuildLayer = Operations (*)(int layer, const TraceOptions& options);

void add_all(Operations& operations, std::initializer_list<std::string_view> roles, const Modules& modules) {
  for (const std::string_view role : roles) add_operation(operations, role, modules);
}

// Norm, attention and what it adds to, as in every transformer here. `per_layer` and `ordinal` number the norms.
struct AttentionNames {
  std::string_view module, qkv_gemm, attention, out_gemm;
};

void add_attention(Operations& operations, const AttentionNames& names, int norms, int ordinal) {
  add_operation(operations, "layer_norm", {{"LayerNorm", norms, ordinal}});
  add_all(operations, {names.qkv_gemm, names.attention, names.out_gemm}, {{names.module, 1, 0}});
  add_operation(operations, "residual_add", {});
}

void add_mlp(Operations& operations, std::string_view module, std::string_view fc1, std::string_view fc2, int norms) {
  add_operation(operations, "layer_norm", {{"LayerNorm", norms, norms - 1}});
  add_all(operations, {fc1, "gelu", fc2}, {{module, 1, 0}});
  add_operation(operations, "residual_add", {});
}

Operations encoder_layer(int, const TraceOptions&) {
  Operations operations;
  add_attention(operations, {"SelfAttention", "encoder_qkv_gemm", "sdpa", "encoder_out_gemm"}, 2, 0);
  add_mlp(operations, "MLP", "encoder_fc1_gemm", "encoder_fc2_gemm", 2);
  return operations;
}

Operations text_layer(int, const TraceOptions&) {
  Operations operations;
  add_attention(operations, {"SelfAttention", "decoder_qkv_gemm", "sdpa", "decoder_out_gemm"}, 2, 0);
  add_mlp(operations, "MLP", "decoder_fc1_gemm", "decoder_fc2_gemm", 2);
  return operations;
}

// Self attention, then attention to what the encoder gave.
Operations decoder_layer(int, const TraceOptions&) {
  Operations operations;
  add_attention(operations, {"SelfAttention", "decoder_qkv_gemm", "sdpa", "decoder_out_gemm"}, 3, 0);
  add_attention(operations, {"CrossAttention", "cross_q_gemm", "cross_sdpa", "cross_out_gemm"}, 3, 1);
  add_mlp(operations, "DecoderMLP", "decoder_fc1_gemm", "decoder_fc2_gemm", 3);
  return operations;
}

// Image and text in streams of their own, attention over both.
Operations double_block(int, const TraceOptions&) {
  Operations operations;
  add_all(operations, {"modulation_gemm", "modulated_norm", "modulation_gemm", "modulated_norm"},
          {{"AdaLayerNormZero", 1, 0}});
  add_all(operations,
          {"image_qkv_gemm", "joint_qk_norm", "text_qkv_gemm", "joint_qk_norm", "joint_rope", "sdpa", "joint_out_gemm",
           "encoder_out_gemm"},
          {{"FluxAttention", 1, 0}});
  add_operation(operations, "gated_add", {});
  for (const int part : {0, 1}) {
    add_operation(operations, "modulated_norm", {{"FeedForwardNorm", 2, part}});
    const Modules feed = {{"FeedForward", 2, part}};
    if (part == 0)
      add_all(operations, {"block_fc1_gemm", "gelu", "block_fc2_gemm"}, feed);
    else
      add_all(operations, {"encoder_fc1_gemm", "gelu", "encoder_fc2_gemm"}, feed);
    add_operation(operations, "gated_add", {});
  }
  return operations;
}

Operations single_block(int, const TraceOptions&) {
  Operations operations;
  add_all(operations, {"modulation_gemm", "modulated_norm"}, {{"AdaLayerNormZeroSingle", 1, 0}});
  add_operation(operations, "single_qkv_mlp_gemm", {});
  add_operation(operations, "gelu", {});
  add_all(operations, {"joint_qk_norm", "joint_rope", "sdpa"}, {{"FluxSingleAttention", 1, 0}});
  add_operation(operations, "single_out_gemm", {});
  add_operation(operations, "gated_add", {});
  return operations;
}

struct BackwardRule {
  std::string_view role, node;
  std::initializer_list<std::string_view> kernels;
};

// What autograd runs for a kernel of the forward pass.
void add_backward(Operation& operation) {
  static const BackwardRule kBackwardRules[] = {
      {"layer_norm", "NativeLayerNormBackward0", {"layer_norm_backward", "layer_norm_weight_backward"}},
      {"sdpa", "ScaledDotProductFlashAttentionBackward0", {"sdpa_backward"}},
      {"gelu", "GeluBackward0", {"gelu_backward"}},
      {"log_softmax", "LogSoftmaxBackward0", {"log_softmax_backward"}},
      {"classifier_gemm", "MmBackward0", {"input_gradient_gemm", "weight_gradient_gemm"}},
      {"embedding", "EmbeddingBackward0", {"embedding_backward"}},
  };
  const bool linear = operation.kernel->operator_name == "aten::addmm";
  for (const BackwardRule& rule : kBackwardRules) {
    if (rule.role != operation.kernel->role) continue;
    operation.backward_node = rule.node;
    for (const std::string_view role : rule.kernels) add_operation(operation.backward, role, {});
  }
  if (operation.kernel->role == "residual_add") operation.backward_node = "AddBackward0";
  if (linear) {
    operation.backward_node = "AddmmBackward0";
    add_operation(operation.backward, "input_gradient_gemm", {});
    add_operation(operation.backward, "weight_gradient_gemm", {});
  }
  for (Operation& kernel : operation.backward) kernel.slot = operation.slot * 8 + kernel.slot + 2000;
}

// Gradients of a layer are reduced when its first norm has them.
void train(const TraceOptions& options, Model& model) {
  for (Operations* part : {&model.head, &model.tail}) {
    for (Operation& operation : *part) add_backward(operation);
  }
  for (Operations& layer : model.layers) {
    for (Operation& operation : layer) add_backward(operation);
    if (options.tensor_parallel > 1) add_operation(layer.front().backward, "gradient_all_reduce", {});
  }
  for (int bucket = 0; bucket < std::max(2, options.layers / 4); ++bucket) {
    add_operation(model.optimizer, "adam", {});
  }
}

void add_stack(Model& model, const TraceOptions& options, Stack stack, int count, BuildLayer build) {
  stack.first = static_cast<int>(model.layers.size());
  stack.count = count;
  for (int layer = 0; layer < count; ++layer) model.layers.push_back(build(layer, options));
  model.stacks.push_back(std::move(stack));
}

int second_layers(const TraceOptions& options, int otherwise) {
  return options.second_layers > 0 ? options.second_layers : std::max(1, otherwise);
}

Model trained_model(const TraceOptions& options) {
  Model model;
  model.model_class = "GPTForCausalLM";
  model.inner_class = "GPTModel";
  model.forward_file = "model.py(211): forward";
  add_operation(model.head, "embedding", {{"Embedding", 1, 0}});
  Stack stack;
  stack.layer_class = "GPTBlock";
  add_stack(model, options, stack, options.layers, encoder_layer);
  add_operation(model.tail, "layer_norm", {});
  add_operation(model.tail, "classifier_gemm", {});
  add_operation(model.tail, "log_softmax", {});
  train(options, model);
  return model;
}

// Both towers are built of one class of layer, whose numbers go on from one to the other.
Model two_towers(const TraceOptions& options) {
  Model model;
  model.model_class = "CLIPModel";
  model.forward_file = "transformers/models/clip/modeling_clip.py(888): forward";
  add_operation(model.head, "patch_convolution", {{"Conv2d", 1, 0}});
  Stack vision;
  vision.name = "vision";
  vision.container = {{"CLIPVisionTransformer", 1, 0}, {"CLIPEncoder", 1, 0}};
  vision.layer_class = "CLIPEncoderLayer";
  Stack text = vision;
  text.name = "text";
  text.container = {{"CLIPTextTransformer", 1, 0}, {"CLIPEncoder", 1, 1}};
  add_operation(text.before, "projection_gemm", {});
  add_operation(text.before, "embedding", {});
  add_stack(model, options, vision, options.layers, encoder_layer);
  add_stack(model, options, text, second_layers(options, options.layers / 2), text_layer);
  add_operation(model.tail, "layer_norm", {});
  add_operation(model.tail, "projection_gemm", {});
  add_operation(model.tail, "softmax", {});
  return model;
}

Model encoder_decoder(const TraceOptions& options) {
  Model model;
  model.model_class = "WhisperForConditionalGeneration";
  model.inner_class = "WhisperModel";
  model.forward_file = "transformers/models/whisper/modeling_whisper.py(1302): forward";
  for (int at = 0; at < 2; ++at) {
    add_operation(model.head, "patch_convolution", {{"Conv1d", 1, 0}});
    add_operation(model.head, "gelu", {});
  }
  Stack encoder;
  encoder.name = "encoder";
  encoder.container = {{"WhisperEncoder", 1, 0}};
  encoder.layer_class = "WhisperEncoderLayer";
  Stack decoder;
  decoder.name = "decoder";
  decoder.container = {{"WhisperDecoder", 1, 0}};
  decoder.layer_class = "WhisperDecoderLayer";
  decoder.number_from = options.layers;
  add_operation(decoder.before, "layer_norm", {});
  add_operation(decoder.before, "embedding", {});
  add_stack(model, options, encoder, options.layers, encoder_layer);
  add_stack(model, options, decoder, second_layers(options, options.layers), decoder_layer);
  add_operation(model.tail, "layer_norm", {});
  add_operation(model.tail, "classifier_gemm", {});
  return model;
}

Model diffusion(const TraceOptions& options) {
  Model model;
  model.model_class = "FluxTransformer2DModel";
  model.forward_file = "diffusers/models/transformers/transformer_flux.py(639): forward";
  model.passes = options.passes;
  Stack doubled;
  doubled.name = "double";
  doubled.layer_class = "FluxTransformerBlock";
  for (const std::string_view role : {"projection_gemm", "modulation_gemm", "projection_gemm"}) {
    add_operation(doubled.before, role, {});
  }
  Stack single;
  single.name = "single";
  single.layer_class = "FluxSingleTransformerBlock";
  single.number_from = options.layers;
  add_stack(model, options, doubled, options.layers, double_block);
  add_stack(model, options, single, second_layers(options, 2 * options.layers), single_block);
  for (const std::string_view role : {"modulation_gemm", "modulated_norm", "projection_gemm", "scheduler_step"}) {
    add_operation(model.pass_end, role, {});
  }
  for (int at = 0; at < 4; ++at) add_operation(model.tail, "decoder_convolution", {});
  return model;
}

}  // namespace

Model other_model(const TraceOptions& options) {
  switch (options.model) {
    case ModelKind::kVisionText:
      return two_towers(options);
    case ModelKind::kEncoderDecoder:
      return encoder_decoder(options);
    case ModelKind::kDiffusion:
      return diffusion(options);
    default:
      return trained_model(options);
  }
}

}  // namespace tracedb
