#include "trace_query/layers.h"

#include <utility>

namespace tracedb {

std::vector<std::string> LoadedLayers::notes() const {
  std::vector<std::string> all = steps.set.notes;
  all.insert(all.end(), lent.notes.begin(), lent.notes.end());
  all.insert(all.end(), layers.notes.begin(), layers.notes.end());
  return all;
}

LoadedLayers load_layers(const Index& index, const CommandLine& line, const RulesInForce& rules,
                         const CaptureInForce* capture) {
  rules.apply(index);
  return load_layers(index, line, kernel_traits(index), capture);
}

LoadedLayers load_layers(const Index& index, const CommandLine& line, std::vector<Traits> traits,
                         const CaptureInForce* capture) {
  const bool lends = capture != nullptr && capture->given();
  LoadedLayers out{load_steps(index, line, std::move(traits)), {}, {}};
  const LoadedSteps& steps = out.steps;
  if (lends) out.lent = capture->lend(index, steps.events, steps.set);
  const LentLayers lent = lends ? lent_layers(capture->capture(), out.lent) : LentLayers{};
  out.layers = find_layers(index, steps.events, steps.set, steps.traits, lends ? &lent : nullptr);
  return out;
}

}  // namespace tracedb
