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

// A kernel, copy or fill of a device step.
struct StepEvent {
  std::uint32_t row = 0;  // of its table
  bool is_memory = false;
  NameId name = 0;
  Work work = Work::kCompute;
  std::int64_t time = 0, own = 0;  // ns: duration, exclusive time
  std::int32_t layer = kNoLayer;
  Role role = Role::kNone;
  [[nodiscard]] std::int64_t accounted() const { return accounted_time(work, time, own); }
};

// Calls visit(StepEvent) for the kernels of a device step, then for its copies and fills.
template <class Visit>
void for_each_event(const ComparedTrace& trace, const DeviceStep& step, Visit visit) {
  const auto dur = trace.events.kernels.int64s("dur"), memory_dur = trace.events.memory.int64s("dur");
  const auto kind = trace.events.kernels.ids("kind"), memory_kind = trace.events.memory.ids("kind");
  const auto name = trace.events.kernels.ids("name_id");
  for (const std::uint32_t row : trace.work.kernels(step)) {
    visit(StepEvent{row, false, trace.name(name[row]), work_of_kernel(kind[row]), duration_or_zero(dur[row]),
                    trace.work.kernel_own[row], trace.layers.of_kernel[row], trace.roles.of(row).role});
  }
  for (const std::uint32_t row : trace.work.memory(step)) {
    const Work work = work_of_memory(memory_kind[row]);
    visit(StepEvent{row, true, work == Work::kCopy ? trace.numbers.memcpy : trace.numbers.memset, work,
                    duration_or_zero(memory_dur[row]), trace.work.memory_own[row]});
  }
}

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
