// Layers from nn.Module frames in the python stacks. Resolved once for each distinct stack, never for each kernel.
//
// A stack of layers: the modules of one class that one module calls, several of them, each with modules of its own
// (a list of norms is none) and with attention or a state space, or else with much of the modules' time. Classes that
// take turns are one stack, a hybrid; those that follow each other are one each (double and single blocks). Two or
// three modules that each call many more of one class are not layers, but hold a stack each (encoder and decoder of
// one class). A module around one other, a wrapper, is the same layer.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "index/index.h"
#include "passes/classify/kernel_traits.h"
#include "passes/columns/event_columns.h"
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

// Which nn.Module calls which, with the kernel time below, from the frames of the Python stacks.

// A module frame: "nn.Module: Qwen2DecoderLayer_3" has name "Qwen2DecoderLayer_3" and kind "Qwen2DecoderLayer".
struct Module {
  std::string name;
  std::uint32_t kind = 0;
};

struct Modules {
  std::unordered_map<std::uint32_t, Module> by_frame;
  std::vector<std::string> kinds;
};
Modules read_modules(const Index& index);

// A module called from another one, frames of both; the outer one 0: none.
struct ModuleUse {
  std::int64_t time = 0;
  std::uint32_t first_kernel = UINT32_MAX;
  Traits traits = 0;
};
using ModuleCalls = std::map<std::pair<std::uint32_t, std::uint32_t>, ModuleUse>;  // few: one for each module

// The python stacks as far as they are modules.
class ModuleTrie {
 public:
  ModuleTrie(const Index& index, const Modules& modules);

  [[nodiscard]] std::size_t size() const { return innermost_.size(); }
  // The innermost stack at or around one that ends in a module; 0: none.
  [[nodiscard]] std::uint32_t module_at(std::uint32_t stack) const { return stack < size() ? innermost_[stack] : 0; }
  [[nodiscard]] std::uint32_t around(std::uint32_t module) const;
  [[nodiscard]] std::uint32_t frame(std::uint32_t module) const;

  [[nodiscard]] ModuleCalls calls(const StackUse& use) const;

 private:
  EventColumns stacks_;
  std::vector<std::uint32_t> innermost_;
};

}  // namespace tracedb
