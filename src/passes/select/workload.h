// A trace under the options of a command line: its device events with their classes, steps, layers and roles, and
// which of them a selection leaves. Each part is computed when it is first asked for, and once.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "index/index.h"
#include "passes/capture/capture.h"
#include "passes/classify/kernel_classes.h"
#include "passes/layers/layer_set.h"
#include "passes/roles/kernel_roles.h"
#include "passes/select/selection.h"
#include "passes/steps/step_set.h"

namespace tracedb {

struct WorkloadOptions {
  Selection selection = {};
  StepOptions steps = {};
  const CaptureSource* capture = nullptr;  // of --capture; may be null
};

// The parts of a workload, computed.
struct WorkloadParts {
  KernelClasses classes;
  EventTables events;
  StepSet steps;
  LayerSet layers;
  KernelRoles roles;
};

// The index, the rules and the capture must outlive the object. One thread at a time.
class Workload {
 public:
  Workload(const Index& index, const ActiveRules& rules, WorkloadOptions options = {});
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;

  [[nodiscard]] const Index& index() const { return index_; }
  [[nodiscard]] const ActiveRules& rules() const { return rules_; }
  [[nodiscard]] const Selection& selection() const { return options_.selection; }
  [[nodiscard]] const CaptureSource* capture() const { return options_.capture; }

  const KernelClasses& classes();
  const EventTables& events();
  const StepSet& steps();
  const ReplayOrigins& origins();  // nothing without a capture
  const LayerSet& layers();
  const KernelRoles& roles();

  // What the selection leaves. Valid as long as this object.
  EventFilter filter(Times times = Times::kOfStart);

  // All of them; what is asked for later is computed again.
  WorkloadParts take();

  // What a reader must know of the steps, origins and layers.
  std::vector<std::string> layer_notes();
  std::vector<std::string> missing_notes();    // of steps that the selection names and the trace does not have
  std::vector<std::string> selection_notes();  // these, and the others as far as the selection names steps or layers
  // Notes of what was computed since the last call: "steps: ...", "layers: ...".
  std::vector<std::string> take_notes();

 private:
  const Index& index_;
  const ActiveRules& rules_;
  const WorkloadOptions options_;
  std::optional<KernelClasses> classes_;
  std::optional<EventTables> events_;
  std::optional<StepSet> steps_;
  std::optional<ReplayOrigins> origins_;
  std::optional<LayerSet> layers_;
  std::optional<KernelRoles> roles_;
  bool steps_told_ = false, layers_told_ = false;
};

// Gives the workload when it is first needed.
using WorkloadSource = std::function<Workload&()>;

}  // namespace tracedb
