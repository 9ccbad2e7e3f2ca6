// The layer of every kernel: schema/METRICS.md 8. Sources for each step and device, in this order: modules of the
// Python stacks, numbered annotations, numbered operators around the launch, a capture (capture.h), the rhythm of the
// kernels (layer_rhythm.h). Work before the first layer of a step is its head, work after the last its tail; in
// between, and outside of steps, a kernel may have no layer.
//
// Where modules cover only a part of a step, the rhythm of the rest provides the other layers: a compiled transformer
// after text encoders.
//
// A kind of steps keeps its layers only if 95 % of its steps agree on their number, or on that of their largest stack;
// a step that deviates has none. Steps of kind train get no layers from rhythm: a backward pass has none of its own.
//
// Stacks of different kinds of steps are the same if they have the same name, else if they have as many layers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "passes/layers/layer_sources.h"
#include "passes/layers/stack_table.h"
#include "passes/steps/step_set.h"

namespace tracedb {

struct PhaseLayers {
  StepKind kind = StepKind::kUnknown;
  bool in_steps = true;  // false: a trace without steps, taken as a whole
  std::size_t steps = 0, agreeing = 0;
  std::size_t layers = 0;            // of all stacks and steps; 0: none, or not accepted
  LayerStacks stacks;                // as these steps have them, numbered as in LayerSet
  std::vector<LayerSource> sources;  // ascending
};

struct LayerSet {
  LargeVector<std::int32_t> of_kernel;  // by row: 0, 1, 2 ... through all stacks, or kNoLayer, kHead, kTail
  LayerStacks stacks;
  std::size_t layers = 0;              // of all stacks, the most of any kind of steps
  std::vector<PhaseLayers> phases;     // in the order of StepKind
  double coverage = 0;                 // share of kernel time that is in a layer
  LargeVector<std::uint32_t> by_step;  // rows of kernels ordered by step (those in none first), in time order in each
  std::vector<std::string> notes;
};

// `captured`: those of a capture, by row of kernel; may be null.
LayerSet find_layers(const Index& index, const EventTables& events, const StepSet& steps,
                     const std::vector<Traits>& traits, const CaptureLayers* captured = nullptr);

}  // namespace tracedb
