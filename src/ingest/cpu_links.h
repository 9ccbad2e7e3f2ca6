// First link pass: one sweep in time order over everything that happens on CPU threads. Finds for each operator its
// parent, for each python call its path, for each runtime call the operator, the python path, the annotation and the
// step around it, and emits the rows of annotation, cpu_op, python_call and runtime_call.
//
// Rules. Parents and enclosing intervals are those of the same thread that are open at the event's start. A runtime
// call belongs to the open operator with its External id, else to the innermost one. A python frame's parent is the
// open frame with its `Python parent id` (on its own thread first, then on the process's other threads: hooks run
// there), else the innermost open frame.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ingest/external_id_table.h"
#include "ingest/external_sorter.h"
#include "ingest/open_intervals.h"
#include "ingest/row_stream.h"
#include "ingest/stack_trie.h"
#include "ingest/trace_store.h"
#include "trace/event_names.h"
#include "trace/step_grammar.h"

namespace tracedb {

// A runtime call with what was found around it, for the join with the kernels it launched.
struct LaunchRecord {
  std::int64_t correlation, ts, external_id;
  std::uint32_t call, process, cpu_op, stack, annotation, step;
  std::uint32_t graph_step;  // step open on another thread of the process; only for graph launches without a step
  CallKind kind;
};

struct StepRow {
  std::uint32_t annotation = 0;
  std::uint32_t name = 0;
  StepInfo info;
  std::int64_t ts = 0, end = 0;
  bool from_device = false;  // only its image on the device is in the trace
  std::uint32_t first_kernel = 0, last_kernel = 0;
};

// An annotation on a stream that marks a step.
struct DeviceStepInterval {
  std::int64_t ts, end;
  std::uint32_t stream, step;
};

struct CpuLinks {
  std::vector<StepRow> steps;  // ids from 1, in time order
  std::vector<DeviceStepInterval> device_steps;
  StackTrie stacks;
  std::vector<std::uint32_t> frames;  // string id of each frame, ids from 1
  ExternalSorter<LaunchRecord, ByCorrelation> launches;
  std::vector<std::uint32_t> calling_processes;  // processes with runtime calls
  // Operator by External id, per process: for kernels whose launch is not in the trace.
  std::vector<ExternalIdTable> operator_by_external_id;

  explicit CpuLinks(const SpoolOptions& options) : launches(options) {}
};

// Reads the store's sorters to their end; adds to its issues.
void link_cpu_events(TraceStore& store, RowStream& rows, CpuLinks& links);

}  // namespace tracedb
