// One of the traces of a comparison: its device work in columns, divided into device steps. A device step is one step
// on one device or, if a trace has no steps, all its work on one device. A comparison counts,
// averages and samples device steps.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compare/trace/device_steps.h"
#include "compare/trace/kernel_name_table.h"
#include "compare/trace/recording.h"
#include "index/index.h"
#include "passes/layers/layer_set.h"
#include "passes/roles/kernel_roles.h"
#include "passes/select/workload.h"
#include "passes/tables/name_order.h"
#include "passes/time/timeline.h"
#include "trace/format_holds.h"

namespace tracedb {

// A trace as a whole.
struct TraceDescription {
  std::string label;                   // the file's name, as short as tells it from the others
  std::string devices;                 // "8 x AMD Instinct MI300X"
  std::string world_size;              // "" where the trace does not say
  std::optional<bool> graph_launches;  // nullopt: it records no launches
  NameOrder names_out_of_step;
  IdleSums idle;                    // of its devices from the first to the last step
  std::string without_device = {};  // see without_device()
  bool cycles = false;              // what times count, in place of ns
  FormatHolds holds = format_holds("");
  LostKernels lost_kernels = {};
  bool without_copies = false;  // they are left out: the format of another trace holds none
};

struct ComparedTrace {
  TraceDescription description;
  EventTables events;
  StepSet steps = {};
  LayerSet layers = {};  // numbered like those of the other traces (joint stacks); `by_step` has moved to `work`
  StepWork work = {};
  StepPeriods periods = {};
  RecordedGaps recorded = {};
  TraceNumbers numbers = {};
  KernelRoles roles = {};
  RecordedWork recorded_work = {};  // of what load_traces() read; else empty

  [[nodiscard]] NameId name(std::uint32_t name_id) const { return numbers.name(name_id); }
};

struct TraceSource {
  const Index& index;  // must outlive the trace
  std::string label;
};

// All traces of a comparison, with one numbering of kernel names, launch configurations and layers.
struct ComparedTraces {
  KernelNameTable kernel_names;
  LaunchConfigTable configs;
  std::vector<ComparedTrace> traces;  // in the order of the sources
};
ComparedTraces load_traces(std::span<const TraceSource> sources, const StepOptions& options, const RuleSet& rules);

// One trace by itself, as far as its workload's selection leaves it. Takes the parts of the workload.
ComparedTraces take_trace(Workload& workload, const std::string& label);

// One numbering of layers for all traces of a comparison: a stack of one trace (stack_table.h) matches the stack of
// the same name in another, else one with as many layers, in order. If each has only one stack, those match whatever
// their names.

// The stacks of several models under one numbering, and by model and stack the number there of its first layer.
struct JointStacks {
  LayerStacks stacks;  // `count`: of the model that has most
  std::vector<std::vector<std::int32_t>> first;
};
JointStacks join_stacks(const std::vector<LayerStacks>& models);

}  // namespace tracedb
