#include <algorithm>
#include <limits>

#include "make_trace/random.h"
#include "make_trace/trace_writer.h"

namespace tracedb {
namespace {

constexpr std::int64_t kUs = 1000;
constexpr std::int64_t kBranchDelay = 40 * kUs;
constexpr std::int64_t kHostStall = 15'000 * kUs, kDay = 86'400'000'000 * kUs;

enum class StreamRole : std::size_t { kCompute, kCommunication, kCopy, kSide };

// A call of the runtime or driver, and its callback id, by vendor.
struct Api {
  std::string_view names[2];
  int ids[2];
};
constexpr Api kGraphLaunch = {{"hipGraphLaunch", "cudaGraphLaunch"}, {215, 311}};
constexpr Api kStreamWait = {{"hipStreamSynchronize", "cudaStreamSynchronize"}, {199, 131}};
constexpr Api kEventWait = {{"hipEventSynchronize", "cudaEventSynchronize"}, {60, 137}};
constexpr Api kCopy = {{"hipMemcpyAsync", "cudaMemcpyAsync"}, {134, 41}};
constexpr Api kFill = {{"cudaMemsetAsync", "cudaMemsetAsync"}, {51, 51}};
constexpr Api kCapturing = {{"hipStreamIsCapturing", "cudaStreamIsCapturing"}, {289, 317}};
constexpr Api kLaunch = {{"hipLaunchKernel", "cudaLaunchKernel"}, {107, 211}};
constexpr Api kLaunchTriton = {{"hipModuleLaunchKernel", "cuLaunchKernel"}, {106, 307}};
constexpr Api kLaunchLibrary = {{"hipExtModuleLaunchKernel", "cudaLaunchKernelExC"}, {62, 430}};

// A collective of its own runs beside the compute stream; fused with compute it is a compute kernel.
StreamRole stream_role(const Operation& operation) {
  if (operation.side) return StreamRole::kSide;
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
  step.planted_idle = {whole_us(step.planted_idle.begin), whole_us(step.planted_idle.end)};
}

class Schedule {
 public:
  Schedule(const TraceOptions& options, const Model& model)
      : options_(options),
        model_(model),
        streams_(stream_numbers(options)),
        clock_(start_of(options) + 400 * kUs),
        next_correlation_(static_cast<std::uint64_t>(1 + uniform(mix64(options.seed, 2), 60))),
        orphans_left_(options.orphans) {}

  // The next step.
  const Step& next() {
    begin_step();
    options_.model == ModelKind::kServe ? serve_step() : model_step();
    end_step();
    return step_;
  }

 private:
  // What autograd keeps of a forward operator.
  struct Recorded {
    const Operation* operation;
    int layer;
    std::int64_t sequence;
    std::uint64_t flow;
  };

  // ---- steps

  void begin_step() {
    step_.index = next_step_++;
    step_.kind = step_kind(options_, step_.index);
    step_.graph = options_.graphs && step_.kind == StepKind::kDecode;
    step_.cpu_ops.clear();
    step_.python_calls.clear();
    step_.runtime_calls.clear();
    step_.device_events.clear();
    step_.gpu_annotations.clear();
    step_.planted_idle = {};
    step_.annotation_id = 0;
    const bool decodes = step_.kind == StepKind::kDecode, mixed = step_.kind == StepKind::kMixed;
    const int share = step_.kind == StepKind::kPrefill ? 8 : 16;
    step_.context_requests = decodes ? 0 : std::max(1, options_.batch / share);
    step_.context_tokens = step_.context_requests * options_.prompt_tokens;
    step_.generation_requests = decodes ? options_.batch : 0;
    if (mixed) step_.generation_requests = std::max(1, options_.batch - step_.context_requests);
    step_.generation_tokens = step_.generation_requests;
    random_ = Random(mix64(options_.seed, static_cast<std::uint64_t>(step_.index) * 7919 + 3));
  }

  void serve_step() {
    enter("vllm/v1/worker/gpu_worker.py(508): execute_model");
    enter("torch/utils/_contextlib.py(117): decorate_context");
    enter("vllm/v1/worker/gpu_model_runner.py(2310): execute_model");
    open_annotation();
    prepare_inputs();
    enter("vllm/v1/worker/gpu_model_runner.py(2251): _model_forward");
    step_.graph ? replay_graph() : run_pass();
    leave();
    plant_idle("vllm/v1/worker/gpu_model_runner.py(2275): _wait_for_grammar");
    enter("vllm/v1/worker/gpu_model_runner.py(2290): _sample");
    run_all(model_.tail, kTail);
    leave();
    return_results("vllm/v1/worker/gpu_model_runner.py(2502): _bookkeeping_sync",
                   8L * (step_.context_requests + step_.generation_requests));
  }

