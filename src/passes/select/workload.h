// A trace under the options of a command line: its device events with their classes, steps, layers and roles, and
// which of them a selection leaves. Each part is computed when it is first asked for, and once.
#pragma once

#include <any>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "index/index.h"
#include "passes/capture/capture.h"
#include "passes/classify/kernel_classes.h"
#include "passes/layers/layer_set.h"
#include "passes/roles/kernel_roles.h"
#include "passes/steps/step_set.h"

namespace tracedb {

// The device events that a question is about: --device --stream --step --phase --layer --op --name --from --to.

// Steps from one to another; without an end: all before or behind the other.
struct StepSpan {
  std::optional<std::int64_t> first, last;

  [[nodiscard]] bool has(std::int64_t step) const {
    return step >= first.value_or(step) && step <= last.value_or(step);
  }
};

// What is not given selects everything; of a list, what any of its members selects.
struct Selection {
  std::vector<std::int64_t> devices;  // ordinals
  std::vector<std::string> streams;   // numbers, or texts where the trace has text
  std::vector<StepSpan> steps;
  std::vector<std::string> phases;        // kinds of step; "none": in no step
  std::optional<std::string> layer;       // can_name_layers(): "3", "3..5", "T5Block:3", "head", "none" ...
  std::vector<std::string> ops;           // operation classes under the active rules, GLOBs
  std::string op_option = "--op ";        // what stands before a class on the command line: for the error
  std::optional<std::string> name_glob;   // of the name or the short name
  std::optional<std::string> name_regex;  // of the name
  std::optional<std::int64_t> from, to;   // ns; starts at or after `from`, before `to`
  bool of_several = false;                // traces: what one does not have another may

  [[nodiscard]] bool empty() const;
  // Needs to know the steps of kernels, and their layers.
  [[nodiscard]] bool names_steps() const { return !steps.empty() || !phases.empty() || layer; }
  [[nodiscard]] bool names_kernels() const { return !ops.empty() || name_glob || name_regex; }
};

// The devices and streams of traces, those on which nothing ran included.
class KnownPlaces {
 public:
  void add(const Index& index);
  // Error{kUsage} for a device or stream that none of these traces has; it says which there are.
  void require(const Selection& selection) const;

 private:
  std::set<std::int64_t> devices_;
  std::set<std::string> streams_;
  bool unnumbered_ = false;  // a device has no number
};

// By place of the step + 1, whether the selection asks for it by number and kind; [0]: for what is in none.
std::vector<bool> selected_steps(const StepSet& set, const Selection& selection);

// What --from and --to of a selection are about.
enum class Times {
  kOfStart,  // like its other parts: what starts outside is left out
  kWindow,   // not the filter's business: events are cut off at both (window_of())
};

// What a filter looks at besides the events; null: the selection does not ask for it.
struct FilterInputs {
  const EventTables& events;
  const KernelClasses* classes = nullptr;
  const StepSet* steps = nullptr;
  const LayerSet* layers = nullptr;
};

// The tests on small tables are made once; what is left per event is a few look-ups. Everything given must outlive the
// filter.
class EventFilter {
 public:
  // Error{kUsage} where the selection names layers that these are not (layer_range()), a device or stream that the
  // trace does not have, or a class that the rules do not have; it says which there are.
  EventFilter(const Index& index, const Selection& selection, const FilterInputs& inputs, Times times);

  [[nodiscard]] bool keeps_all() const { return all_; }
  [[nodiscard]] bool keeps_kernel(std::size_t row) const {
    return all_ || (has(names_, kernels_.name, row) && kernels_.keeps(*this, row) && keeps_layer(row));
  }
  // Memory operations have no kernel name: a selection of names leaves them out.
  [[nodiscard]] bool keeps_memory_op(std::size_t row) const {
    return all_ || (keeps_memory_ && memory_.keeps(*this, row));
  }
  [[nodiscard]] bool keeps(const EventRef& event) const {
    return event.is_memory_op ? keeps_memory_op(event.id - 1) : keeps_kernel(event.id - 1);
  }

 private:
  using Ids = std::vector<bool>;  // by id
  using IdColumn = std::span<const std::uint32_t>;

  // The columns of one table that are looked at; empty: no test.
  struct Table {
    std::span<const std::int64_t> ts;
    IdColumn name, stream, step;

    [[nodiscard]] bool keeps(const EventFilter& filter, std::size_t row) const {
      return has(filter.streams_, stream, row) && has(filter.steps_, step, row) &&
             (ts.empty() || (ts[row] >= filter.from_ && ts[row] < filter.to_));
    }
  };

  static bool has(const Ids& ids, IdColumn column, std::size_t row) {
    return column.empty() || (column[row] < ids.size() && ids[column[row]]);
  }
  [[nodiscard]] bool keeps_layer(std::size_t row) const {
    return layers_ == nullptr || ((*layers_)[row] >= first_layer_ && (*layers_)[row] <= last_layer_);
  }

  bool all_ = false;
  bool keeps_memory_ = true;
  Ids names_, streams_;
  Ids steps_;  // by place of the step + 1; 0: in none
  std::int64_t from_ = std::numeric_limits<std::int64_t>::min(), to_ = std::numeric_limits<std::int64_t>::max();
  Table kernels_, memory_;
  const LargeVector<std::int32_t>* layers_ = nullptr;  // null: all are kept
  std::int32_t first_layer_ = 0, last_layer_ = 0;
};

struct WorkloadOptions {
  Selection selection = {};
  StepOptions steps = {};
  const CaptureSource* capture = nullptr;  // of --capture; may be null
  const EventTables* events = nullptr;     // of the index, where somebody has read them; must outlive the object
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
  Workload& operator=(Workload&&) = delete;

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
  std::any& step_times() { return step_times_; }  // what passes/tables/breakdown_tables.cc keeps for its tables

  // What the selection leaves, or would leave if it asked for no steps. Valid as long as this object.
  EventFilter filter(Times times = Times::kOfStart, bool by_step = true);

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
  std::any step_times_;
  bool steps_told_ = false, layers_told_ = false;
};

// Gives the workload when it is first needed.
using WorkloadSource = std::function<Workload&()>;

}  // namespace tracedb
