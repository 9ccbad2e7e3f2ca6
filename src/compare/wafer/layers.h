// Layers of the operation and layer tables. Each marker kernel (an attention kernel of prefill, or a scan of an SSM)
// begins a layer that lasts until the next one; layers count through the whole trace. Kept by correlation: all kernels
// of a graph launch are of the layer of its last one, kernels without a correlation of none.
//
// Without any layer, each correlation with at least 70 kernels, attention and GEMM among them, is one.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "compare/wafer/trace.h"

namespace tracedb::wafer {

class LayerMap {
 public:
  [[nodiscard]] std::optional<std::uint32_t> layer_of(const Kernel& kernel) const {
    const auto found = layers_.find(kernel.correlation);
    if (found == layers_.end()) return std::nullopt;
    return found->second;
  }
  void put(std::int64_t correlation, std::uint32_t layer) { layers_[correlation] = layer; }
  // Correlations that have a layer: what that tool reports as the number of layers.
  [[nodiscard]] std::size_t size() const { return layers_.size(); }
  void reserve(std::size_t size) { layers_.reserve(size); }

 private:
  std::unordered_map<std::int64_t, std::uint32_t> layers_;
};

LayerMap find_layers(const Trace& trace);

// The kind of model, by parts of kernel names anywhere in a trace: one kernel is enough.
enum class Architecture { kUnknown, kTransformer, kSsm, kHybrid };

Architecture architecture_of(const Trace& trace);
Architecture architecture_of(const Trace& first, const Trace& second);  // of the names of both together

std::string_view to_string(Architecture architecture);

}  // namespace tracedb::wafer
