// The steps of a model on an imaginary host and GPU, and the files of a trace and what it holds, for which the steps
// run several times.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time_cover.h"
#include "make_trace/model.h"
#include "make_trace/output.h"

namespace tracedb {

// Runs the model step by step on an imaginary host and GPU: one host thread that launches, streams that execute in
// order. The same options give the same events however often it runs, which is how the parts of a trace are written
// one after the other without keeping it in memory. Times are ns after the trace's baseTimeNanoseconds.

constexpr int kMainThread = 0;
constexpr int kAutogradThread = 1;
constexpr std::uint64_t kBaseFrames = 4;  // python frames that span the trace

// Which part of a training step.
enum class Pass { kNone, kForward, kBackward, kOptimizer };
inline std::string_view to_text(Pass pass) {
  constexpr std::string_view kNames[] = {"", "forward", "backward", "optimizer"};
  return kNames[static_cast<std::size_t>(pass)];
}

struct CpuOp {
  std::int64_t ts = 0, dur = 0;
  std::uint64_t external_id = 0;
  std::string_view name;
  std::int64_t rows = 0;  // first dimension of its inputs, for --shapes
  int thread = kMainThread;
  bool annotation = false;          // a user annotation below that of the step
  bool evaluates = false;           // "autograd::engine::evaluate_function: " before the name
  std::int64_t sequence = -1;       // of autograd; -1: none
  std::uint64_t gradient_flow = 0;  // joins it with its backward or forward; 0: none
};

struct PythonCall {
  std::int64_t ts = 0, dur = 0;
  std::uint64_t id = 0, parent = 0;
  std::string_view name;
  int module_index = -1;  // >= 0: "nn.Module: <name>_<index>"
};

struct RuntimeCall {
  std::int64_t ts = 0, dur = 0;
  std::string_view name;
  int callback_id = 0;
  std::uint64_t correlation = 0, external_id = 0;  // 0: no External id
  const Operation* operation = nullptr;            // the kernel it launches by name, if any
  std::int64_t bytes = 0;                          // copies
  int thread = kMainThread;
  bool launches = false;
  bool driver = false;
  bool lost = false;  // left out of the trace: its kernel has no launch
};

enum class DeviceEventKind { kKernel, kMemcpyHtoD, kMemcpyDtoH, kMemset };

struct DeviceEvent {
  std::int64_t ts = 0, dur = 0;
  DeviceEventKind kind = DeviceEventKind::kKernel;
  const Operation* operation = nullptr;
  std::string_view name;
  const KernelKind* named = nullptr;  // the kind whose name it has
  int stream = 0;
  std::uint64_t correlation = 0, external_id = 0;
  std::int64_t bytes = 0;
  std::int64_t grid = 1;
  int layer = kHead;
  Pass pass = Pass::kNone;
  int iteration = 0;  // which pass over the stacks
  bool in_graph = false;
  bool launch_lost = false;
};

// The events of one step (one execute_model call), before they become text. Buffers are reused from step to step, so a
// trace of any length needs the memory of one step.
struct Step {
  std::int64_t index = 0;
  StepKind kind = StepKind::kDecode;
  bool graph = false;
  int context_requests = 0, context_tokens = 0, generation_requests = 0, generation_tokens = 0;
  std::uint64_t annotation_id = 0;  // External id; 0 when annotations are off
  CpuOp annotation;
  std::vector<CpuOp> cpu_ops;
  std::vector<PythonCall> python_calls;
  std::vector<RuntimeCall> runtime_calls;
  std::vector<DeviceEvent> device_events;
  std::vector<DeviceEvent> gpu_annotations;  // one per stream used; only ts, dur, stream matter
  Extent planted_idle;                       // empty when none
  std::int64_t host_end = 0;

  [[nodiscard]] bool has_prefill() const { return context_tokens > 0; }
  [[nodiscard]] bool has_decode() const { return generation_requests > 0; }
};

// By role: compute, communication, copies, side branch. Several share one stream where --streams allows fewer.
using StreamNumbers = std::array<int, 4>;
StreamNumbers stream_numbers(const TraceOptions& options);

// When the trace begins.
std::int64_t start_of(const TraceOptions& options);

// Calls back for each step in order.
void run_steps(const TraceOptions& options, const Model& model, const std::function<void(const Step&)>& visit);

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
