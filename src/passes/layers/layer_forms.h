// The work between the mixers of one layer and of the next, as counts of kernels by purpose. Two such stretches have
// the same form if their counts hardly differ. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "passes/classify/kernel_traits.h"
#include "passes/classify/mixer_runs.h"

namespace tracedb {

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
