// The stacks of layers of a trace, combined from those of each kind of steps. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "passes/layers/layer_stacks.h"

namespace tracedb {

// A stack as the steps of one kind have it.
struct FoundStack {
  std::string name;        // "": unnamed
  std::int32_t width = 0;  // numbers that its layers take: as many as there are, or more where some were not seen
  std::size_t mixers = 0;  // runs of mixers in each of its layers; 0: not known
  std::size_t passes = 1;
};

struct StackTable {
  LayerStacks stacks;
  std::vector<std::vector<std::size_t>> place;  // by kind and its stack: place in `stacks`
};
// Stacks of two kinds are the same if they have the same name, else the same width and mixers, else the same width;
// where both have as many, the others are by order.
StackTable make_stack_table(const std::vector<std::vector<FoundStack>>& kinds);

}  // namespace tracedb