  // Of a model that is no server's: passes over its stacks and, where it is trained, the backward pass on the thread of
  // autograd and the optimizer.
  void model_step() {
    enter("run.py(58): run_step");
    open_annotation();
    enter("torch/utils/data/dataloader.py(701): __next__");
    copy(DeviceEventKind::kMemcpyHtoD, 64L * step_.context_tokens);
    leave();
    const bool trained = options_.model == ModelKind::kTrain;
    pass_ = trained ? Pass::kForward : Pass::kNone;
    for (iteration_ = 0; iteration_ < model_.passes; ++iteration_) run_pass();
    iteration_ = 0;
    plant_idle("torch/cuda/streams.py(105): synchronize");
    run_all(model_.tail, kTail);
    if (trained) {
      run_backward();
      run_optimizer();
    }
    return_results("torch/_tensor.py(1023): item", 8);
  }

  void open_annotation() {
    if (!options_.annotations) return;
    step_.annotation_id = next_external_++;
    step_.annotation.ts = clock_;
    step_.annotation.external_id = step_.annotation_id;
    spend(500);
  }

  void prepare_inputs() {
    enter("vllm/v1/worker/gpu_model_runner.py(1182): _prepare_inputs");
    const std::int64_t tokens = step_.context_tokens + step_.generation_tokens;
    for (const std::int64_t width : {4, 8, 8}) copy(DeviceEventKind::kMemcpyHtoD, tokens * width);
    if (options_.vendor == Vendor::kNvidia) copy(DeviceEventKind::kMemset, 4L * options_.batch);
    leave();
  }

  void run_pass() {
    enter(model_.model_class, 0);
    if (!model_.inner_class.empty()) enter(model_.inner_class, 0);
    enter(model_.forward_file);
    if (iteration_ == 0) run_all(model_.head, kHead);
    for (const Stack& stack : model_.stacks) {
      run_all(stack.before, iteration_ == 0 && stack.first == 0 ? kHead : kBetween);
      for (const ModuleRef& module : stack.container) enter(module.class_name, module.ordinal);
      for (int layer = stack.first; layer < stack.first + stack.count; ++layer) {
        enter(stack.layer_class, layer - stack.number_from);
        enter(model_.forward_file);
        run_all(model_.layers[static_cast<std::size_t>(layer)], layer);
        leave(2);
      }
      leave(stack.container.size());
    }
    run_all(model_.pass_end, iteration_ + 1 == model_.passes ? kTail : kBetween);
    leave(model_.inner_class.empty() ? 2 : 3);
  }

  // All kernels of the replay share the correlation of the one launch call.
  void replay_graph() {
    enter("vllm/compilation/cuda_graph.py(121): __call__");
    enter("torch/cuda/graphs.py(130): replay");
    call(kGraphLaunch, 48 * kUs, 0).launches = true;
    const std::int64_t ready = clock_ + 6 * kUs;
    const std::size_t first = step_.device_events.size();
    for (const Operation& operation : model_.head) place_kernel(operation, kHead, ready, true);
    for (int layer = 0; layer < options_.layers; ++layer) {
      for (const Operation& operation : model_.layers[static_cast<std::size_t>(layer)]) {
        if (takes_part(operation)) place_kernel(operation, layer, ready, true);
      }
    }
    shift_names(first);
    leave(2);
  }

  // From somewhere in the first half of the replay on, kernels carry the name of a kernel some places later: the record
  // of names and that of times have lost step. The last ones go on from where the shift began.
  void shift_names(std::size_t first) {
    if (options_.shift_names == 0) return;
    std::vector<DeviceEvent>& events = step_.device_events;
    const std::uint64_t noise = mix64(options_.seed, static_cast<std::uint64_t>(step_.index) * 31 + 17);
    first += static_cast<std::size_t>(uniform(noise, static_cast<std::int64_t>(events.size() - first) / 2 + 1));
    const std::vector<DeviceEvent> named(events.begin() + static_cast<std::ptrdiff_t>(first), events.end());
    for (std::size_t at = 0; at < named.size(); ++at) {
      const DeviceEvent& other = named[(at + static_cast<std::size_t>(options_.shift_names)) % named.size()];
      events[first + at].name = other.name;
      events[first + at].named = other.named;
    }
  }

