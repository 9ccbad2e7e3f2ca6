// The model a synthetic trace runs: which kernels one step launches, in which order, under which modules. Built once
// from the options; fusions, insertions and planted slowdowns are applied here and recorded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "make_trace/model/kernel_catalogue.h"
#include "make_trace/trace_options.h"

namespace tracedb {

// Module `index` of its class is layer * per_layer + ordinal, as nn.Module frames number them.
struct ModuleRef {
  std::string_view class_name;
  int per_layer = 1;
  int ordinal = 0;
  friend bool operator==(const ModuleRef&, const ModuleRef&) = default;
};

// When an operation takes part in a step.
enum class Presence { kAlways, kWithPrefill, kWithDecode };

// Which part of a training step.
enum class Pass { kNone, kForward, kBackward, kOptimizer };
std::string_view to_text(Pass pass);

struct Operation {
  const KernelKind* kernel = nullptr;
  std::vector<ModuleRef> modules;  // outermost first, below the decoder layer
  Presence presence = Presence::kAlways;
  std::int64_t factor_ppm = kMillion;  // clock and planted slowdown together
  std::int32_t slot = 0;               // place in the unfused layer: the key of its noise
  int fusion = -1;                     // index into Model::fusions
  bool inserted = false;
  // What autograd runs for it: "AddmmBackward0" and the kernels. Empty where nothing is trained.
  std::string_view backward_node;
  std::vector<Operation> backward;
  bool side = false;  // on a stream beside the others, as a parallel branch of the layer
};

struct PlantedFusion {
  std::string names;               // options that caused it, "add+rmsnorm,rmsnorm+quant"
  std::vector<std::string> parts;  // roles it replaces
  const KernelKind* kernel = nullptr;
};

// Layers of one kind, one after the other: [first, first + count) of Model::layers.
struct Stack {
  std::string_view name;             // "vision", empty for the only stack of a server's model
  std::vector<ModuleRef> container;  // modules around the layers, below the model
  std::string_view layer_class;      // "Qwen3DecoderLayer"
  int first = 0, count = 0;
  int number_from = 0;            // nn.Module numbers of its layers count from here
  std::vector<Operation> before;  // what leads to its first layer: a projection, embeddings
};

struct Model {
  std::vector<Operation> head;
  std::vector<std::vector<Operation>> layers;  // of all stacks
  std::vector<Stack> stacks;
  int passes = 1;                   // times that the stacks run in one step
  std::vector<Operation> pass_end;  // what follows the stacks in each pass
  std::vector<Operation> tail;
  std::vector<Operation> optimizer;
  std::vector<PlantedFusion> fusions;
  std::string_view model_class;   // "Qwen3ForCausalLM"
  std::string_view inner_class;   // "Qwen3Model"
  std::string_view forward_file;  // "vllm/model_executor/models/qwen3.py"
};

// Throws Error{kUsage} for an unknown fusion, class or role.
Model build_model(const TraceOptions& options);

void add_operation(std::vector<Operation>& operations, std::string_view role, std::vector<ModuleRef> modules,
                   Presence presence = Presence::kAlways);

// Names --fuse accepts.
std::vector<std::string_view> fusion_names();

}  // namespace tracedb
