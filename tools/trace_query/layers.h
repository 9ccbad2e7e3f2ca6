// Steps and layers of an index as the options of a command want them: --step-regex, --capture.
#pragma once

#include <string>
#include <vector>

#include "passes/layers/layer_set.h"
#include "trace_query/capture.h"
#include "trace_query/steps.h"

namespace tracedb {

struct LoadedLayers {
  LoadedSteps steps;
  LentLaunches lent;  // empty without a capture
  LayerSet layers;

  [[nodiscard]] std::vector<std::string> notes() const;  // of all three
};

// Makes temp.kernel_class. `capture` may be null.
LoadedLayers load_layers(const Index& index, const CommandLine& line, const RulesInForce& rules,
                         const CaptureInForce* capture);
// The same with the traits at hand; makes no table.
LoadedLayers load_layers(const Index& index, const CommandLine& line, std::vector<Traits> traits,
                         const CaptureInForce* capture);

}  // namespace tracedb
