#include "make_trace/schedule.h"

#include <algorithm>
#include <limits>

namespace tracedb {
namespace {

constexpr std::int64_t kUs = 1000;

bool is_communication(const Operation& operation) { return operation.kernel->op_class.starts_with("communication"); }

// A collective of its own runs beside the compute stream; fused with compute it is a compute kernel.
StreamRole stream_role(const Operation& operation) {
  return operation.kernel->op_class == "communication" ? StreamRole::kCommunication : StreamRole::kCompute;
}

std::int64_t whole_us(std::int64_t nanoseconds) { return nanoseconds / kUs * kUs; }

template <class Event>
void round_event(Event& event) {
  const std::int64_t end = whole_us(event.ts + event.dur);
  event.ts = whole_us(event.ts);
  event.dur = end - event.ts;
}

// Both ends go down to whole us, so what nested or followed one another still does.
void round_to_microseconds(Step& step) {
  round_event(step.annotation);
  for (CpuOp& op : step.cpu_ops) round_event(op);
  for (RuntimeCall& runtime : step.runtime_calls) round_event(runtime);
  for (DeviceEvent& event : step.device_events) round_event(event);
  step.planted_idle.begin = whole_us(step.planted_idle.begin);
  step.planted_idle.end = whole_us(step.planted_idle.end);
}

}  // namespace

std::array<int, 3> stream_numbers(const TraceOptions& options) {
  std::array<int, 3> numbers = options.vendor == Vendor::kAmd ? std::array{3, 8, 5} : std::array{7, 27, 23};
  if (options.streams < 2) numbers[1] = numbers[0];
  if (options.streams < 3) numbers[2] = numbers[0];
  return numbers;
}

Schedule::Schedule(const TraceOptions& options, const Model& model)
    : options_(options), model_(model), streams_(stream_numbers(options)), orphans_left_(options.orphans) {
  const std::int64_t spread = uniform(mix64(options.seed, 1), 400'000'000'000);
  start_ = (3'600'000'000'000 + spread) * kUs;
  clock_ = start_ + 400 * kUs;
  next_correlation_ = static_cast<std::uint64_t>(1 + uniform(mix64(options.seed, 2), 60));
}

void Schedule::begin_step(Step& step) {
  step_ = &step;
  step.index = next_step_++;
  step.kind = step_kind(options_, step.index);
  step.graph = options_.graphs && step.kind == StepKind::kDecode;
  step.cpu_ops.clear();
  step.python_calls.clear();
  step.runtime_calls.clear();
  step.device_events.clear();
  step.gpu_annotations.clear();
  step.planted_idle = {};
  step.annotation_id = 0;
  const int share = step.kind == StepKind::kPrefill ? 8 : 16;
  step.context_requests = step.kind == StepKind::kDecode ? 0 : std::max(1, options_.batch / share);
  step.context_tokens = step.context_requests * options_.prompt_tokens;
  step.generation_requests = step.kind == StepKind::kPrefill  ? 0
                             : step.kind == StepKind::kDecode ? options_.batch
                                                              : std::max(1, options_.batch - step.context_requests);
  step.generation_tokens = step.generation_requests;
  random_ = Random(mix64(options_.seed, static_cast<std::uint64_t>(step.index) * 7919 + 3));
}

void Schedule::next(Step& step) {
  begin_step(step);
  enter("vllm/v1/worker/gpu_worker.py(508): execute_model");
  enter("torch/utils/_contextlib.py(117): decorate_context");
  enter("vllm/v1/worker/gpu_model_runner.py(2310): execute_model");
  if (options_.annotations) {
    step.annotation_id = next_external_++;
    step.annotation.ts = clock_;
    step.annotation.external_id = step.annotation_id;
    spend(500);
  }
  prepare_inputs();
  if (step.graph)
    run_forward_graph();
  else
    run_forward_eager();
  plant_idle();
  run_tail();
  return_tokens();
  end_step();
}

void Schedule::prepare_inputs() {
  enter("vllm/v1/worker/gpu_model_runner.py(1182): _prepare_inputs");
  const std::int64_t tokens = step_->context_tokens + step_->generation_tokens;
  for (const std::int64_t width : {4, 8, 8}) copy(DeviceEventKind::kMemcpyHtoD, tokens * width);
  if (options_.vendor == Vendor::kNvidia) copy(DeviceEventKind::kMemset, 4L * options_.batch);
  leave();
}

void Schedule::run_forward_eager() {
  enter("vllm/v1/worker/gpu_model_runner.py(2251): _model_forward");
  enter(model_.model_class, 0);
  enter(model_.inner_class, 0);
  enter(model_.forward_file);
  for (const Operation& operation : model_.head) run_operation(operation, kHead);
  open_modules({}, 0);
  for (int layer = 0; layer < options_.layers; ++layer) run_layer(layer);
  leave();
  leave();
  leave();
  leave();
}

void Schedule::run_layer(int layer) {
  enter(model_.layer_class, layer);
  enter(model_.forward_file);
  for (const Operation& operation : model_.layers[static_cast<std::size_t>(layer)]) run_operation(operation, layer);
  open_modules({}, layer);
  leave();
  leave();
}

// All kernels of the replay share the correlation of the one launch call.
void Schedule::run_forward_graph() {
  enter("vllm/v1/worker/gpu_model_runner.py(2251): _model_forward");
  enter("vllm/compilation/cuda_graph.py(121): __call__");
  enter("torch/cuda/graphs.py(130): replay");
  RuntimeCall& replay =
      call(pick("hipGraphLaunch", "cudaGraphLaunch"), options_.vendor == Vendor::kAmd ? 215 : 311, 48 * kUs, 0);
  replay.launches = true;
  const std::int64_t ready = clock_ + 6 * kUs;
  for (const Operation& operation : model_.head) place_kernel(operation, kHead, ready, true);
  for (int layer = 0; layer < options_.layers; ++layer) {
    for (const Operation& operation : model_.layers[static_cast<std::size_t>(layer)]) {
      if (takes_part(operation)) place_kernel(operation, layer, ready, true);
    }
  }
  leave();
  leave();
  leave();
}

// The host waits for the GPU and then does nothing for the planted time: a gap on all streams.
void Schedule::plant_idle() {
  if (options_.idle_ns == 0) return;
  enter("vllm/v1/worker/gpu_model_runner.py(2275): _wait_for_grammar");
  RuntimeCall& wait =
      call(pick("hipStreamSynchronize", "cudaStreamSynchronize"), options_.vendor == Vendor::kAmd ? 199 : 131, kUs, 0);
  clock_ = std::max(clock_, drained() + 2 * kUs);
  wait.dur = clock_ - wait.ts;
  clock_ += options_.idle_ns;
  leave();
  step_->planted_idle.begin = drained();
}

void Schedule::run_tail() {
  enter("vllm/v1/worker/gpu_model_runner.py(2290): _sample");
  for (const Operation& operation : model_.tail) run_operation(operation, kTail);
  open_modules({}, 0);
  leave();
}

void Schedule::return_tokens() {
  enter("vllm/v1/worker/gpu_model_runner.py(2502): _bookkeeping_sync");
  copy(DeviceEventKind::kMemcpyDtoH, 8L * (step_->context_requests + step_->generation_requests));
  RuntimeCall& wait =
      call(pick("hipEventSynchronize", "cudaEventSynchronize"), options_.vendor == Vendor::kAmd ? 60 : 137, kUs, 0);
  clock_ = std::max(clock_, drained() + 3 * kUs);
  wait.dur = clock_ - wait.ts;
  leave();
}

void Schedule::end_step() {
  spend(300);
  step_->annotation.dur = clock_ - step_->annotation.ts;
  spend(300);
  while (!open_frames_.empty()) leave();
  spend(60 * kUs);  // scheduler and detokeniser
  step_->host_end = clock_;
  if (options_.annotations) mirror_annotation();
  if (options_.dialect == Dialect::kOld) round_to_microseconds(*step_);
}

// gpu_user_annotation: on every stream the step used, a nanosecond wider than its events on either side.
void Schedule::mirror_annotation() {
  for (const int stream : streams_) {
    DeviceEvent mirror;
    mirror.stream = stream;
    mirror.ts = std::numeric_limits<std::int64_t>::max();
    std::int64_t end = 0;
    for (const DeviceEvent& event : step_->device_events) {
      if (event.stream != stream) continue;
      mirror.ts = std::min(mirror.ts, event.ts - 1);
      end = std::max(end, event.ts + event.dur + 1);
    }
    mirror.dur = end - mirror.ts;
    const bool seen = std::any_of(step_->gpu_annotations.begin(), step_->gpu_annotations.end(),
                                  [&](const DeviceEvent& other) { return other.stream == stream; });
    if (end > 0 && !seen) step_->gpu_annotations.push_back(mirror);
  }
}

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

bool Schedule::takes_part(const Operation& operation) const {
  if (operation.presence == Presence::kWithPrefill) return step_->has_prefill();
  return operation.presence == Presence::kAlways || step_->has_decode();
}

void Schedule::run_operation(const Operation& operation, int layer) {
  if (!takes_part(operation)) return;
  open_modules(operation.modules, layer);
  enter("torch/_ops.py(1243): __call__");
  enter("<built-in method of PyCapsule object>");
  const bool linear = operation.kernel->op_class == "dense_gemm";
  const std::size_t outer = linear ? begin_op("aten::linear") : 0;
  const std::size_t op = begin_op(operation.kernel->operator_name);
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

DeviceEvent& Schedule::place(StreamRole role, std::int64_t ready, std::int64_t dur, std::int64_t gap) {
  const int stream = streams_[static_cast<std::size_t>(role)];
  const auto at = static_cast<std::size_t>(std::find(streams_.begin(), streams_.end(), stream) - streams_.begin());
  DeviceEvent event;
  event.ts = std::max(ready, free_[at] + gap);
  event.dur = dur;
  event.stream = stream;
  free_[at] = event.ts + dur;
  step_->device_events.push_back(event);
  return step_->device_events.back();
}

DeviceEvent& Schedule::place_kernel(const Operation& operation, int layer, std::int64_t ready, bool in_graph) {
  const auto place_key = static_cast<std::uint64_t>((step_->index * 4096 + layer + 8) * 4096 + operation.slot);
  const std::uint64_t noise = mix64(options_.seed, place_key);
  const std::int64_t gap = (in_graph ? 300 : 600) + uniform(noise >> 40, 400);
  const StreamRole role = stream_role(operation);
  const bool beside = role == StreamRole::kCommunication && streams_[1] != streams_[0];
  const std::int64_t after = beside ? free_[0] + gap : compute_gate_;
  DeviceEvent& event = place(role, std::max(ready, after), duration(operation, noise), gap);
  // Beside the compute stream a collective lets compute go on when most of it is done.
  if (beside) compute_gate_ = event.ts + event.dur * 7 / 10;
  event.operation = &operation;
  event.name = operation.kernel->name(options_.vendor, step_->has_prefill());
  event.correlation = step_->runtime_calls.back().correlation;
  event.grid = 1 + tokens_of(operation) * operation.kernel->fixed_ns / 4096;
  event.layer = layer;
  event.in_graph = in_graph;
  std::int64_t& idle_end = step_->planted_idle.end;
  if (step_->planted_idle.begin > 0 && idle_end == 0) idle_end = event.ts;
  return event;
}

std::int64_t Schedule::tokens_of(const Operation& operation) const {
  if (operation.presence == Presence::kWithPrefill) return step_->context_tokens;
  if (operation.presence == Presence::kWithDecode) return step_->generation_tokens;
  return step_->context_tokens + step_->generation_tokens;
}

std::int64_t Schedule::duration(const Operation& operation, std::uint64_t noise) const {
  std::int64_t nanoseconds = operation.kernel->fixed_ns + operation.kernel->per_token_ps * tokens_of(operation) / 1000;
  if (options_.vendor == Vendor::kNvidia) nanoseconds = nanoseconds * 7 / 8;
  nanoseconds = nanoseconds * operation.factor_ppm / kMillion;
  const std::int64_t jitter = uniform(noise & 0xffffffffULL, 2 * options_.jitter_ppm + 1) - options_.jitter_ppm;
  return std::max<std::int64_t>(1, nanoseconds * (kMillion + jitter) / kMillion);
}

std::int64_t Schedule::drained() const { return *std::max_element(free_.begin(), free_.end()); }

}  // namespace tracedb
