// The stacks of layers of one step, and the passes over them, from the rhythm of its kernels: schema/METRICS.md 8.
// Pure.
//
// A layer has one run of mixers (kernel_traits.h). Where runs of attention follow each other without an activation or
// experts between them while others have such, several runs make a layer: self-attention and cross-attention.
//
// One stack ends and another, or another pass, begins:
// 1. where tokens or patches are embedded, or tokens sampled, unless every layer does so;
// 2. where layers have more or fewer mixers from there on;
// 3. where both what precedes the mixers and what follows them changes for good. If only what follows them does, the
//    first layers of a model are dense and the others have experts; if layers of two forms alternate, it is a hybrid;
// 4. where the work between two layers exceeds that of the others by products and more, every so many layers.
// Parts with as many layers of about the same kernels are passes over one stack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "passes/classify/kernel_traits.h"

namespace tracedb {

// A layer begins with its first norm, including a residual addition right before it (so that fusing the two makes no
// difference), and contains one run of mixers (kernel_traits.h). How many kernels lie between the two follows from what
// the first layers have in common before their mixers: there the head of the step ends. The last layer is as long after
// its mixers as the others; what follows is the tail.
//
// Where the layers of a sequence begin, in order, and where its tail does. Without layers: both empty.
struct LayerCuts {
  std::vector<std::size_t> begin;
  std::size_t tail = 0;
};
LayerCuts layer_cuts(std::span<const Traits> sequence, std::vector<MixerRun> runs);  // as of mixer_runs()

// Where passes through the model begin in a sequence that may hold several (a profiler step around generated tokens):
// where an embedding, or the end of sampling, comes between two layers. At least one, at 0; in order.
std::vector<std::size_t> pass_begins(std::span<const Traits> sequence, const std::vector<MixerRun>& runs);

struct RhythmStack {
  std::size_t layers = 0, mixers = 1, passes = 0;  // mixers: runs of them in each layer
};

struct RhythmPass {
  std::size_t stack = 0;         // place in LayerRhythm::stacks
  LayerCuts cuts;                // places in the sequence
  std::size_t from = 0, to = 0;  // what is before its first layer, and behind its last, down to and up to here
  bool marked = false;           // `from` is where something is embedded, not just behind the layers before it
};

struct LayerRhythm {
  std::vector<RhythmStack> stacks;  // in the order of their first passes
  std::vector<RhythmPass> passes;   // in order
};

// `joints`: where kernels of another origin were left out of the sequence; no layer is on both sides. In order.
LayerRhythm layer_rhythm(std::span<const Traits> sequence, std::span<const std::size_t> joints = {});

// The work between the mixers of one layer and of the next, as counts of kernels by purpose. Two such stretches have
// the same form if their counts hardly differ. Pure.
struct LayerForm {
  std::vector<std::pair<Traits, std::uint32_t>> counts;  // by traits, ascending
  std::size_t kernels = 0, products = 0;
};

// 0: the same kernels; 1: none in common.
double difference(const LayerForm& a, const LayerForm& b);

// A layer: the run or runs of its mixers.
struct LayerMixers {
  MixerRun run;
  std::size_t mixers = 1;
};

// The forms of the stretches between layers: element i is that behind layer i.
class LayerForms {
 public:
  LayerForms(std::span<const Traits> sequence, std::span<const LayerMixers> layers);

  [[nodiscard]] std::size_t size() const { return class_.size(); }
  // Stretches of about one form are of one class.
  [[nodiscard]] std::size_t of(std::size_t stretch) const { return class_[stretch]; }
  [[nodiscard]] const LayerForm& form(std::size_t form_class) const { return forms_[form_class]; }
  // The most frequent one of the stretches [from, to).
  [[nodiscard]] std::size_t usual(std::size_t from, std::size_t to) const;

 private:
  std::vector<std::size_t> class_;
  std::vector<LayerForm> forms_;
};

}  // namespace tracedb
