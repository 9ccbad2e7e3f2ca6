// The model a synthetic trace runs: which kernels one step launches, in which order, under which modules. Built once
// from the options; fusions, insertions, spellings and planted slowdowns are applied here and recorded.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "make_trace/options.h"

namespace tracedb {

struct KernelKind {
  std::string_view role;
  std::string_view op_class;
  std::string_view operator_name;  // innermost cpu_op that launches it
  std::int64_t fixed_ns;           // on AMD; NVIDIA takes 7/8 of it
  std::int64_t per_token_ps;
  std::int64_t block;
  std::string_view spelling;  // in --spelling; empty: the usual names
  std::array<std::array<std::string, 2>, 2>
      names;  // by vendor; in steps without and with a prefill; empty: it has none
  [[nodiscard]] std::string_view name(Vendor vendor, bool large) const {
    return names[static_cast<std::size_t>(vendor)][large ? 1 : 0];
  }
};

std::string_view kernels_table();  // kernels.tsv

// Under the usual names. nullptr when no kernel has this role.
const KernelKind* find_kernel(std::string_view role);

// Module `index` of its class is layer * per_layer + ordinal, as nn.Module frames number them.
struct ModuleRef {
  std::string_view class_name;
  int per_layer = 1;
  int ordinal = 0;
  friend bool operator==(const ModuleRef&, const ModuleRef&) = default;
};

// Where an operation is that is in no layer: before the layers, after them, or between two stacks or two passes.
constexpr int kHead = -1, kTail = -2, kBetween = -3;

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
  // What autograd runs for it: "AddmmBackward0" and the kernels. Empty where nothing is trained.
  std::string_view backward_node;
  std::vector<Operation> backward;
  bool side = false;  // on a stream beside the others, as a parallel branch of the layer
};

using Operations = std::vector<Operation>;

struct PlantedFusion {
  std::string_view names;          // options that caused it, "add+rmsnorm,rmsnorm+quant"
  std::vector<std::string> parts;  // roles it replaces
  const KernelKind* kernel = nullptr;
};

// Layers of one kind, one after the other: [first, first + count) of Model::layers.
struct Stack {
  std::string_view name;             // "vision", empty for the only stack of a server's model
  std::vector<ModuleRef> container;  // modules around the layers, below the model
  std::string_view layer_class;      // "Qwen3DecoderLayer"
  int number_from = 0;               // nn.Module numbers of its layers count from here
  Operations before = {};            // what leads to its first layer: a projection, embeddings
  int first = 0, count = 0;
};

struct Model {
  std::string_view model_class;   // "Qwen3ForCausalLM"
  std::string_view inner_class;   // "Qwen3Model"
  std::string_view forward_file;  // "vllm/model_executor/models/qwen3.py"
  Operations head = {};
  std::vector<Operations> layers = {};  // of all stacks
  std::vector<Stack> stacks = {};
  int passes = 1;            // times that the stacks run in one step
  Operations pass_end = {};  // what follows the stacks in each pass
  Operations tail = {};
  Operations optimizer = {};
  std::vector<PlantedFusion> fusions = {};
};

// Throws Error{kUsage} for an unknown fusion, spelling, class or role.
Model build_model(const TraceOptions& options);

// What --fuse and --spelling accept.
std::set<std::string> fusion_names();
std::set<std::string> spelling_names();

}  // namespace tracedb
