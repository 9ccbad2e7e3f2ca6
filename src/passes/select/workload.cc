#include "passes/select/workload.h"

#include <utility>

namespace tracedb {
namespace {

void append(std::vector<std::string>& all, const std::vector<std::string>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

Workload::Workload(const Index& index, const ActiveRules& rules, WorkloadOptions options)
    : index_(index), rules_(rules), options_(std::move(options)) {}

const KernelClasses& Workload::classes() {
  if (!classes_) classes_.emplace(index_, rules_.compiled());
  return *classes_;
}

const EventTables& Workload::events() {
  if (!events_) events_.emplace(index_);
  return *events_;
}

const StepSet& Workload::steps() {
  if (!steps_) {
    const bool by_rhythm = needs_traits(index_, options_.steps);
    steps_ = load_steps(index_, options_.steps, events(), by_rhythm ? classes().traits() : std::vector<Traits>());
  }
  return *steps_;
}

const ReplayOrigins& Workload::origins() {
  if (!origins_) {
    origins_.emplace();
    if (options_.capture != nullptr) origins_ = match_capture(*options_.capture, index_, events(), steps());
  }
  return *origins_;
}

const LayerSet& Workload::layers() {
  if (!layers_) {
    const CaptureSource* capture = options_.capture;
    CaptureLayers captured;
    if (capture != nullptr) captured = layers_of_origins(capture->capture, origins());
    layers_ = find_layers(index_, events(), steps(), classes().traits(), capture == nullptr ? nullptr : &captured);
  }
  return *layers_;
}

const KernelRoles& Workload::roles() {
  if (!roles_) roles_ = find_roles(index_, events(), steps(), layers(), classes(), rules_.get());
  return *roles_;
}

WorkloadParts Workload::take() {
  classes();
  layers();
  WorkloadParts parts{*std::exchange(classes_, std::nullopt), *std::exchange(events_, std::nullopt),
                      *std::exchange(steps_, std::nullopt), *std::exchange(layers_, std::nullopt),
                      std::exchange(roles_, std::nullopt).value_or(KernelRoles{})};
  return parts;
}

EventFilter Workload::filter(Times times) {
  const Selection& selection = options_.selection;
  const FilterInputs inputs{events(), !selection.ops.empty() ? &classes() : nullptr,
                            selection.names_steps() ? &steps() : nullptr, selection.layer ? &layers() : nullptr};
  return {index_, selection, inputs, times};
}

std::vector<std::string> Workload::layer_notes() {
  std::vector<std::string> notes = steps().notes;
  append(notes, origins().notes);
  append(notes, layers().notes);
  return notes;
}

std::vector<std::string> Workload::selection_notes() {
  if (!options_.selection.names_steps()) return {};
  std::vector<std::string> out = options_.selection.layer ? layer_notes() : steps().notes;
  append(out, missing_notes());
  return out;
}

std::vector<std::string> Workload::missing_notes() {
  const Selection& selection = options_.selection;
  if (selection.steps.empty() && selection.phases.empty()) return {};
  return missing_steps(selection, steps());
}

std::vector<std::string> Workload::take_notes() {
  std::vector<std::string> out;
  if (layers_ && !std::exchange(layers_told_, true)) {
    for (const std::string& note : layer_notes()) out.push_back("layers: " + note);
    steps_told_ = true;
  }
  if (steps_ && !std::exchange(steps_told_, true)) {
    for (const std::string& note : steps_->notes) out.push_back("steps: " + note);
  }
  return out;
}

}  // namespace tracedb
