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

// Prefill and decode by the names of annotations: "execute_context_1(4096)_generation_0(0)" is a prefill.

// Of all annotations on the CPU, these are forward passes.
inline constexpr std::string_view kPassPrefix = "execute_context";

// The number in parentheses in the part behind "context", parts being what underscores separate; else 0.
std::int64_t token_count(std::string_view annotation);

// Prefill: there are tokens, and "generation_0" is in the name (as it is in "generation_01"). All else is decode.
Phase phase_of(std::string_view annotation);

// Each kernel's phase by its own start on the device: that of the last pass that begins at or before it, if the kernel
// starts within; else decode.
void assign_phases(Trace& trace);

// Nothing: both phases.
using PhaseFilter = std::optional<Phase>;
inline bool passes(PhaseFilter filter, const Kernel& kernel) { return !filter || *filter == kernel.phase; }

std::string_view to_string(Phase phase);

}  // namespace tracedb::wafer
