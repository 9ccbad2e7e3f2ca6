// One of the traces of a comparison: its device work in columns, divided into runs. A run is one step on one device or,
// if a trace has no steps, all its work on one device. Runs are what a comparison counts, averages and samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/large_vector.h"
#include "compare/recording.h"
#include "compare/vocabulary.h"
#include "index/index.h"
#include "passes/columns/device_events.h"
#include "passes/layers/layer_set.h"
#include "passes/steps/step_set.h"
#include "passes/tables/name_order.h"

namespace tracedb {

// Times in ns. Exactly: computation + exposed_comm + exposed_copy + idle = span.
struct Run {
  std::uint32_t step = 0;                        // place in StepSet::steps + 1; 0: the whole trace
  std::uint32_t device = 0;                      // counted from 0 in the order of the streams (DenseDevices)
  std::size_t begin = 0, end = 0;                // of Side::kernel_rows
  std::size_t memory_begin = 0, memory_end = 0;  // of Side::memory_rows
  std::int64_t first = 0, span = 0;
  std::int64_t computation = 0, exposed_comm = 0, exposed_copy = 0, idle = 0;
  std::int64_t kernel_time = 0;  // sum of durations
  [[nodiscard]] std::int64_t busy() const { return span - idle; }
};

// From a run to that of the next step, where it is of another kind (step_periods.h).
struct Transition {
  std::int64_t period = kNoTime;  // ns; kNoTime: the next step is of the same kind, or there is none
  StepKind to = StepKind::kUnknown;
};

// What the index says of a trace as a whole.
struct SideFacts {
  std::string label;       // the file's name, as short as tells it from the others
  std::string devices;     // "8 x AMD Instinct MI300X"
  std::string world_size;  // "" where the trace does not say
  bool graph_launches = false;
  NameOrder names_out_of_step;
};

struct Side {
  explicit Side(EventTables columns) : events(std::move(columns)) {}

  SideFacts facts;
  EventTables events;
  StepSet steps;
  LayerSet layers;
  std::vector<NameId> name_of;  // by name_id
  NameId memcpy_name = 0, memset_name = 0;
  std::vector<std::uint32_t> config_of;    // by launch_config_id: its number among all sides' (same_kernels.h)
  LargeVector<std::uint32_t> kernel_rows;  // those of each run together, in time order
  std::vector<std::uint32_t> memory_rows;
  std::vector<std::int64_t> kernel_own, memory_own;  // exclusive time (exclusive_time.h), by place in those
  std::vector<Run> runs;
  std::vector<std::int64_t> periods;    // by run (step_periods.h)
  std::vector<Transition> transitions;  // by run: it has this or a period, not both
  RecordedGaps recorded;
  std::int64_t kernel_time = 0;   // of all kernels, in runs or not
  std::int64_t outside_time = 0;  // of kernels in no step
  std::size_t outside_kernels = 0;

  // Of a kernel's name_id.
  [[nodiscard]] NameId name(std::uint32_t name_id) const { return name_id < name_of.size() ? name_of[name_id] : 0; }
};

// A duration as it counts in sums: nothing where it is not known, or impossible.
inline std::int64_t counted_time(std::int64_t dur) { return dur == kNullCell || dur < 0 ? 0 : dur; }

// What a row of kernels or memory operations counts as; of table kernel if `is_kernel`.
inline Work work_of(std::uint32_t kind, bool is_kernel) {
  if (is_kernel) {
    const bool comm = kind == static_cast<std::uint32_t>(StoredKernelKind::kComm) ||
                      kind == static_cast<std::uint32_t>(StoredKernelKind::kCommCompute);
    if (comm) return Work::kComm;
    return kind == static_cast<std::uint32_t>(StoredKernelKind::kCopyKernel) ? Work::kCopy : Work::kCompute;
  }
  return kind == static_cast<std::uint32_t>(StoredMemoryKind::kMemcpy) ? Work::kCopy : Work::kCompute;
}

// Cuts the events of a side into runs and measures them. `events`, `steps` and `layers` must be set; changes the order
// of layers.by_step to that of kernel_rows.
void make_runs(Side& side);

}  // namespace tracedb
