// Infers the steps of a trace without step annotations from the rhythm of its kernels. Pure: spans in, steps out.
//
// Tried in this order, on the device with the most kernels:
// 1. Training: each optimizer step ends a step. The first one may warm up.
// 2. Sequence models. Layers are found by their mixers (kernel_traits.h); a step ends where sampling or embedding comes
//    between two of them or, if no name reveals those, where kernels come that recur only every L layers. A step must
//    have the same number of layers as the others; confidence is the share of steps that have it.
// 3. Graph launches that contain most of the kernels, each with the same number of them.
//
// Between two steps, the boundary is where the device, copies included, waits longest: a copy before that wait is of
// the step before, one behind it of the next.
//
// What repeats without an optimizer, without sampling and embedding and with fewer than three layers is a block of a
// model, of kind unit: no step. Nothing that is inferred has a confidence above 0.95.
//
// Incomplete steps at both ends of the trace are dropped. The kind follows from the class of the attention kernels;
// where they do not show it, it is decode if a graph was replayed with kernels that cache, embed or sample tokens,
// because servers capture graphs for decode, but a diffusion model may be replayed as well.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/large_vector.h"
#include "passes/classify/kernel_traits.h"
#include "trace/step_grammar.h"

namespace tracedb {

// Kernels in time order; ids as in EventColumns.
struct KernelSequence {
  std::span<const std::int64_t> ts, dur;
  std::span<const std::uint32_t> name, stream, launch;
  std::span<const std::uint32_t> pass;              // as in EventColumns; empty: not known
  std::span<const std::int64_t> copy_ts, copy_dur;  // of copies and fills, in time order
  std::span<const std::uint32_t> copy_stream;
  std::span<const std::uint32_t> device_of_stream;
  const std::vector<Traits>& traits;         // by name
  const std::vector<bool>& is_graph_launch;  // by launch
};

struct InferredStep {
  StepKind kind = StepKind::kUnknown;
  std::int64_t begin = 0, end = 0;  // starts of its first kernel or copy and of the first one behind it
  bool warm_up = false;             // as in StepFacts
};

// What the steps were inferred from.
enum class Rhythm { kNone, kOptimizer, kGeneration, kLayers, kGraphs };

struct InferredSteps {
  Rhythm rhythm = Rhythm::kNone;  // kGeneration: layers of a model that samples or decodes;
                                  // kLayers: of another
  std::vector<InferredStep> steps;
  double confidence = 0;
  std::string reason;  // what they come from; why there are none
};

InferredSteps infer_steps(const KernelSequence& kernels);

// By element of `ts`, which ascend: place of the step that it is in, plus 1; 0: in none.
LargeVector<std::uint32_t> steps_of_starts(std::span<const std::int64_t> ts, std::span<const InferredStep> steps);

}  // namespace tracedb
