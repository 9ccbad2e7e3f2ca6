// Layers from the rhythm of the kernels within a step: schema/METRICS.md 8. Pure functions over one sequence in time
// order.
//
// A layer begins with its first norm, including a residual addition right before it (so that fusing the two makes no
// difference), and contains one run of mixers (kernel_traits.h). How many kernels lie between the two follows from what
// the first layers have in common before their mixers: there the head of the step ends. The last layer is as long after
// its mixers as the others; what follows is the tail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "passes/classify/kernel_traits.h"

namespace tracedb {

inline constexpr std::int32_t kNoLayer = -1;
inline constexpr std::int32_t kHead = -2;  // before the first layer
inline constexpr std::int32_t kTail = -3;  // behind the last

// Where the layers of a sequence begin, in order, and where its tail does. Without layers: both empty.
struct LayerCuts {
  std::vector<std::size_t> begin;
  std::size_t tail = 0;
};
LayerCuts layer_cuts(std::span<const Traits> sequence);
LayerCuts layer_cuts(std::span<const Traits> sequence, std::vector<MixerRun> runs);  // as of mixer_runs()

// Where passes through the model begin in a sequence that may hold several (a profiler step around generated tokens):
// where an embedding, or the end of sampling, comes between two layers. At least one, at 0; in order.
std::vector<std::size_t> pass_begins(std::span<const Traits> sequence, const std::vector<MixerRun>& runs);

// What kernel time says a model is.
enum class Architecture { kUnknown, kTransformer, kMoeTransformer, kSsm, kMoeSsm, kHybrid, kMoeHybrid, kConvolutional };
std::string_view to_string(Architecture architecture);

struct ClassTime {
  Traits traits = 0;
  std::int64_t time = 0;
};
Architecture architecture_of(std::span<const ClassTime> times);

}  // namespace tracedb
