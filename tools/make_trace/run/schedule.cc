#include "make_trace/run/schedule.h"

#include <algorithm>
#include <limits>

namespace tracedb {
namespace {

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

StreamNumbers stream_numbers(const TraceOptions& options) {
  StreamNumbers numbers = options.vendor == Vendor::kAmd ? StreamNumbers{3, 8, 5, 11} : StreamNumbers{7, 27, 23, 31};
  if (options.streams < 2) numbers[1] = numbers[0];
  if (options.streams < 3) numbers[2] = numbers[0];
  if (!options.jittered_streams) numbers[3] = numbers[0];
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
  const bool decodes = step.kind == StepKind::kDecode;
  step.context_requests = decodes ? 0 : std::max(1, options_.batch / share);
  step.context_tokens = step.context_requests * options_.prompt_tokens;
  step.generation_requests = decodes                         ? options_.batch
                             : step.kind == StepKind::kMixed ? std::max(1, options_.batch - step.context_requests)
                                                             : 0;
  step.generation_tokens = step.generation_requests;
  random_ = Random(mix64(options_.seed, static_cast<std::uint64_t>(step.index) * 7919 + 3));
}

void Schedule::next(Step& step) {
  begin_step(step);
  if (options_.model == ModelKind::kServe)
    serve_step();
  else
    model_step();
  end_step();
}

void Schedule::serve_step() {
  enter("vllm/v1/worker/gpu_worker.py(508): execute_model");
  enter("torch/utils/_contextlib.py(117): decorate_context");
  enter("vllm/v1/worker/gpu_model_runner.py(2310): execute_model");
  open_annotation();
  prepare_inputs();
  if (step_->graph)
    run_forward_graph();
  else
    run_forward_eager();
  plant_idle("vllm/v1/worker/gpu_model_runner.py(2275): _wait_for_grammar");
  run_tail();
  return_results("vllm/v1/worker/gpu_model_runner.py(2502): _bookkeeping_sync",
                 8L * (step_->context_requests + step_->generation_requests));
}

void Schedule::open_annotation() {
  if (!options_.annotations) return;
  step_->annotation_id = next_external_++;
  step_->annotation.ts = clock_;
  step_->annotation.external_id = step_->annotation_id;
  spend(500);
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
  for (const Stack& stack : model_.stacks) run_stack(stack);
  leave();
  leave();
  leave();
  leave();
}

void Schedule::run_stack(const Stack& stack) {
  for (int layer = stack.first; layer < stack.first + stack.count; ++layer) run_layer(stack, layer);
}

void Schedule::run_layer(const Stack& stack, int layer) {
  enter(stack.layer_class, layer - stack.number_from);
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
  const std::size_t first = step_->device_events.size();
  for (const Operation& operation : model_.head) place_kernel(operation, kHead, ready, true);
  for (int layer = 0; layer < options_.layers; ++layer) {
    for (const Operation& operation : model_.layers[static_cast<std::size_t>(layer)]) {
      if (takes_part(operation)) place_kernel(operation, layer, ready, true);
    }
  }
  shift_names(first);
  leave();
  leave();
  leave();
}

// From somewhere in the first half of the replay on, kernels carry the name of a kernel some places later: the record
// of names and that of times have lost step. The last ones go on from where the shift began.
void Schedule::shift_names(std::size_t first) {
  if (options_.shift_names == 0) return;
  std::vector<DeviceEvent>& events = step_->device_events;
  const std::uint64_t noise = mix64(options_.seed, static_cast<std::uint64_t>(step_->index) * 31 + 17);
  const auto begin = static_cast<std::ptrdiff_t>(
      first + static_cast<std::size_t>(uniform(noise, static_cast<std::int64_t>(events.size() - first) / 2 + 1)));
  const std::vector<DeviceEvent> named(events.begin() + begin, events.end());
  for (std::size_t at = 0; at < named.size(); ++at) {
    const DeviceEvent& other = named[(at + static_cast<std::size_t>(options_.shift_names)) % named.size()];
    DeviceEvent& event = events[static_cast<std::size_t>(begin) + at];
    event.name = other.name;
    event.named = other.named;
  }
}

// The host waits for the GPU and then does nothing for the planted time: a gap on all streams.
void Schedule::plant_idle(std::string_view frame) {
  if (options_.idle_ns == 0) return;
  enter(frame);
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

void Schedule::return_results(std::string_view frame, std::int64_t bytes) {
  enter(frame);
  copy(DeviceEventKind::kMemcpyDtoH, bytes);
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
  pass_gap();
  step_->host_end = clock_;
  if (options_.annotations && options_.model == ModelKind::kServe) mirror_annotation();
  if (options_.dialect == Dialect::kOld) round_to_microseconds(*step_);
}

// What the host does between two steps, with as many recorded calls as asked for, evenly spread.
void Schedule::pass_gap() {
  const bool in_frame = !options_.gap_frame.empty() && options_.python_stacks;
  if (in_frame) enter(options_.gap_frame);
  const std::int64_t end = clock_ + options_.step_gap_ns;
  const std::int64_t every = options_.step_gap_ns / (options_.gap_calls + 1);
  for (std::int64_t call = 0; call < options_.gap_calls; ++call) {
    clock_ = std::max(clock_, end - (options_.gap_calls - call) * every);
    if (options_.python_stacks) {
      enter("vllm/v1/core/sched/scheduler.py(212): schedule");
      leave();
    } else {
      end_op(begin_op("aten::item"));
    }
  }
  clock_ = std::max(clock_, end);
  if (in_frame) leave();
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

}  // namespace tracedb
