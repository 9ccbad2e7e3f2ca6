// Layers from nn.Module frames in the python stacks. Resolved once for each distinct stack, never for each kernel.
//
// A stack of layers: the modules of one class that one module calls, several of them, each with modules of its own
// (a list of norms is none) and with attention or a state space, or else with much of the modules' time. Classes that
// take turns are one stack, a hybrid; those that follow each other are one each (double and single blocks). Two or
// three modules that each call many more of one class are not layers, but hold a stack each (encoder and decoder of
// one class). A module around one other, a wrapper, is the same layer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "index/index.h"
#include "passes/classify/kernel_traits.h"
#include "passes/layers/stack_table.h"

namespace tracedb {

struct ModuleLayers {
  std::vector<std::int32_t> of_stack;  // by id of python stack: layer, numbered through the stacks of layers, or -1
  LayerStacks stacks;                  // in the order in which they first launch a kernel; so are the layers of each
  std::string text;                    // "24 modules Qwen2DecoderLayer in Qwen2Model_0"; "" where there are none
};

// By id of python stack: kernel time, the first kernel's row + 1 (0: no kernel), and what its kernels are for. `traits`
// is empty where that is not known.
struct StackUse {
  std::vector<std::int64_t> time;
  std::vector<std::uint32_t> first_kernel;
  std::vector<Traits> traits;
};
ModuleLayers module_layers(const Index& index, const StackUse& use);

}  // namespace tracedb
