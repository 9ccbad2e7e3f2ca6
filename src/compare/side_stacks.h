// One numbering of layers for all sides of a comparison: a stack of one side (layer_stacks.h) stands beside the stack
// of the same name of another, else beside one with as many layers, in order. Where each has one stack alone, those are
// the same, whatever they are called.
#pragma once

#include <vector>

#include "compare/side.h"

namespace tracedb {

// The stacks of several models under one numbering, and by model and stack the number there of its first layer.
struct JointStacks {
  LayerStacks stacks;  // `count`: of the model that has most
  std::vector<std::vector<std::int32_t>> first;
};
JointStacks join_stacks(const std::vector<LayerStacks>& models);

// Numbers the layers of every side so; afterwards all have the same stacks.
void join_layers(std::vector<Side>& sides);

}  // namespace tracedb
