#include "make_trace/trace_writer.h"

#include <algorithm>

#include "make_trace/random.h"

namespace tracedb {
namespace {

constexpr std::int64_t kFirstProfilerStep = 4;  // a schedule's wait and warm-up come first
constexpr std::int64_t kSmCount = 132;

// Without correlations External ids belong to another numbering: they name operators that start later.
constexpr std::uint64_t kOtherNumbering = 5;

// Frames that are open before the first step and after the last one.
constexpr std::string_view kProgram[kBaseFrames] = {"runpy.py(86): _run_code", "run.py(1): <module>",
                                                    "run.py(71): main", "torch/profiler/profiler.py(805): __enter__"};
constexpr std::string_view kServer[kBaseFrames] = {"threading.py(1032): _bootstrap",
                                                   "threading.py(1075): _bootstrap_inner",
                                                   "vllm/v1/executor/multiproc_executor.py(742): worker_main",
                                                   "vllm/v1/executor/multiproc_executor.py(818): worker_busy_loop"};

class TraceWriter {
 public:
  TraceWriter(const TraceOptions& options, const TraceExtent& extent, TextOutput& out)
      : options_(options), extent_(extent), out_(out), pid_(4000 + uniform(mix64(options.seed, 5), 60'000)) {}

  // ---- what surrounds the steps: the keys before the events, and the metadata, spans and keys after them

  void header() {
    out_.put("\n{\n  \"schemaVersion\": 1,\n");
    device_properties();
    if (!old_) {
      out_.put(amd_ ? "  \"roctracer_version\": 4.1,\n  \"hip_runtime_version\": 60550421,\n"
                    : "  \"cupti_version\": 22,\n  \"cuda_runtime_version\": 12040,\n"
                      "  \"cuda_driver_version\": 12090,\n");
      if (options_.tensor_parallel > 1) distributed_info();
      if (options_.shapes) out_.put("  \"record_shapes\": 1,\n");
      if (amd_) out_.put("  \"hip_driver_version\": 60550421,\n");
      if (options_.python_stacks) out_.put("  \"with_stack\": 1,\n");
      out_.put(
          fmt::format("  \"trace_id\": \"{:016X}{:016X}\",\n", mix64(options_.seed, 10), mix64(options_.seed, 11)));
    }
    out_.put("  \"traceEvents\": [\n");
  }

  void device_properties() {
    out_.put("  \"deviceProperties\": [");
    for (int device = 0; device < std::max(options_.tensor_parallel, options_.rank + 1); ++device) {
      out_.put(device == 0 ? "\n" : ",\n", "    {\n      \"id\": ", device, ", \"name\": \"",
               amd_ ? "AMD Instinct MI300X" : "NVIDIA H100 80GB HBM3",
               "\", \"totalGlobalMem\": ", amd_ ? 206141652992 : 85018279936,
               ",\n      \"computeMajor\": 9, \"computeMinor\": ", amd_ ? 4 : 0,
               ",\n      \"maxThreadsPerBlock\": 1024, \"maxThreadsPerMultiprocessor\": 2048,\n"
               "      \"regsPerBlock\": 65536, \"warpSize\": ",
               amd_ ? 64 : 32, ",\n      \"sharedMemPerBlock\": ", amd_ ? 65536 : 49152,
               ", \"numSms\": ", amd_ ? 304 : 132, "\n",
               amd_ ? "    , \"maxSharedMemoryPerMultiProcessor\": 65536\n    }"
                    : "    , \"regsPerMultiprocessor\": 65536, \"sharedMemPerBlockOptin\": 232448, "
                      "\"sharedMemPerMultiprocessor\": 233472\n    }");
    }
    out_.put("\n  ],\n");
  }

  void distributed_info() {
    std::vector<int> ranks;
    for (int rank = 0; rank < options_.tensor_parallel; ++rank) ranks.push_back(rank);
    const auto group = [&](std::string_view name, std::string_view description) {
      return json_object("pg_name", name, "pg_desc", description, "backend_config", "cuda:nccl", "pg_size",
                         options_.tensor_parallel, "ranks", json_list(ranks));
    };
    const Json groups[] = {group("0", "default_pg"), group("3", "undefined")};
    const Json info = json_object("backend", "nccl", "rank", options_.rank, "world_size", options_.tensor_parallel,
                                  "pg_count", 2, "pg_config", json_list(groups), "nccl_version", "2.22.3");
    out_.put("  \"distributedInfo\": ", info.text, ",\n");
  }

  void footer() {
    name_process(pid_, "CPU", pid_);
    for (int device = 0; device < 8; ++device) {
      name_process(device, fmt::format("GPU {}", device), 5'000'000 + device);
    }
    std::vector<int> streams;
    for (const int stream : stream_numbers(options_)) {
      if (std::ranges::find(streams, stream) == streams.end()) streams.push_back(stream);
    }
    for (const int stream : streams) name_thread({options_.rank, true, stream}, fmt::format("stream {} ", stream));
    name_thread(host(kMainThread), fmt::format("thread {} (python3)", pid_));
    if (options_.model == ModelKind::kTrain) {
      const Row autograd = host(kAutogradThread);
      metadata("thread_name", autograd, "name", fmt::format("\"thread {} (pt_autograd_0)\"", autograd.thread));
    }
    closing_spans();
    out_.put(old_ ? "\n]}"
                  : fmt::format("\n  ],\n  \"traceName\": \"/tmp/tmp{:08x}.json\",\n  \"displayTimeUnit\": \"ms\",\n"
                                "  \"baseTimeNanoseconds\": {}\n}}",
                                mix64(options_.seed, 12) >> 32, kBaseTime));
  }

  // ---- the parts of all steps, in the order of the file

  void cpu_ops(const Step& step) {
    if (options_.annotations) cpu_op(step.annotation, step_name(options_, step), true);
    for (const CpuOp& op : step.cpu_ops) {
      // The name is built here, not stored.
      cpu_op(op, op.evaluates ? fmt::format("autograd::engine::evaluate_function: {}", op.name) : "", false);
      // Early profilers did not join an operator with its backward.
      if (op.gradient_flow == 0 || old_) continue;
      flow("fwdbwd", "fwdbwd", op.thread == kMainThread, op.gradient_flow, host(op.thread), op.ts);
    }
  }

  void base_frames() {
    for (std::uint64_t at = 0; at < kBaseFrames; ++at) {
      const std::int64_t inwards = static_cast<std::int64_t>(at) * 1500;
      python_call({extent_.start + inwards, extent_.end - extent_.start - 2 * inwards, at + 1, at,
                   options_.model == ModelKind::kServe ? kServer[at] : kProgram[at]});
    }
  }

  void python_calls(const Step& step) {
    for (const PythonCall& call : step.python_calls) python_call(call);
  }

  // A call that launches nothing still gets a flow end, on its own row.
  void runtime_calls(const Step& step) {
    for (const RuntimeCall& call : step.runtime_calls) {
      if (call.lost) continue;
      const std::string_view category = call.driver ? "cuda_driver" : "cuda_runtime";
      event_head(old_ ? "Runtime" : category, call.name, host(call.thread), call.ts, call.dur);
      runtime_arguments(call, step.has_prefill());
      close_event();
      if (call.launches || !old_) launch_flow(call.launches, call.correlation, host(call.thread), call.ts);
    }
  }

  void device_events(const Step& step) {
    for (const DeviceEvent& event : step.device_events) {
      const bool kernel = event.kind == DeviceEventKind::kKernel;
      event_head(category_of(event), kernel ? event.name : memory_name(event.kind), on(event), event.ts, event.dur);
      kernel ? kernel_arguments(event) : memory_arguments(event);
      close_event();
      if (!event.launch_lost) launch_flow(false, event.correlation, on(event), event.ts);
    }
  }

  void gpu_annotations(const Step& step) {
    if (step.gpu_annotations.empty() || old_) return;
    const std::string name = step_name(options_, step);
    for (const DeviceEvent& mirror : step.gpu_annotations) {
      event_head("gpu_user_annotation", name, on(mirror), mirror.ts, mirror.dur);
      out_.put("\"External id\": ", step.annotation_id);
      close_event();
    }
  }

 private:
  // Of a process or device: a thread, or a stream.
  struct Row {
    std::int64_t pid;
    bool device;
    std::int64_t thread;
  };
  [[nodiscard]] Row host(int thread) const { return {pid_, false, pid_ + std::int64_t{812} * thread}; }
  [[nodiscard]] Row on(const DeviceEvent& event) const { return {options_.rank, true, event.stream}; }
  [[nodiscard]] Thousandths time(std::int64_t ts) const { return {old_ ? kBaseTime + ts : ts, old_}; }

  void open_event() {
    out_.put(first_ ? "  {\n" : ",\n  {\n");
    first_ = false;
  }
  void close_event() { out_.put("\n    }\n  }"); }

  void put_row(const Row& row) {
    out_.put(", \"pid\": ", row.pid, ", \"tid\": ",
             !old_        ? ""
             : row.device ? "\"stream "
                          : "\"",
             row.thread, old_ ? "\"" : "");
  }

  void event_head(std::string_view category, std::string_view name, const Row& row, std::int64_t ts, std::int64_t dur) {
    open_event();
    out_.put("    \"ph\": \"X\", \"cat\": \"", category, old_ ? "\", \n    \"name\": \"" : "\", \"name\": \"", name,
             "\"");
    put_row(row);
    out_.put(",\n    \"ts\": ", time(ts), ", \"dur\": ", Thousandths{dur, old_}, ",\n    \"args\": {\n      ");
  }

  void flow(std::string_view category, std::string_view name, bool starts, std::uint64_t id, const Row& row,
            std::int64_t ts) {
    open_event();
    out_.put(starts ? "    \"ph\": \"s\", \"id\": " : "    \"ph\": \"f\", \"id\": ", id);
    put_row(row);
    out_.put(", \"ts\": ", time(ts), ",\n    \"cat\": \"", category, "\", \"name\": \"", name,
             starts ? "\"\n  }" : "\", \"bp\": \"e\"\n  }");
  }
  void launch_flow(bool starts, std::uint64_t correlation, const Row& row, std::int64_t ts) {
    flow(old_ ? "async" : "ac2g", old_ ? "launch" : "ac2g", starts, correlation, row, ts);
  }

  // `name`: instead of the operator's own, where not empty.
  void cpu_op(const CpuOp& op, const std::string& name, bool is_step) {
    // Early profilers had no category for annotations; that of a server's steps is kept in both dialects.
    const bool annotation = (is_step || op.annotation) && (!old_ || options_.model == ModelKind::kServe);
    const std::string_view category = annotation ? "user_annotation" : old_ ? "Operator" : "cpu_op";
    event_head(category, name.empty() ? op.name : std::string_view(name), host(op.thread), op.ts, op.dur);
    if (old_) {
      out_.put("\"Device\": ", pid_, ", \"External id\": ", op.external_id,
               ",\n      \"Trace name\": \"PyTorch Profiler\", \"Trace iteration\": 0 ");
      if (options_.shapes) shapes(op);
      sequence(op);
    } else {
      out_.put("\"External id\": ", op.external_id, ",\"Record function id\": 0");
      sequence(op);
      if (options_.shapes && !is_step) shapes(op);
      out_.put(finished(), ", \"Ev Idx\": ", op.external_id - 1);
    }
    close_event();
  }

  [[nodiscard]] std::string_view finished() const { return amd_ ? ", \"finished\": true" : ""; }

  void sequence(const CpuOp& op) {
    if (op.sequence < 0) return;
    out_.put(", \"Sequence number\": ", op.sequence, ", \"Fwd thread id\": ", op.thread == kMainThread ? 0 : 1);
  }

  void shapes(const CpuOp& op) {
    out_.put(old_ ? ",\n      \"Input type\": [\"c10::BFloat16\", \"c10::BFloat16\"]"
                  : ", \"Concrete Inputs\": [\"\", \"\"], \"Input type\": [\"c10::BFloat16\", \"c10::BFloat16\"], "
                    "\"Input Strides\": [[4096, 1], [1, 4096]]",
             ", \"Input Dims\": [[", op.rows, ", 4096], [4096, 6144]]");
  }

  void python_call(const PythonCall& call) {
    const bool module = call.module_index >= 0;
    const std::string name = module ? fmt::format("nn.Module: {}_{}", call.name, call.module_index) : "";
    event_head("python_function", module ? std::string_view(name) : call.name, host(kMainThread), call.ts, call.dur);
    out_.put("\"Python parent id\": ");
    call.parent == 0 ? out_.put("null") : out_.put(call.parent);
    if (module) out_.put(", \"Python module id\": ", call.module_index);
    out_.put(", \"Python id\": ", call.id, finished(), ", \"Ev Idx\": ", extent_.cpu_ops + call.id - 1);
    close_event();
  }

  void runtime_arguments(const RuntimeCall& call, bool large) {
    if (call.external_id != 0 && !old_) out_.put("\"External id\": ", call.external_id, ",");
    if (!old_) out_.put("      ");
    if (amd_ && call.operation != nullptr) {
      out_.put("\"kernel\": \"", call.operation->kernel->name(options_.vendor, large), "\", ");
    }
    out_.put(amd_ ? "\"cid\": " : "\"cbid\": ", call.callback_id, ", \"correlation\": ", call.correlation);
    if (amd_ && call.bytes > 0) {
      out_.put(", \"src\": \"0x7fab35e00000\", \"dst\": \"0x7fab5c600000\", \"bytes\": \"", call.bytes,
               "\", \"kind\": \"1\"");
    }
    if (old_ && call.external_id != 0) out_.put(",\n      \"external id\": ", call.external_id);
  }

  [[nodiscard]] std::string_view category_of(const DeviceEvent& event) const {
    if (event.kind == DeviceEventKind::kKernel) return old_ ? "Kernel" : "kernel";
    if (event.kind == DeviceEventKind::kMemset) return old_ ? "Memset" : "gpu_memset";
    return old_ ? "Memcpy" : "gpu_memcpy";
  }

  [[nodiscard]] std::string_view memory_name(DeviceEventKind kind) const {
    if (kind == DeviceEventKind::kMemset) return "Memset (Device)";
    const bool to_device = kind == DeviceEventKind::kMemcpyHtoD;
    if (amd_) return to_device ? "Memcpy HtoD (Host -> Device)" : "Memcpy DtoH (Device -> Host)";
    return to_device ? "Memcpy HtoD (Pinned -> Device)" : "Memcpy DtoH (Device -> Pinned)";
  }

  // What the arguments of all device events begin with, as the Kineto back end of each vendor writes it.
  void device_arguments(const DeviceEvent& event, std::string_view before) {
    if (event.external_id != 0) {
      out_.put(old_ ? "\"external id\": " : "\"External id\": ",
               event.external_id + (options_.correlation ? 0 : kOtherNumbering), ",");
    }
    out_.put(before, options_.rank, amd_ ? ", \"stream\": " : ", \"context\": 1,      \"stream\": ", event.stream);
    if (!options_.correlation) return;
    out_.put(amd_ ? ",      \"correlation\": " : ", \"correlation\": ", event.correlation);
  }

  void kernel_arguments(const DeviceEvent& event) {
    const KernelKind& kernel = *event.operation->kernel;
    device_arguments(event, amd_ ? "      \"device\": " : "      \"queued\": 0, \"device\": ");
    if (amd_) {
      out_.put(event.in_graph ? ", \"kind\": \"Dispatch Task\"" : ", \"kind\": \"Dispatch Kernel\"");
      if (event.in_graph) return;
    } else {
      const std::int64_t blocks = event.grid * kMillion / kSmCount;
      out_.put(",      \"registers per thread\": ", 24 + kernel.fixed_ns % 97,
               ",      \"shared memory\": ", kernel.block * 16, ",      \"blocks per SM\": ", Millionths{blocks},
               ",      \"warps per SM\": ", Millionths{blocks * (kernel.block / 32)});
    }
    out_.put(",      \"grid\":     [", event.grid, ", 1, 1], \"block\":     [", kernel.block, ", 1, 1]",
             amd_ ? "" : ",      \"est. achieved occupancy %\": 50");
    if (!event.in_graph && event.name.starts_with("nccl")) collective_arguments(event);
  }

  void collective_arguments(const DeviceEvent& event) {
    const bool gather = event.operation->kernel->role == "logits_all_gather";
    const std::int64_t elements = event.grid * 1024;
    out_.put(
        ", \"Collective name\": ", gather ? "\"_allgather_base\"" : "\"allreduce\"", ", \"In msg nelems\": ", elements,
        ", \"Out msg nelems\": ", gather ? elements * options_.tensor_parallel : elements,
        ", \"Group size\": ", options_.tensor_parallel,
        ", \"dtype\": \"BFloat16\", \"In split size\": \"[]\", \"Out split size\": \"[]\", \"Process Group Name\": "
        "\"3\", \"Process Group Description\": \"undefined\"");
  }

  void memory_arguments(const DeviceEvent& event) {
    device_arguments(event, "      \"device\": ");
    if (amd_) out_.put(event.kind == DeviceEventKind::kMemcpyHtoD ? ", \"kind\": \"HtoD\"" : ", \"kind\": \"DtoH\"");
    out_.put(",      \"bytes\": ", event.bytes);
    if (event.dur == 0) return;
    out_.put(", \"memory bandwidth (GB/s)\": ", Millionths{event.bytes * kMillion / event.dur});
  }

  void metadata(std::string_view name, const Row& row, std::string_view key, std::string_view value) {
    open_event();
    out_.put("    \"name\": \"", name, "\", \"ph\": \"M\", \"ts\": ", time(extent_.start));
    put_row(row);
    out_.put(",\n    \"args\": {\n      \"", key, "\": ", value);
    close_event();
  }

  void name_process(std::int64_t pid, std::string_view label, std::int64_t place) {
    metadata("process_name", {pid, false, 0}, "name", "\"python3\"");
    metadata("process_labels", {pid, false, 0}, "labels", fmt::format("\"{}\"", label));
    metadata("process_sort_index", {pid, false, 0}, "sort_index", std::to_string(place));
  }

  void name_thread(const Row& row, std::string_view name) {
    metadata("thread_name", row, "name", fmt::format("\"{}\"", name));
    metadata("thread_sort_index", row, "sort_index", std::to_string(row.thread));
  }

  void closing_spans() {
    open_event();
    out_.put("    \"ph\": \"X\", \"cat\": \"Trace\", \"ts\": ", time(extent_.start),
             ", \"dur\": ", Thousandths{extent_.end - extent_.start, old_},
             ",\n    \"pid\": \"Spans\", \"tid\": \"PyTorch Profiler\",\n    \"name\": \"PyTorch Profiler (0)\",\n"
             "    \"args\": {\n      \"Op count\": 0");
    close_event();
    open_event();
    out_.put("    \"name\": \"process_sort_index\", \"ph\": \"M\", \"ts\": ", time(extent_.start),
             ",\n    \"pid\": \"Spans\", \"tid\": 0,\n    \"args\": {\n      \"sort_index\": 536870912");
    close_event();
    open_event();
    out_.put(
        "    \"name\": \"Iteration Start: PyTorch Profiler\", \"ph\": \"i\", \"s\": \"g\",\n    \"pid\": \"Traces\", "
        "\"tid\": \"Trace PyTorch Profiler\", \"ts\": ",
        time(extent_.start), "\n  }");
    open_event();
    out_.put(
        "    \"name\": \"Record Window End\", \"ph\": \"i\", \"s\": \"g\",\n    \"pid\": \"\", \"tid\": \"\", \"ts\": ",
        time(extent_.end), "\n  }");
  }

  const TraceOptions& options_;
  const TraceExtent& extent_;
  TextOutput& out_;
  const bool amd_ = options_.vendor == Vendor::kAmd, old_ = options_.dialect == Dialect::kOld;
  const std::int64_t pid_;
  bool first_ = true;
};

}  // namespace

std::string step_name(const TraceOptions& options, const Step& step) {
  if (options.model != ModelKind::kServe) return fmt::format("ProfilerStep#{}", step.index + kFirstProfilerStep);
  return fmt::format("execute_context_{}({})_generation_{}({})", step.context_requests, step.context_tokens,
                     step.generation_requests, step.generation_tokens);
}

void write_trace(const TraceOptions& options, const Model& model, const TraceExtent& extent, TextOutput& out) {
  TraceWriter writer(options, extent, out);
  const auto run = [&](const std::function<void(const Step&)>& part) { run_steps(options, model, part); };
  writer.header();
  run([&](const Step& step) { writer.cpu_ops(step); });
  if (options.python_stacks) {
    writer.base_frames();
    run([&](const Step& step) { writer.python_calls(step); });
  }
  if (options.vendor == Vendor::kAmd) run([&](const Step& step) { writer.runtime_calls(step); });
  run([&](const Step& step) {
    if (options.vendor == Vendor::kNvidia) writer.runtime_calls(step);
    writer.device_events(step);
  });
  if (options.annotations) run([&](const Step& step) { writer.gpu_annotations(step); });
  writer.footer();
}

}  // namespace tracedb
