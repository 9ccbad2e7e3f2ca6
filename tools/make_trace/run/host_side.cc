// The host of a schedule: python frames, modules, operators and the calls that launch device work.
#include <algorithm>

#include "make_trace/run/schedule.h"

namespace tracedb {
namespace {

bool is_communication(const Operation& operation) { return operation.kernel->op_class.starts_with("communication"); }

}  // namespace

std::size_t Schedule::enter(std::string_view name, int module_index) {
  spend(350);
  PythonCall python;
  python.ts = clock_;
  python.name = name;
  python.module_index = module_index;
  python.id = next_python_++;
  python.parent = open_frames_.empty() ? kBaseFrames : step_->python_calls[open_frames_.back()].id;
  open_frames_.push_back(step_->python_calls.size());
  step_->python_calls.push_back(python);
  return open_frames_.back();
}

void Schedule::leave() {
  spend(250);
  PythonCall& python = step_->python_calls[open_frames_.back()];
  python.dur = clock_ - python.ts;
  open_frames_.pop_back();
  spend(40);
}

// Closes what is not on the way to `modules`, opens the rest. Each module is two frames: the call and its forward.
void Schedule::open_modules(const std::vector<ModuleRef>& modules, int layer) {
  std::size_t shared = 0;
  while (shared < open_modules_.size() && shared < modules.size() && open_modules_[shared] == modules[shared]) ++shared;
  while (open_modules_.size() > shared) {
    leave();
    leave();
    open_modules_.pop_back();
  }
  for (std::size_t at = shared; at < modules.size(); ++at) {
    const ModuleRef& module = modules[at];
    enter(module.class_name, std::max(layer, 0) * module.per_layer + module.ordinal);
    enter("vllm/model_executor/custom_op.py(103): forward");
    open_modules_.push_back(module);
  }
}

std::size_t Schedule::begin_op(std::string_view name) {
  spend(700);
  CpuOp op;
  op.ts = clock_;
  op.name = name;
  op.external_id = next_external_++;
  op.rows = step_->context_tokens + step_->generation_tokens;
  op.thread = thread_;
  step_->cpu_ops.push_back(op);
  return step_->cpu_ops.size() - 1;
}

void Schedule::end_op(std::size_t op) {
  spend(300);
  step_->cpu_ops[op].dur = clock_ - step_->cpu_ops[op].ts;
  spend(60);
}

RuntimeCall& Schedule::call(std::string_view name, int callback_id, std::int64_t cost, std::uint64_t external_id) {
  spend(400);
  RuntimeCall runtime;
  runtime.ts = clock_;
  runtime.name = name;
  runtime.callback_id = callback_id;
  runtime.external_id = external_id;
  runtime.thread = thread_;
  runtime.correlation = next_correlation_;
  next_correlation_ += options_.vendor == Vendor::kAmd ? 1 : 1 + static_cast<std::uint64_t>(random_.below(6));
  spend(cost);
  runtime.dur = clock_ - runtime.ts;
  step_->runtime_calls.push_back(runtime);
  return step_->runtime_calls.back();
}

void Schedule::copy(DeviceEventKind kind, std::int64_t bytes) {
  const bool fill = kind == DeviceEventKind::kMemset;
  const std::size_t op = begin_op(fill ? "aten::zero_" : "aten::copy_");
  const std::uint64_t external_id = step_->cpu_ops[op].external_id;
  RuntimeCall& runtime = call(fill ? "cudaMemsetAsync" : pick("hipMemcpyAsync", "cudaMemcpyAsync"),
                              fill                              ? 51
                              : options_.vendor == Vendor::kAmd ? 134
                                                                : 41,
                              5 * kUs, external_id);
  runtime.launches = true;
  runtime.bytes = bytes;
  const std::uint64_t correlation = runtime.correlation;
  // The returned tokens wait for every stream, so that no step's GPU work reaches into the next step.
  const std::int64_t ready = std::max(clock_ + 2 * kUs, kind == DeviceEventKind::kMemcpyDtoH ? drained() : 0);
  const std::int64_t dur = fill ? 900 : 1600 + bytes / 24;
  DeviceEvent& event = place(fill ? StreamRole::kCompute : StreamRole::kCopy, ready, dur, 700);
  event.kind = kind;
  event.correlation = correlation;
  event.external_id = external_id;
  event.bytes = bytes;
  event.layer = kind == DeviceEventKind::kMemcpyDtoH ? kTail : kHead;
  compute_gate_ = std::max(compute_gate_, event.ts + event.dur);
  end_op(op);
}

void Schedule::run_operation(const Operation& operation, int layer) {
  if (!takes_part(operation)) return;
  open_modules(operation.modules, layer);
  enter("torch/_ops.py(1243): __call__");
  enter("<built-in method of PyCapsule object>");
  const bool linear = operation.kernel->op_class == "dense_gemm";
  const std::size_t outer = linear ? begin_op("aten::linear") : 0;
  const std::size_t op = begin_op(operation.kernel->operator_name);
  if (!operation.backward_node.empty()) record(op, operation, layer);
  launch(operation, layer, step_->cpu_ops[op].external_id);
  end_op(op);
  if (linear) end_op(outer);
  leave();
  leave();
}

void Schedule::launch(const Operation& operation, int layer, std::uint64_t external_id) {
  const bool amd = options_.vendor == Vendor::kAmd;
  const std::string_view name = operation.kernel->name(options_.vendor, step_->has_prefill());
  if (operation.kernel->op_class == "dense_gemm" || is_communication(operation)) {
    call(pick("hipStreamIsCapturing", "cudaStreamIsCapturing"), amd ? 289 : 317, 600, external_id);
  }
  const bool triton = name.starts_with("_") || name.starts_with("triton_");
  const bool library = name.starts_with("Cijk_") || name.starts_with("nvjet_");
  const std::string_view api = triton    ? pick("hipModuleLaunchKernel", "cuLaunchKernel")
                               : library ? pick("hipExtModuleLaunchKernel", "cudaLaunchKernelExC")
                                         : pick("hipLaunchKernel", "cudaLaunchKernel");
  const int callback = triton ? (amd ? 106 : 307) : library ? (amd ? 62 : 430) : (amd ? 107 : 211);
  RuntimeCall& runtime = call(api, callback, 4 * kUs, external_id);
  runtime.launches = true;
  runtime.driver = triton && !amd;
  runtime.operation = &operation;
  runtime.lost = orphans_left_ > 0;
  if (runtime.lost) --orphans_left_;
  DeviceEvent& event = place_kernel(operation, layer, clock_ + 3 * kUs, false);
  event.launch_lost = step_->runtime_calls.back().lost;
  event.external_id = event.launch_lost ? 0 : external_id;
}

}  // namespace tracedb
