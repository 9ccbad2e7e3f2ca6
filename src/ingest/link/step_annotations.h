// Which annotations mark which step of the workload. Read before the link passes, because what one annotation means
// depends on others.
//
// Rules. On a CPU thread every annotation with a step's name is a step. One on a stream is the image of the step with
// its External id and name; without a usable id (none, or one that several steps of that name have) it is the n-th step
// of its name if the stream has as many such images as one process has steps of that name, else of no step, which is
// counted. Where no such step is on the CPU side, images of one External id, or overlapping in time on several streams,
// make one step of their own.
#pragma once

#include <cstdint>
#include <vector>

#include "ingest/store/trace_store.h"
#include "trace/step_grammar.h"

namespace tracedb {

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

// Reads the store's annotations once, to be read again afterwards; adds to its issues.
StepAnnotations find_steps(TraceStore& store);

}  // namespace tracedb
