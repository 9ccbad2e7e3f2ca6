// The stacks of layers of a trace, combined from those of each kind of steps. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

// In place of the number of a layer, of what is in none.
inline constexpr std::int32_t kNoLayer = -1;
inline constexpr std::int32_t kHead = -2;  // before the first layer
inline constexpr std::int32_t kTail = -3;  // behind the last

// The stacks of layers that a model has: one for most, several where it has an encoder and a decoder, a vision and a
// text tower, double and single diffusion blocks. Layers are numbered through over all stacks, so that a layer is one
// number everywhere; for readers it is a stack and an index within it.
struct LayerStack {
  std::string name;         // the modules' class, "T5Stack_1.T5Block" where that is not one stack; else "stack 1" ...
  std::int32_t first = 0;   // number of its layer 0
  std::int32_t count = 0;   // numbers that its layers take
  std::size_t passes = 1;   // how often most steps that have it run through it; a pass begins at its first layers again
  std::int32_t unseen = 0;  // of its numbers: those that no kernel has

  [[nodiscard]] std::int32_t layers() const { return count - unseen; }
  [[nodiscard]] bool has(std::int32_t layer) const { return layer >= first && layer - first < count; }
};

using LayerStacks = std::vector<LayerStack>;  // in the order of their numbers, which is that of their first kernels

const LayerStack* stack_of(std::int32_t layer, const LayerStacks& stacks);  // null: of none

// "7", "[head]", "[tail]", "[no layer]"; "T5Block:7" where there are several stacks.
std::string layer_label(std::int32_t layer, const LayerStacks& stacks);
std::string layers_label(const std::vector<std::int32_t>& layers, const LayerStacks& stacks);  // "0,2..78"

// "24", "24 x 4 passes"; with the name before it where there are several.
std::string stack_text(const LayerStack& stack, bool named);

// Layers `first` to `last`, as numbered through; kHead, kTail and kNoLayer are ranges of their own.
struct LayerRange {
  std::int32_t first = 1, last = 0;
};
// Whether a text can mean layers in some trace: "3", "3..5", "..5", "3..", "head", "tail", "none", "T5Block:3..5",
// "T5Block".
bool can_name_layers(std::string_view text);
// What it means where these are the stacks. Error{kUsage}: a number that several stacks have, an unknown stack. "0.."
// is every layer of every stack.
LayerRange layer_range(std::string_view text, const LayerStacks& stacks);

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
