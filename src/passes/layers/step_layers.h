// The layers of one step on one device: schema/METRICS.md 8. From names (layer_sources.h), and from rhythm
// (layer_rhythm.h) for what names leave open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "base/large_vector.h"
#include "passes/layers/layer_rhythm.h"
#include "passes/layers/layer_sources.h"
#include "passes/layers/stack_table.h"
#include "passes/steps/step_set.h"

namespace tracedb {

// One stack of layers of a step on a device.
struct StepStack {
  LayerSource source = LayerSource::kNone;
  FoundStack found;
  std::int32_t first = 0;  // number that its layer 0 has before the stacks of all parts are numbered
  std::size_t layers = 0;  // seen
  std::size_t begin = 0;   // place among the rows of the part
};

// The kernels of one step on one device.
struct StepOnDevice {
  std::size_t step = 0;  // place + 1; 0: no steps at all
  std::span<const std::uint32_t> rows;
  std::vector<StepStack> stacks;  // in the order of their first kernels
  bool dropped = false;           // its steps' kind keeps other layers, or none
};

// Places [first, second) among the rows of a part.
using Stretch = std::pair<std::size_t, std::size_t>;

class StepLayerFinder {
 public:
  // `of_kernel`: by row; written by find(). All given must outlive the object; `captured` may be null.
  StepLayerFinder(const Index& index, const EventTables& events, const std::vector<Traits>& traits,
                  const CaptureLayers* captured, LargeVector<std::int32_t>& of_kernel);
  StepLayerFinder(const StepLayerFinder&) = delete;
  StepLayerFinder& operator=(const StepLayerFinder&) = delete;

  // Gives the kernels of a part layers, numbered within it, and lists its stacks. `rhythm`: whether its rhythm is that
  // of layers.
  void find(StepOnDevice& part, bool rhythm);
  LayerSources& hints() { return hints_; }

 private:
  void find_rhythm(StepOnDevice& part);
  void number_layers(std::span<const std::uint32_t> rows, const RhythmPass& pass, const RhythmPass* before,
                     const RhythmPass* after, std::int32_t first);
  void prepare_traits();
  void choose_sequence(std::span<const std::uint32_t> rows);
  void keep_stream(std::span<const std::uint32_t> rows, std::uint32_t kept);
  bool hinted(StepOnDevice& part, const LayerHint& hint, bool rhythm);
  std::vector<Stretch> bare_stretches(const StepOnDevice& part, const LayerHint& hint);
  void add_hinted(StepOnDevice& part, LayerSource source, const LayerStack& stack);
  void mark_ends(const StepOnDevice& part);

  const LayerRhythm& rhythm_of_sequence();

  struct Known {
    std::vector<Traits> sequence;
    std::vector<std::size_t> joints;
    LayerRhythm rhythm;
  };

  const EventTables& events_;
  LayerSources hints_;
  std::span<const std::uint32_t> names_;
  std::span<const std::int64_t> dur_;
  const std::vector<Traits>& all_traits_;
  LargeVector<std::int32_t>& of_kernel_;
  std::vector<Traits> traits_;       // made when rhythm is first asked for
  std::vector<Traits> sequence_;     // of the step at hand,
  std::vector<std::size_t> places_;  // where its kernels are among the step's,
  std::vector<std::size_t> joints_;  // and where kernels were left out
  std::deque<Known> known_;          // the latest ones
  std::vector<Stretch> bare_;        // of the step at hand: what no hint knows of
};

}  // namespace tracedb
