#include "make_trace/write/trace_writer.h"

#include <fmt/format.h>

#include "make_trace/model/model.h"
#include "make_trace/random.h"

namespace tracedb {
namespace {

constexpr std::int64_t kFirstProfilerStep = 4;  // a schedule's wait and warm-up come first

constexpr std::string_view category_of(const DeviceEvent& event, bool old) {
  if (event.kind == DeviceEventKind::kKernel) return old ? "Kernel" : "kernel";
  if (event.kind == DeviceEventKind::kMemset) return old ? "Memset" : "gpu_memset";
  return old ? "Memcpy" : "gpu_memcpy";
}

constexpr std::string_view memory_name(DeviceEventKind kind, bool amd) {
  if (kind == DeviceEventKind::kMemset) return "Memset (Device)";
  if (kind == DeviceEventKind::kMemcpyHtoD) {
    return amd ? "Memcpy HtoD (Host -> Device)" : "Memcpy HtoD (Pinned -> Device)";
  }
  return amd ? "Memcpy DtoH (Device -> Host)" : "Memcpy DtoH (Device -> Pinned)";
}

}  // namespace

std::string step_name(const TraceOptions& options, const Step& step) {
  if (options.model != ModelKind::kServe) return fmt::format("ProfilerStep#{}", step.index + kFirstProfilerStep);
  return fmt::format("execute_context_{}({})_generation_{}({})", step.context_requests, step.context_tokens,
                     step.generation_requests, step.generation_tokens);
}

TraceWriter::TraceWriter(const TraceOptions& options, const TraceExtent& extent, TextOutput& out)
    : options_(options), extent_(extent), out_(out), pid_(4000 + uniform(mix64(options.seed, 5), 60'000)) {}

void TraceWriter::open_event() {
  out_.text(first_ ? "  {\n" : ",\n  {\n");
  first_ = false;
}

void TraceWriter::time(std::int64_t ts) {
  if (old())
    out_.number((kBaseTime + ts) / 1000);
  else
    out_.thousandths(ts);
}

void TraceWriter::duration(std::int64_t dur) {
  if (old())
    out_.number(dur / 1000);
  else
    out_.thousandths(dur);
}

void TraceWriter::thread_id(bool device, std::int64_t thread) {
  if (old()) out_.text(device ? "\"stream " : "\"");
  out_.number(thread);
  if (old()) out_.text("\"");
}

void TraceWriter::event_head(std::string_view category, std::string_view name, bool device, std::int64_t thread,
                             std::int64_t ts, std::int64_t dur) {
  open_event();
  out_.text("    \"ph\": \"X\", \"cat\": \"");
  out_.text(category);
  out_.text(old() ? "\", \n    \"name\": \"" : "\", \"name\": \"");
  out_.text(name);
  out_.text("\", \"pid\": ");
  out_.number(device ? std::int64_t{options_.rank} : pid_);
  out_.text(", \"tid\": ");
  thread_id(device, thread);
  out_.text(",\n    \"ts\": ");
  time(ts);
  out_.text(", \"dur\": ");
  duration(dur);
  out_.text(",\n    \"args\": {\n      ");
}

void TraceWriter::flow(const FlowName& what, char phase, std::uint64_t id, bool device, std::int64_t thread,
                       std::int64_t ts) {
  open_event();
  out_.text(phase == 's' ? "    \"ph\": \"s\", \"id\": " : "    \"ph\": \"f\", \"id\": ");
  out_.number(id);
  out_.text(", \"pid\": ");
  out_.number(device ? std::int64_t{options_.rank} : pid_);
  out_.text(", \"tid\": ");
  thread_id(device, thread);
  out_.text(", \"ts\": ");
  time(ts);
  out_.text(",\n    \"cat\": \"");
  out_.text(what.category);
  out_.text("\", \"name\": \"");
  out_.text(what.name);
  out_.text(phase == 's' ? "\"\n  }" : "\", \"bp\": \"e\"\n  }");
}

void TraceWriter::cpu_ops(const Step& step) {
  if (options_.annotations) cpu_op(step.annotation, &step);
  for (const CpuOp& op : step.cpu_ops) {
    cpu_op(op, nullptr);
    gradient_ends(op);
  }
}

// Early profilers did not join an operator with its backward.
void TraceWriter::gradient_ends(const CpuOp& op) {
  if (op.gradient_flow == 0 || old()) return;
  const char phase = op.thread == kMainThread ? 's' : 'f';
  flow({"fwdbwd", "fwdbwd"}, phase, op.gradient_flow, false, thread_number(op.thread), op.ts);
}

// Early profilers had no category for annotations; that of a server's steps is kept in both dialects.
std::string_view TraceWriter::cpu_category(const CpuOp& op, const Step* annotated) const {
  const bool annotation = annotated != nullptr || op.annotation;
  const bool has_category = !old() || options_.model == ModelKind::kServe;
  if (annotation && has_category) return "user_annotation";
  return old() ? "Operator" : "cpu_op";
}

// The name of a step is built here, not stored.
void TraceWriter::cpu_op(const CpuOp& op, const Step* annotated) {
  std::string name;
  if (annotated != nullptr) name = step_name(options_, *annotated);
  if (op.evaluates) name.append("autograd::engine::evaluate_function: ").append(op.name);
  event_head(cpu_category(op, annotated), name.empty() ? op.name : std::string_view(name), false,
             thread_number(op.thread), op.ts, op.dur);
  if (old()) {
    field("\"Device\": ", static_cast<std::uint64_t>(pid_));
    field(", \"External id\": ", op.external_id);
    out_.text(",\n      \"Trace name\": \"PyTorch Profiler\", \"Trace iteration\": 0 ");
    if (options_.shapes) shapes(op);
    sequence(op);
  } else {
    field("\"External id\": ", op.external_id);
    out_.text(",\"Record function id\": 0");
    sequence(op);
    if (options_.shapes && annotated == nullptr) shapes(op);
    if (amd()) out_.text(", \"finished\": true");
    field(", \"Ev Idx\": ", op.external_id - 1);
  }
  close_event();
}

void TraceWriter::sequence(const CpuOp& op) {
  if (op.sequence < 0) return;
  field(", \"Sequence number\": ", static_cast<std::uint64_t>(op.sequence));
  field(", \"Fwd thread id\": ", op.thread == kMainThread ? 0 : 1);
}

void TraceWriter::shapes(const CpuOp& op) {
  const auto rows = static_cast<std::uint64_t>(op.rows);
  if (!old()) out_.text(", \"Concrete Inputs\": [\"\", \"\"]");
  out_.text(
      old() ? ",\n      \"Input type\": [\"c10::BFloat16\", \"c10::BFloat16\"]"
            : ", \"Input type\": [\"c10::BFloat16\", \"c10::BFloat16\"], \"Input Strides\": [[4096, 1], [1, 4096]]");
  field(", \"Input Dims\": [[", rows);
  out_.text(", 4096], [4096, 6144]]");
}

// Frames that are open before the first step and after the last one.
void TraceWriter::base_frames() {
  constexpr std::string_view kProgram[kBaseFrames] = {"runpy.py(86): _run_code", "run.py(1): <module>",
                                                      "run.py(71): main", "torch/profiler/profiler.py(805): __enter__"};
  constexpr std::string_view kServer[kBaseFrames] = {"threading.py(1032): _bootstrap",
                                                     "threading.py(1075): _bootstrap_inner",
                                                     "vllm/v1/executor/multiproc_executor.py(742): worker_main",
                                                     "vllm/v1/executor/multiproc_executor.py(818): worker_busy_loop"};
  for (std::uint64_t at = 0; at < kBaseFrames; ++at) {
    PythonCall frame;
    frame.ts = extent_.start + static_cast<std::int64_t>(at) * 1500;
    frame.dur = extent_.end - static_cast<std::int64_t>(at) * 1500 - frame.ts;
    frame.id = at + 1;
    frame.parent = at;
    frame.name = options_.model == ModelKind::kServe ? kServer[at] : kProgram[at];
    python_call(frame);
  }
}

void TraceWriter::python_calls(const Step& step) {
  for (const PythonCall& call : step.python_calls) python_call(call);
}

void TraceWriter::python_call(const PythonCall& call) {
  std::string module;
  if (call.module_index >= 0) {
    module.append("nn.Module: ").append(call.name).append("_").append(std::to_string(call.module_index));
  }
  event_head("python_function", module.empty() ? call.name : std::string_view(module), false, pid_, call.ts, call.dur);
  if (call.parent == 0)
    out_.text("\"Python parent id\": null");
  else
    field("\"Python parent id\": ", call.parent);
  if (!module.empty()) field(", \"Python module id\": ", static_cast<std::uint64_t>(call.module_index));
  field(", \"Python id\": ", call.id);
  if (amd()) out_.text(", \"finished\": true");
  field(", \"Ev Idx\": ", extent_.cpu_ops + call.id - 1);
  close_event();
}

// A call that launches nothing still gets a flow end, on its own row.
void TraceWriter::runtime_calls(const Step& step) {
  for (const RuntimeCall& call : step.runtime_calls) {
    if (call.lost) continue;
    event_head(old()         ? "Runtime"
               : call.driver ? "cuda_driver"
                             : "cuda_runtime",
               call.name, false, thread_number(call.thread), call.ts, call.dur);
    runtime_arguments(call, step.has_prefill());
    close_event();
    if (call.launches)
      flow(launch_flow(), 's', call.correlation, false, thread_number(call.thread), call.ts);
    else if (!old())
      flow(launch_flow(), 'f', call.correlation, false, thread_number(call.thread), call.ts);
  }
}

void TraceWriter::runtime_arguments(const RuntimeCall& call, bool large) {
  if (call.external_id != 0 && !old()) {
    field("\"External id\": ", call.external_id);
    out_.text(",");
  }
  if (!old()) out_.text("      ");
  if (amd() && call.operation != nullptr) {
    out_.text("\"kernel\": \"");
    out_.text(call.operation->kernel->name(options_.vendor, large));
    out_.text("\", ");
  }
  field(amd() ? "\"cid\": " : "\"cbid\": ", static_cast<std::uint64_t>(call.callback_id));
  field(", \"correlation\": ", call.correlation);
  if (amd() && call.bytes > 0) {
    field(", \"src\": \"0x7fab35e00000\", \"dst\": \"0x7fab5c600000\", \"bytes\": \"",
          static_cast<std::uint64_t>(call.bytes));
    out_.text("\", \"kind\": \"1\"");
  }
  if (old() && call.external_id != 0) field(",\n      \"external id\": ", call.external_id);
}

void TraceWriter::device_events(const Step& step) {
  for (const DeviceEvent& event : step.device_events) device_event(event);
}

void TraceWriter::device_event(const DeviceEvent& event) {
  const bool kernel = event.kind == DeviceEventKind::kKernel;
  event_head(category_of(event, old()), kernel ? event.name : memory_name(event.kind, amd()), true, event.stream,
             event.ts, event.dur);
  if (kernel)
    kernel_arguments(event);
  else
    memory_arguments(event);
  close_event();
  if (!event.launch_lost) flow(launch_flow(), 'f', event.correlation, true, event.stream, event.ts);
}

void TraceWriter::gpu_annotations(const Step& step) {
  if (step.gpu_annotations.empty() || old()) return;
  const std::string name = step_name(options_, step);
  for (const DeviceEvent& mirror : step.gpu_annotations) {
    event_head("gpu_user_annotation", name, true, mirror.stream, mirror.ts, mirror.dur);
    field("\"External id\": ", step.annotation_id);
    close_event();
  }
}

void write_trace(const TraceOptions& options, const TraceExtent& extent, const StepRunner& run, TextOutput& out) {
  TraceWriter writer(options, extent, out);
  writer.header();
  run([&](const Step& step) { writer.cpu_ops(step); });
  if (options.python_stacks) {
    writer.base_frames();
    run([&](const Step& step) { writer.python_calls(step); });
  }
  if (options.vendor == Vendor::kAmd) {
    run([&](const Step& step) { writer.runtime_calls(step); });
    run([&](const Step& step) { writer.device_events(step); });
  } else {
    run([&](const Step& step) {
      writer.runtime_calls(step);
      writer.device_events(step);
    });
  }
  if (options.annotations) run([&](const Step& step) { writer.gpu_annotations(step); });
  writer.footer();
}

}  // namespace tracedb