  // The main thread waits in `backward` while autograd's thread runs the tape from its end.
  void run_backward() {
    enter("torch/_tensor.py(581): backward");
    enter("<built-in method run_backward of torch._C._EngineBase object>");
    thread_ = kAutogradThread;
    pass_ = Pass::kBackward;
    for (auto recorded = tape_.rbegin(); recorded != tape_.rend(); ++recorded) {
      const Operation& operation = *recorded->operation;
      const std::size_t evaluate = begin_op(operation.backward_node);
      step_.cpu_ops[evaluate].evaluates = true;
      step_.cpu_ops[evaluate].sequence = recorded->sequence;
      const std::size_t node = begin_op(operation.backward_node);
      step_.cpu_ops[node].sequence = recorded->sequence;
      step_.cpu_ops[node].gradient_flow = recorded->flow;
      for (const Operation& kernel : operation.backward) {
        const std::size_t op = begin_op(kernel.kernel->operator_name);
        launch(kernel, recorded->layer, step_.cpu_ops[op].external_id);
        end_op(op);
      }
      end_op(node);
      end_op(evaluate);
    }
    tape_.clear();
    thread_ = kMainThread;
    leave(2);
  }

  void run_optimizer() {
    enter("torch/optim/optimizer.py(493): wrapper");
    const std::size_t annotation = begin_op("Optimizer.step#AdamW.step");
    step_.cpu_ops[annotation].annotation = true;
    pass_ = Pass::kOptimizer;
    run_all(model_.optimizer, kTail);
    end_op(annotation);
    const std::size_t cleared = begin_op("Optimizer.zero_grad#AdamW.zero_grad");
    step_.cpu_ops[cleared].annotation = true;
    end_op(cleared);
    pass_ = Pass::kNone;
    leave();
  }

  // The host waits for the GPU and then does nothing for the planted time: a gap on all streams.
  void plant_idle(std::string_view frame) {
    if (options_.idle_ns == 0) return;
    enter(frame);
    wait(kStreamWait, 2 * kUs);
    clock_ += options_.idle_ns;
    leave();
    step_.planted_idle.begin = drained();
  }

  void return_results(std::string_view frame, std::int64_t bytes) {
    enter(frame);
    copy(DeviceEventKind::kMemcpyDtoH, bytes);
    wait(kEventWait, 3 * kUs);
    leave();
  }

  void end_step() {
    spend(300);
    step_.annotation.dur = clock_ - step_.annotation.ts;
    spend(300);
    leave(open_frames_.size());
    spend(60 * kUs);  // scheduler and detokeniser
    pass_gap();
    step_.host_end = clock_;
    if (options_.annotations && options_.model == ModelKind::kServe) mirror_annotation();
    if (options_.dialect == Dialect::kOld) round_to_microseconds(step_);
  }

