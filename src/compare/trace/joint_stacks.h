// One numbering of layers for all traces of a comparison: a stack of one trace (layer_stacks.h) matches the stack of
// the same name in another, else one with as many layers, in order. If each has only one stack, those match whatever
// their names.
#pragma once

#include <vector>

#include "passes/layers/layer_set.h"

namespace tracedb {

// The stacks of several models under one numbering, and by model and stack the number there of its first layer.
struct JointStacks {
  LayerStacks stacks;  // `count`: of the model that has most
  std::vector<std::vector<std::int32_t>> first;
};
JointStacks join_stacks(const std::vector<LayerStacks>& models);

// The layers of several traces, renumbered so: all have the same stacks.
std::vector<LayerSet> join_layers(std::vector<LayerSet> traces);

}  // namespace tracedb
