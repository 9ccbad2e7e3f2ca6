// Layers known from names: modules in Python stacks, numbered annotations, numbered operators
// (module_layers.h), and origins from a capture (capture.h). Resolved once per distinct stack, annotation or operator.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "index/index.h"
#include "passes/classify/kernel_traits.h"
#include "passes/columns/event_columns.h"
#include "passes/layers/stack_table.h"

namespace tracedb {

enum class LayerSource { kNone, kModules, kAnnotations, kOperators, kCapture, kRhythm };
std::string_view to_string(LayerSource source);  // none, modules, annotations, operators, capture, rhythm

// Kernels, or the calls that launch some.
struct Launched {
  const EventColumns& rows;                     // of table kernel or runtime_call
  std::span<const std::int64_t> weight;         // by row, ns
  const std::vector<Traits>* traits = nullptr;  // of kernels, by name; null: not known
};

struct LayerHint {
  LayerSource source = LayerSource::kNone;
  std::string text;                   // "24 modules Qwen2DecoderLayer in Qwen2Model_0"
  std::span<const std::uint32_t> id;  // by row: an index into `layers`; empty: that is the row itself
  std::span<const std::int32_t> layers;
  LayerStacks stacks;  // that `layers` are numbered through; "": a stack without a name

  [[nodiscard]] std::int32_t of(std::size_t row) const {
    const std::size_t at = id.empty() ? row : id[row];
    return at < layers.size() ? layers[at] : kNoLayer;
  }
};

// Layers of kernels of graph replays, from a capture, and their stacks.
struct CaptureLayers {
  std::vector<std::int32_t> of_row;  // kNoLayer where it has none
  LayerStacks stacks;
};

// The hints there are, best first. Each is looked for when it is asked for: operators are not read where modules do.
class LayerSources {
 public:
  // `captured` may be null. All given must outlive the object.
  LayerSources(const Index& index, const Launched& launched, const CaptureLayers* captured = nullptr);
  LayerSources& operator=(LayerSources&&) = delete;

  [[nodiscard]] const LayerHint* get(std::size_t place);  // null: there are no more

 private:
  void add_named();
  void add_operators();
  void add_captured();

  const Index& index_;
  const Launched launched_;
  const CaptureLayers* captured_;
  std::vector<std::int32_t> named_layers_, operator_layers_, loop_layers_;
  std::vector<LayerHint> found_;
  std::size_t looked_ = 0;  // kinds of hints looked for so far
};

// From the number in a name of an annotation or operator. Resolved once per name, never per kernel.
// "model.layers.12.mlp", "DecoderLayer_3", "transformer.h.7", "block 4" -> the number.
std::optional<std::int32_t> layer_number(std::string_view name);

// By id of annotation: the number of the innermost annotation around it that has one, or -1. Empty where none has.
std::vector<std::int32_t> annotation_layers(const Index& index);

// By id of cpu_op: the number of the outermost operator around it, itself included, that has one, or -1. Empty unless
// the numbers look like layers: at least two, and hardly one left out.
std::vector<std::int32_t> operator_layers(const Index& index);

}  // namespace tracedb
