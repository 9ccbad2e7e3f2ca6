// First link pass: one sweep in time order over everything that happens on CPU threads. Finds for each operator its
// parent, for each python call its path, for each runtime call the operator, the python path, the annotation and the
// step around it, and emits the rows of annotation, cpu_op, python_call and runtime_call.
//
// Rules. Parents and enclosing intervals are those of the same thread that are open at the event's start. A runtime
// call belongs to the open operator with its External id, else to the innermost one. Python frames nest by time
// (open_intervals.h); `Python parent id` decides between frames with the same times only. The step of a call is the
// innermost one on its thread, else as in process_marks.h.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/dense_index.h"
#include "ingest/link/flow_links.h"
#include "ingest/link/launch_table.h"
#include "ingest/link/open_intervals.h"
#include "ingest/link/pass_finder.h"
#include "ingest/link/row_stream.h"
#include "ingest/store/external_id_table.h"
#include "ingest/store/trace_store.h"
#include "trace/process_marks.h"
#include "trace/step_grammar.h"

namespace tracedb {

// Which annotations mark which step of the workload. Read before the link passes, because what one annotation means
// depends on others.
//
// Rules. On a CPU thread every annotation with a step's name is a step. One on a stream is the image of the step with
// its External id and name; without a usable id (none, or one that several steps of that name have) it is the n-th step
// of its name if the stream has as many such images as one process has steps of that name, else of no step, which is
// counted. Where no such step is on the CPU side, images of one External id, or overlapping in time on several streams,
// make one step of their own.

struct StepRow {
  std::uint32_t annotation = 0;
  StepInfo info;
  std::int64_t ts = 0;
  std::uint32_t first_kernel = 0, last_kernel = 0;
};

// An annotation on a stream that marks a step.
struct DeviceStepInterval {
  std::int64_t ts, end;
  std::uint32_t stream, step;
};

struct StepAnnotation {
  std::uint32_t annotation;  // its place among all annotations in time order, from 1: the row it becomes
  std::uint32_t step;        // from 1, into StepAnnotations::steps; 0: cannot be told
  StepScope scope;
};

struct StepAnnotations {
  std::vector<StepRow> steps;                 // ids from 1, in time order
  std::vector<DeviceStepInterval> on_device;  // in time order
  std::vector<StepAnnotation> marks;          // every annotation with a step's name, in time order
};

// Distinct call paths as a trie: a path is its parent path plus one frame. Ids from 1 in order of first appearance, so
// a parent's id is always smaller than its children's.

class StackTrie {
 public:
  struct Node {
    std::uint32_t parent;  // 0: outermost
    std::uint32_t frame;
    std::uint32_t depth;  // 1: outermost
  };

  // The path `parent` (0: none) extended by `frame`.
  std::uint32_t child(std::uint32_t parent, std::uint32_t frame) {
    const auto [index, is_new] = index_.index_of(std::uint64_t{parent} << 32U | frame);
    if (is_new) nodes_.push_back({parent, frame, parent == 0 ? 1 : nodes_[parent - 1].depth + 1});
    return index + 1;
  }

  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }

 private:
  std::vector<Node> nodes_;
  DenseIndex index_;
};

// A call of a module that no other module made: a forward pass begins.
struct ModuleCall {
  std::int64_t ts, dur;
  std::uint32_t thread, name;
};

struct CpuLinks {
  StepAnnotations steps;
  StackTrie stacks;
  std::vector<std::uint32_t> frames;     // string id of each frame, ids from 1
  std::vector<ModuleCall> module_calls;  // in time order
  LaunchSorter launches;
  std::size_t calling_processes = 0;         // processes with runtime calls
  OperatorTable operator_by_external_id;     // for kernels whose launch is not in the trace
  std::vector<PassOrigin> pass_of_operator;  // by id - 1
  struct OperatorPlace {
    std::uint32_t annotation, step;
  };
  std::vector<OperatorPlace> place_of_operator;  // by id - 1; empty where no launch is lost
  std::vector<std::uint32_t>
      stack_of_operator;             // by id, as far as there is one: of operators that have their own; 0: not
  std::optional<PassFinder> passes;  // finished

  explicit CpuLinks(const SpoolOptions& options) : launches(options) {}
};

// Reads the store's sorters and flows.by_start to their end; adds to the store's issues and to flows.origins.
void link_cpu_events(TraceStore& store, RowStream& rows, CpuLinks& links, FlowLinks& flows);

}  // namespace tracedb