  // What the host does between two steps, with as many recorded calls as asked for, evenly spread.
  void pass_gap() {
    const bool in_frame = !options_.gap_frame.empty() && options_.python_stacks;
    if (in_frame) enter(options_.gap_frame);
    const std::int64_t end = clock_ + options_.step_gap_ns + (step_.index == options_.stalled_step ? kHostStall : 0);
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
  void mirror_annotation() {
    for (const int stream : streams_) {
      DeviceEvent mirror;
      mirror.stream = stream;
      mirror.ts = std::numeric_limits<std::int64_t>::max();
      std::int64_t end = 0;
      for (const DeviceEvent& event : step_.device_events) {
        if (event.stream != stream) continue;
        mirror.ts = std::min(mirror.ts, event.ts - 1);
        end = std::max(end, event.ts + event.dur + 1);
      }
      mirror.dur = end - mirror.ts;
      const bool seen =
          std::ranges::any_of(step_.gpu_annotations, [&](const DeviceEvent& other) { return other.stream == stream; });
      if (end > 0 && !seen) step_.gpu_annotations.push_back(mirror);
    }
  }

  // ---- the host: python frames, modules, operators and the calls that launch device work

  void spend(std::int64_t cost) { clock_ += cost + random_.below(cost / 2 + 1); }

  void enter(std::string_view name, int module_index = -1) {
    spend(350);
    const std::uint64_t parent = open_frames_.empty() ? kBaseFrames : step_.python_calls[open_frames_.back()].id;
    open_frames_.push_back(step_.python_calls.size());
    step_.python_calls.push_back({clock_, 0, next_python_++, parent, name, module_index});
  }

  void leave(std::size_t frames = 1) {
    for (; frames > 0; --frames) {
      spend(250);
      PythonCall& python = step_.python_calls[open_frames_.back()];
      python.dur = clock_ - python.ts;
      open_frames_.pop_back();
      spend(40);
    }
  }

  // Closes what is not on the way to `modules`, opens the rest. Each module is two frames: the call and its forward.
  void open_modules(const std::vector<ModuleRef>& modules, int layer) {
    std::size_t shared = 0;
    while (shared < open_modules_.size() && shared < modules.size() && open_modules_[shared] == modules[shared]) {
      ++shared;
    }
    leave(2 * (open_modules_.size() - shared));
    open_modules_.resize(shared);
    for (std::size_t at = shared; at < modules.size(); ++at) {
      const ModuleRef& module = modules[at];
      enter(module.class_name, std::max(layer, 0) * module.per_layer + module.ordinal);
      enter("vllm/model_executor/custom_op.py(103): forward");
      open_modules_.push_back(module);
    }
  }

  std::size_t begin_op(std::string_view name) {
    spend(700);
    const std::int64_t rows = step_.context_tokens + step_.generation_tokens;
    step_.cpu_ops.push_back({clock_, 0, next_external_++, name, rows, thread_});
    return step_.cpu_ops.size() - 1;
  }

  void end_op(std::size_t op) {
    spend(300);
    step_.cpu_ops[op].dur = clock_ - step_.cpu_ops[op].ts;
    spend(60);
  }

  RuntimeCall& call(const Api& api, std::int64_t cost, std::uint64_t external_id) {
    spend(400);
    const auto vendor = static_cast<std::size_t>(options_.vendor);
    RuntimeCall runtime{clock_, 0, api.names[vendor], api.ids[vendor], next_correlation_, external_id};
    runtime.thread = thread_;
    next_correlation_ += options_.vendor == Vendor::kAmd ? 1 : 1 + static_cast<std::uint64_t>(random_.below(6));
    spend(cost);
    runtime.dur = clock_ - runtime.ts;
    step_.runtime_calls.push_back(runtime);
    return step_.runtime_calls.back();
  }

  void wait(const Api& api, std::int64_t more) {
    RuntimeCall& waiting = call(api, kUs, 0);
    clock_ = std::max(clock_, drained() + more);
    waiting.dur = clock_ - waiting.ts;
  }

  void copy(DeviceEventKind kind, std::int64_t bytes) {
    const bool fill = kind == DeviceEventKind::kMemset, back = kind == DeviceEventKind::kMemcpyDtoH;
    const std::size_t op = begin_op(fill ? "aten::zero_" : "aten::copy_");
    RuntimeCall& runtime = call(fill ? kFill : kCopy, 5 * kUs, step_.cpu_ops[op].external_id);
    runtime.launches = true;
    runtime.bytes = bytes;
    // The returned tokens wait for every stream, so that no step's GPU work reaches into the next step.
    const std::int64_t ready = std::max(clock_ + 2 * kUs, back ? drained() : 0);
    const std::int64_t dur = fill ? 900 : 1600 + bytes / 24;
    DeviceEvent& event = place(fill ? StreamRole::kCompute : StreamRole::kCopy, ready, dur, 700);
    event.kind = kind;
    event.correlation = runtime.correlation;
    event.external_id = runtime.external_id;
    event.bytes = bytes;
    event.layer = back ? kTail : kHead;
    compute_gate_ = std::max(compute_gate_, event.ts + event.dur);
    end_op(op);
  }

  void run_all(const Operations& operations, int layer) {
    for (const Operation& operation : operations) {
      if (takes_part(operation)) run_operation(operation, layer);
    }
    open_modules({}, 0);
  }

  void run_operation(const Operation& operation, int layer) {
    open_modules(operation.modules, layer);
    enter("torch/_ops.py(1243): __call__");
    enter("<built-in method of PyCapsule object>");
    const bool linear = operation.kernel->op_class == "dense_gemm";
    const std::size_t outer = linear ? begin_op("aten::linear") : 0;
    const std::size_t op = begin_op(operation.kernel->operator_name);
    CpuOp& forward = step_.cpu_ops[op];
    if (!operation.backward_node.empty()) {
      forward.sequence = next_sequence_++;
      forward.gradient_flow = next_gradient_flow_++;
      tape_.push_back({&operation, layer, forward.sequence, forward.gradient_flow});
    }
    launch(operation, layer, forward.external_id);
    end_op(op);
    if (linear) end_op(outer);
    leave(2);
  }

  void launch(const Operation& operation, int layer, std::uint64_t external_id) {
    const std::string_view name = operation.kernel->name(options_.vendor, step_.has_prefill());
    const std::string_view op_class = operation.kernel->op_class;
    if (op_class == "dense_gemm" || op_class.starts_with("communication")) call(kCapturing, 600, external_id);
    const bool triton = name.starts_with("_") || name.starts_with("triton_");
    const bool library = name.starts_with("Cijk_") || name.starts_with("nvjet_");
    RuntimeCall& runtime = call(triton ? kLaunchTriton : library ? kLaunchLibrary : kLaunch, 4 * kUs, external_id);
    runtime.launches = true;
    runtime.driver = triton && options_.vendor == Vendor::kNvidia;
    runtime.operation = &operation;
    runtime.lost = orphans_left_ > 0;
    if (runtime.lost) --orphans_left_;
    DeviceEvent& event = place_kernel(operation, layer, clock_ + 3 * kUs, false);
    event.launch_lost = runtime.lost;
    event.external_id = runtime.lost ? 0 : external_id;
  }

  // ---- the device: which stream a kernel runs on, when it starts and how long it takes

  [[nodiscard]] bool takes_part(const Operation& operation) const {
    if (operation.presence == Presence::kWithPrefill) return step_.has_prefill();
    return operation.presence == Presence::kAlways || step_.has_decode();
  }

  DeviceEvent& place(StreamRole role, std::int64_t ready, std::int64_t dur, std::int64_t gap) {
    const int stream = streams_[static_cast<std::size_t>(role)];
    const auto at = static_cast<std::size_t>(std::ranges::find(streams_, stream) - streams_.begin());
    DeviceEvent event;
    event.ts = std::max(ready, free_[at] + gap);
    event.dur = dur;
    event.stream = stream;
    free_[at] = event.ts + dur;
    step_.device_events.push_back(event);
    return step_.device_events.back();
  }

  // Beside the compute stream, not on it.
  [[nodiscard]] bool is_beside(StreamRole role) const {
    return role == StreamRole::kCommunication && streams_[1] != streams_[0];
  }

  DeviceEvent& place_kernel(const Operation& operation, int layer, std::int64_t ready, bool in_graph) {
    const auto place_key = static_cast<std::uint64_t>((step_.index * 4096 + layer + 8) * 4096 + operation.slot) +
                           (static_cast<std::uint64_t>(iteration_) << 52);
    const std::uint64_t noise = mix64(options_.seed, place_key);
    const std::int64_t gap = (in_graph ? 300 : 600) + uniform(noise >> 40, 400);
    const StreamRole role = stream_role(operation);
    const std::int64_t after = std::max(ready, earliest_start(role, layer, noise, gap));
    DeviceEvent& event = place(role, after, duration(operation, noise) + wait_for_ranks(operation), gap);
    if (role == StreamRole::kCompute) fork_ = event.ts;
    // Beside the compute stream a collective lets compute go on when most of it is done.
    if (is_beside(role)) compute_gate_ = event.ts + event.dur * 7 / 10;
    event.operation = &operation;
    event.name = operation.kernel->name(options_.vendor, step_.has_prefill());
    event.correlation = step_.runtime_calls.back().correlation;
    event.grid = 1 + tokens_of(operation) * operation.kernel->fixed_ns / 4096;
    event.named = operation.kernel;
    event.pass = pass_;
    event.iteration = iteration_;
    event.layer = layer;
    event.in_graph = in_graph;
    std::int64_t& idle_end = step_.planted_idle.end;
    if (step_.planted_idle.begin > 0 && idle_end == 0) idle_end = event.ts;
    return event;
  }

  // A layer's branch on the side stream starts some time after the kernel that it forks from, and ends before the next
  // layer begins.
  std::int64_t earliest_start(StreamRole role, int layer, std::uint64_t noise, std::int64_t gap) {
    const bool other = side_layer_ != layer;
    if (role == StreamRole::kSide) {
      side_layer_ = layer;
      return other ? fork_ + uniform(noise >> 24, kBranchDelay) : fork_;
    }
    if (other && side_layer_ != kHead) compute_gate_ = std::max(compute_gate_, free_[3]);
    if (other) side_layer_ = kHead;
    return is_beside(role) ? free_[0] + gap : compute_gate_;
  }

  [[nodiscard]] std::int64_t tokens_of(const Operation& operation) const {
    if (operation.presence == Presence::kWithPrefill) return step_.context_tokens;
    if (operation.presence == Presence::kWithDecode) return step_.generation_tokens;
    return step_.context_tokens + step_.generation_tokens;
  }

  [[nodiscard]] std::int64_t duration(const Operation& operation, std::uint64_t noise) const {
    const KernelKind& kernel = *operation.kernel;
    std::int64_t nanoseconds = kernel.fixed_ns + kernel.per_token_ps * tokens_of(operation) / 1000;
    if (options_.vendor == Vendor::kNvidia) nanoseconds = nanoseconds * 7 / 8;
    nanoseconds = nanoseconds * operation.factor_ppm / kMillion;
    if (options_.run > 0) {
      const std::uint64_t of_place = mix64(options_.seed, static_cast<std::uint64_t>(operation.slot) + 1'000'003);
      nanoseconds = nanoseconds * (kMillion + normal(of_place, options_.run_noise_ppm / 2)) / kMillion;
    }
    const std::int64_t jitter = uniform(noise & 0xffffffffULL, 2 * options_.jitter_ppm + 1) - options_.jitter_ppm;
    return std::max<std::int64_t>(1, nanoseconds * (kMillion + jitter) / kMillion);
  }

  // Of the first collective of a step.
  std::int64_t wait_for_ranks(const Operation& operation) {
    if (operation.kernel->op_class != "communication" || waited_in_ == step_.index) return 0;
    waited_in_ = step_.index;
    return options_.collective_wait_ns;
  }

  [[nodiscard]] std::int64_t drained() const { return *std::ranges::max_element(free_); }

  const TraceOptions& options_;
  const Model& model_;
  StreamNumbers streams_;
  Step step_;
  Random random_{0};
  std::int64_t clock_;
  std::int64_t next_step_ = 0;
  std::uint64_t next_external_ = 1;
  std::uint64_t next_python_ = kBaseFrames + 1;
  std::uint64_t next_correlation_;
  int orphans_left_;
  std::array<std::int64_t, 4> free_{};  // by position in streams_: when its last event ends
  std::int64_t compute_gate_ = 0;       // earliest start of the next compute kernel
  std::int64_t fork_ = 0;               // start of the last compute kernel: the side stream goes on from there
  int side_layer_ = kHead;              // whose branch runs on the side stream
  std::int64_t waited_in_ = -1;         // the last step whose first collective waited
  int thread_ = kMainThread;
  Pass pass_ = Pass::kNone;
  int iteration_ = 0;
  std::int64_t next_sequence_ = 1;
  std::uint64_t next_gradient_flow_ = 1;
  std::vector<Recorded> tape_;
  std::vector<std::size_t> open_frames_;
  std::vector<ModuleRef> open_modules_;
};

}  // namespace

StreamNumbers stream_numbers(const TraceOptions& options) {
  StreamNumbers numbers = options.vendor == Vendor::kAmd ? StreamNumbers{3, 8, 5, 11} : StreamNumbers{7, 27, 23, 31};
  if (options.streams < 2) numbers[1] = numbers[0];
  if (options.streams < 3) numbers[2] = numbers[0];
  if (!options.jittered_streams) numbers[3] = numbers[0];
  return numbers;
}

std::int64_t start_of(const TraceOptions& options) {
  if (options.run > 0) return 3'600'000'000'000 * kUs + options.run * kDay;
  return (3'600'000'000'000 + uniform(mix64(options.seed, 1), 400'000'000'000)) * kUs;
}

void run_steps(const TraceOptions& options, const Model& model, const std::function<void(const Step&)>& visit) {
  Schedule schedule(options, model);
  for (int index = 0; index < options.steps; ++index) visit(schedule.next());
}

}  // namespace tracedb
