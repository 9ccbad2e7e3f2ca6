// The steps of an index as the options of a command want them: --step-regex.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "passes/select/device_columns.h"
#include "passes/select/selection.h"
#include "passes/steps/step_set.h"
#include "trace_query/options.h"
#include "trace_query/rules.h"

namespace tracedb {

struct LoadedSteps {
  EventTables events;
  std::vector<Traits> traits;  // empty unless asked for, or needed to infer steps
  StepSet set;
};

// `traits`: those of the kernels are needed in any case; makes temp.kernel_class.
LoadedSteps load_steps(const Index& index, const CommandLine& line, const RulesInForce& rules, bool traits = false);

// The same with the traits at hand; makes no table.
LoadedSteps load_steps(const Index& index, const CommandLine& line, std::vector<Traits> traits);

// What a selection needs of an index before the passes over devices can run: its classes, and its steps if it names
// some.
class SelectedPlaces {
 public:
  enum class Steps { kIfNamed, kIfKnown };  // kIfKnown: also where the index has steps and the selection names none

  SelectedPlaces(const Index& index, const CommandLine& line, const RulesInForce& rules, const Selection& selection,
                 Steps steps = Steps::kIfNamed);
  SelectedPlaces(const SelectedPlaces&) = delete;
  SelectedPlaces& operator=(const SelectedPlaces&) = delete;

  [[nodiscard]] const DevicePlaces* get() const { return places_ ? &*places_ : nullptr; }  // null: not needed
  [[nodiscard]] std::vector<std::string> notes() const;

 private:
  std::optional<LoadedSteps> loaded_;
  std::optional<DevicePlaces> places_;
  bool named_;
};

std::string steps_provenance(const CommandLine& line);  // for --explain

}  // namespace tracedb
