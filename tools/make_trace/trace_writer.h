// The files of a trace and what it holds, for which the steps run several times.
#pragma once

#include <cstdint>
#include <string>

#include "make_trace/output.h"
#include "make_trace/schedule.h"

namespace tracedb {

// Epoch of the trace; times of the new dialect count from it.
constexpr std::int64_t kBaseTime = 1'743'521'598'000'000'000;

struct TraceExtent {
  std::int64_t start = 0, end = 0;
  std::uint64_t cpu_ops = 0;  // with annotations: python events are numbered after them
};

// "execute_context_N(T)_generation_M(K)" or "ProfilerStep#N".
std::string step_name(const TraceOptions& options, const Step& step);

// Steps as Kineto's Chrome-trace JSON, in its own layout: header, CPU operators, python frames, runtime calls and
// device events with their flow ends, annotations on the device, metadata, tail. Dialect kOld is the layout of early
// profilers: categories Operator, Runtime, Kernel, Memcpy, Memset, epoch times in whole us, thread ids as strings, no
// python frames.
void write_trace(const TraceOptions& options, const Model& model, const TraceExtent& extent, TextOutput& out);

// What the trace holds, counted from the events themselves as they are made: the answer sheet for tests, as JSON. Times
// are ns; `ts` values are the file's own times (us) in ns. `extent` gets that of the trace.
std::string ground_truth(const TraceOptions& options, const Model& model, TraceExtent& extent);

// The answer sheet kernel by kernel, in the order of the trace file: one TSV row each. Columns: step, layer (within its
// stack; -1 head, -2 tail, -3 between stacks or passes), role, class of the name, stream, correlation, dur in ns, ts in
// ns as in the file, stack, iteration (which pass over the stacks), pass (forward, backward, optimizer; empty where
// nothing is trained), operator that launches it. Throws Error{kResource}.
void write_labels(const TraceOptions& options, const Model& model, const std::string& path);

}  // namespace tracedb
