// The model a synthetic trace runs: which kernels one step launches, in which order, under which modules. Built once
// from the options; fusions, insertions and planted slowdowns are applied here and recorded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "make_trace/kernel_catalogue.h"
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

struct Operation {
  const KernelKind* kernel = nullptr;
  std::vector<ModuleRef> modules;  // outermost first, below the decoder layer
  Presence presence = Presence::kAlways;
  std::int64_t factor_ppm = kMillion;  // clock and planted slowdown together
  std::int32_t slot = 0;               // place in the unfused layer: the key of its noise
  int fusion = -1;                     // index into Model::fusions
  bool inserted = false;
  bool side = false;  // on a stream beside the others, as a parallel branch of the layer
};

struct PlantedFusion {
  std::string names;               // options that caused it, "add+rmsnorm,rmsnorm+quant"
  std::vector<std::string> parts;  // roles it replaces
  const KernelKind* kernel = nullptr;
};

struct Model {
  std::vector<Operation> head;
  std::vector<std::vector<Operation>> layers;
  std::vector<Operation> tail;
  std::vector<PlantedFusion> fusions;
  std::string_view model_class;   // "Qwen3ForCausalLM"
  std::string_view inner_class;   // "Qwen3Model"
  std::string_view layer_class;   // "Qwen3DecoderLayer"
  std::string_view forward_file;  // "vllm/model_executor/models/qwen3.py"
};

// Throws Error{kUsage} for an unknown fusion, class or role.
Model build_model(const TraceOptions& options);

// Names --fuse accepts.
std::vector<std::string_view> fusion_names();

}  // namespace tracedb
