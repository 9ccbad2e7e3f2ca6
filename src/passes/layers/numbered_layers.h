// Layers from the numbers in names of annotations and operators. Resolved once per name, never per kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "index/index.h"

namespace tracedb {

// "model.layers.12.mlp", "DecoderLayer_3", "transformer.h.7", "block 4" -> the number.
std::optional<std::int32_t> layer_number(std::string_view name);

// By id of annotation: the number of the innermost annotation around it that has one, or -1. Empty where none has.
std::vector<std::int32_t> annotation_layers(const Index& index);

// By id of cpu_op: the number of the outermost operator around it, itself included, that has one, or -1. Empty unless
// the numbers look like layers: at least two, and hardly one left out.
std::vector<std::int32_t> operator_layers(const Index& index);

}  // namespace tracedb
