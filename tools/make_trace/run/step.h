// The events of one step (one execute_model call), before they become text. Times are ns after the trace's
// baseTimeNanoseconds. Buffers are reused from step to step, so a trace of any length needs the memory of one step.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "make_trace/model/model.h"

namespace tracedb {

constexpr int kMainThread = 0;
constexpr int kAutogradThread = 1;

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

constexpr int kHead = -1;
constexpr int kTail = -2;
constexpr int kBetween = -3;  // between two stacks or two passes

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

struct Interval {
  std::int64_t begin = 0, end = 0;
};

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
  Interval planted_idle;                     // empty when none
  std::int64_t host_end = 0;

  [[nodiscard]] bool has_prefill() const { return context_tokens > 0; }
  [[nodiscard]] bool has_decode() const { return generation_requests > 0; }
};

}  // namespace tracedb
