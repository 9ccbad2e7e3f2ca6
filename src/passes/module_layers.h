// Layers from what the trace says of them: nn.Module frames in the python stacks, numbered annotations and
// operators. Resolved once for each distinct stack, annotation or operator, never for each kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "index/index.h"

namespace tracedb {

// Layers by modules: the module under which the most kernel time is in modules of repeated kinds is taken to hold the
// layers, its children of those kinds, in the order in which they first launch a kernel. Hybrid models have several
// kinds.
struct ModuleLayers {
  std::vector<std::int32_t> of_stack;  // by id of stack: layer, or -1
  std::size_t layers = 0;
  std::string container;  // "Qwen2Model_0"; "" where there are none
  std::string kinds;      // "Qwen2DecoderLayer"
};

// By stack id: kernel time, and the first kernel's row + 1 (0: no kernel).
struct StackUse {
  std::vector<std::int64_t> time;
  std::vector<std::uint32_t> first_kernel;
};
ModuleLayers module_layers(const Index& index, const StackUse& use);

// "model.layers.12.mlp", "DecoderLayer_3", "transformer.h.7", "block 4" -> the number.
std::optional<std::int32_t> layer_number(std::string_view name);

// By id of annotation: the number of the innermost annotation around it that has one, or -1. Empty where none has.
std::vector<std::int32_t> annotation_layers(const Index& index);

// By id of cpu_op: the number of the outermost operator around it, itself included, that has one, or -1. Empty unless
// the numbers look like layers: at least two, and hardly one left out.
std::vector<std::int32_t> operator_layers(const Index& index);

}  // namespace tracedb
