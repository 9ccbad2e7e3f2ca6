#include "trace_query/steps.h"

#include <utility>

namespace tracedb {
namespace {

bool has_steps(const Index& index) { return index.database().query_int64("SELECT id FROM step LIMIT 1").has_value(); }

}  // namespace

LoadedSteps load_steps(const Index& index, const CommandLine& line, const RulesInForce& rules, bool traits) {
  const bool classified = traits || needs_traits(index, {line.text("step-regex")});
  if (classified) rules.apply(index);
  return load_steps(index, line, classified ? kernel_traits(index) : std::vector<Traits>{});
}

LoadedSteps load_steps(const Index& index, const CommandLine& line, std::vector<Traits> traits) {
  LoadedSteps out{EventTables(index), std::move(traits), {}};
  out.set = load_steps(index, {line.text("step-regex")}, out.events, out.traits);
  return out;
}

SelectedPlaces::SelectedPlaces(const Index& index, const CommandLine& line, const RulesInForce& rules,
                               const Selection& selection, Steps steps)
    : named_(selection.names_steps()) {
  if (selection.op) rules.apply(index);
  const bool known = steps == Steps::kIfKnown && (line.has("step-regex") || has_steps(index));
  if (!named_ && !known) return;
  loaded_.emplace(load_steps(index, line, rules));
  places_.emplace(DevicePlaces{loaded_->events, loaded_->set});
}

std::vector<std::string> SelectedPlaces::notes() const {
  return named_ ? loaded_->set.notes : std::vector<std::string>();
}

std::string steps_provenance(const CommandLine& line) {
  if (const auto pattern = line.text("step-regex")) {
    return "steps: annotations that match " + *pattern + " (src/passes/steps/pattern_steps.h)";
  }
  return "steps: table step, nested annotations counted once; where it is empty, inferred from the rhythm of the "
         "kernels (src/passes/steps/step_set.h)";
}

}  // namespace tracedb
