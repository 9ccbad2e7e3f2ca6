#include "make_trace/write/truth.h"

#include <algorithm>

#include "make_trace/run/schedule.h"

namespace tracedb {
namespace {

std::int64_t union_length(std::vector<Interval>& intervals) {
  std::sort(intervals.begin(), intervals.end(), [](Interval a, Interval b) { return a.begin < b.begin; });
  std::int64_t length = 0;
  std::int64_t reached = 0;
  for (const Interval& interval : intervals) {
    if (interval.end <= reached) continue;
    length += interval.end - std::max(interval.begin, reached);
    reached = interval.end;
  }
  return length;
}

bool is_copy(const DeviceEvent& event) {
  if (event.kind != DeviceEventKind::kKernel) return event.kind != DeviceEventKind::kMemset;
  return event.operation->kernel->op_class == "copy";
}

bool is_comm(const DeviceEvent& event) {
  return event.kind == DeviceEventKind::kKernel && event.operation->kernel->op_class.starts_with("communication");
}

}  // namespace

Truth::Truth(const TraceOptions& options, const Model& model)
    : options_(options), model_(model), layers_(model.layers.size()), fusions_(model.fusions.size()) {
  if (options.python_stacks) count("X", "python_function", kBaseFrames);
}

void Truth::count(std::string_view ph, std::string_view category, std::int64_t number) {
  if (number > 0) events_[std::string(ph)][std::string(category)] += number;
}

void Truth::add(const Step& step) {
  add_operators(step);
  add_calls(step);
  add_device(step);
  if (options_.python_stacks) add_depth(step);
}

void Truth::add_operators(const Step& step) {
  std::int64_t annotations = options_.annotations ? 1 : 0, joined = 0, backward = 0;
  for (const CpuOp& op : step.cpu_ops) {
    annotations += op.annotation ? 1 : 0;
    joined += op.gradient_flow != 0 ? 1 : 0;
    backward += op.gradient_flow != 0 && op.thread != kMainThread ? 1 : 0;
  }
  cpu_events_ += step.cpu_ops.size() + (options_.annotations ? 1 : 0);
  const auto ops = static_cast<std::int64_t>(step.cpu_ops.size()) + (options_.annotations ? 1 : 0) - annotations;
  count("X", old() ? "Operator" : "cpu_op", ops);
  count("X", old() && options_.model != ModelKind::kServe ? "Operator" : "user_annotation", annotations);
  if (!old()) count("s", "fwdbwd", joined - backward);
  if (!old()) count("f", "fwdbwd", backward);
  if (options_.python_stacks) count("X", "python_function", static_cast<std::int64_t>(step.python_calls.size()));
  if (!old()) count("X", "gpu_user_annotation", static_cast<std::int64_t>(step.gpu_annotations.size()));
}

void Truth::add_calls(const Step& step) {
  std::int64_t driver = 0, launching = 0, written = 0;
  for (const RuntimeCall& call : step.runtime_calls) {
    if (call.lost) continue;
    ++written;
    driver += call.driver ? 1 : 0;
    launching += call.launches ? 1 : 0;
    graph_launches_ += call.launches && call.operation == nullptr && call.bytes == 0 ? 1 : 0;
  }
  count("X", old() ? "Runtime" : "cuda_runtime", written - (old() ? 0 : driver));
  if (!old()) count("X", "cuda_driver", driver);
  runtime_calls_ += written;
  launch_calls_ += launching;
  count("s", old() ? "async" : "ac2g", launching);
  if (!old()) count("f", "ac2g", written - launching);
}

void Truth::add_kernel(const Step& step, const DeviceEvent& event, StepRecord& record) {
  const Operation& operation = *event.operation;
  const std::string_view op_class = event.named->op_class;
  record.kernels.add(event.dur);
  if (event.pass != Pass::kNone) record.passes[event.pass].add(event.dur);
  kernels_.add(event.dur);
  classes_[op_class].add(event.dur);
  classes_by_kind_[step.kind][op_class].add(event.dur);
  roles_[operation.kernel->role].add(event.dur);
  names_[event.name].add(event.dur);
  class_of_name_.emplace(event.name, op_class);
  if (event.layer >= 0)
    layers_[static_cast<std::size_t>(event.layer)].add(event.dur);
  else
    (event.layer == kHead ? head_ : event.layer == kTail ? tail_ : between_).add(event.dur);
  if (operation.inserted) inserted_.add(event.dur);
  if (event.named != operation.kernel) misnamed_.add(event.dur);
  if (operation.fusion >= 0) {
    fusions_[static_cast<std::size_t>(operation.fusion)].add(event.dur);
    auto& by_kind = fusions_by_kind_[step.kind];
    by_kind.resize(fusions_.size());
    by_kind[static_cast<std::size_t>(operation.fusion)].add(event.dur);
  }
  ++(event.launch_lost ? without_launch_ : with_launch_);
  graph_kernels_ += event.in_graph ? 1 : 0;
}

void Truth::add_device(const Step& step) {
  const std::int64_t base = old() ? kBaseTime : 0;
  const bool waits = step.planted_idle.end > step.planted_idle.begin;
  const std::int64_t idle_base = waits ? base : 0;
  StepRecord record{step.index,
                    base + step.annotation.ts,
                    step.annotation.dur,
                    step.kind,
                    step.graph,
                    step.context_requests,
                    step.context_tokens,
                    step.generation_requests,
                    step.generation_tokens,
                    {},
                    0,
                    0,
                    0,
                    {idle_base + step.planted_idle.begin, idle_base + step.planted_idle.end},
                    step_name(options_, step),
                    {}};
  std::int64_t memsets = 0, flows = 0;
  for (const DeviceEvent& event : step.device_events) {
    if (event.kind == DeviceEventKind::kKernel) add_kernel(step, event, record);
    memsets += event.kind == DeviceEventKind::kMemset ? 1 : 0;
    flows += event.launch_lost ? 0 : 1;
  }
  const auto events = static_cast<std::int64_t>(step.device_events.size());
  count("X", old() ? "Kernel" : "kernel", record.kernels.count);
  count("X", old() ? "Memset" : "gpu_memset", memsets);
  count("X", old() ? "Memcpy" : "gpu_memcpy", events - record.kernels.count - memsets);
  count("f", old() ? "async" : "ac2g", flows);
  ++steps_by_kind_[step.kind];
  idle_planted_ += step.planted_idle.end - step.planted_idle.begin;
  add_unions(step, record);
  steps_.push_back(record);
}

// The GPU is idle between steps, so the unions of the trace are sums over its steps.
void Truth::add_unions(const Step& step, StepRecord& record) {
  std::vector<Interval> computation, comm, copy, all;
  for (const DeviceEvent& event : step.device_events) {
    const Interval interval = {event.ts, event.ts + event.dur};
    all.push_back(interval);
    (is_comm(event) ? comm : is_copy(event) ? copy : computation).push_back(interval);
  }
  std::vector<Interval> not_copy = computation;
  not_copy.insert(not_copy.end(), comm.begin(), comm.end());
  const std::int64_t computing = union_length(computation);
  const std::int64_t without_copy = union_length(not_copy);
  record.busy = union_length(all);
  const std::int64_t base = old() ? kBaseTime : 0;
  record.gpu_begin = base + all.front().begin;
  for (const Interval& interval : all) record.gpu_end = std::max(record.gpu_end, base + interval.end);
  device_.begin = device_.begin == 0 ? record.gpu_begin : device_.begin;
  device_.end = record.gpu_end;
  device_.busy += record.busy;
  device_.computation += computing;
  device_.comm += union_length(comm);
  device_.copy += union_length(copy);
  device_.exposed_comm += without_copy - computing;
  device_.exposed_copy += record.busy - without_copy;
}

void Truth::add_depth(const Step& step) {
  if (step.python_calls.empty()) return;
  const std::uint64_t first = step.python_calls.front().id;
  depths_.resize(step.python_calls.size());
  for (const PythonCall& call : step.python_calls) {
    const std::size_t above = call.parent < first ? kBaseFrames : depths_[call.parent - first];
    depths_[call.id - first] = above + 1;
    python_depth_ = std::max(python_depth_, above + 1);
  }
}

// Metadata of 9 processes (CPU and 8 devices), of the streams and the thread, and of the spans; then the spans.
void Truth::finish() {
  auto streams = stream_numbers(options_);
  std::sort(streams.begin(), streams.end());
  const auto distinct = std::unique(streams.begin(), streams.end()) - streams.begin();
  const std::int64_t autograd = options_.model == ModelKind::kTrain ? 1 : 0;
  count("M", "", std::int64_t{9} * 3 + 2 * distinct + 2 + 1 + autograd);
  count("X", "Trace");
  count("i", "", 2);
}

}  // namespace tracedb
