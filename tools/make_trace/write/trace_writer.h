// Steps as Kineto's Chrome-trace JSON, in its own layout: header, CPU operators, python frames, runtime calls and
// device events with their flow ends, annotations on the device, metadata, tail. The caller runs the schedule once per
// part and calls the part's function for each step in order.
//
// Dialect kOld is the layout of early profilers: categories Operator, Runtime, Kernel, Memcpy, Memset, epoch times in
// whole us, thread ids as strings, no python frames.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "make_trace/run/schedule.h"
#include "make_trace/run/step.h"
#include "make_trace/trace_options.h"
#include "make_trace/write/text_output.h"

namespace tracedb {

// What the first run over the schedule finds out and the parts need.
struct TraceExtent {
  std::int64_t start = 0, end = 0;
  std::uint64_t cpu_ops = 0;  // with annotations: python events are numbered after them
};

// Epoch of the trace; times of the new dialect count from it.
constexpr std::int64_t kBaseTime = 1'743'521'598'000'000'000;

class TraceWriter {
 public:
  // All must outlive the writer.
  TraceWriter(const TraceOptions& options, const TraceExtent& extent, TextOutput& out);

  void header();
  void cpu_ops(const Step& step);
  void base_frames();
  void python_calls(const Step& step);
  void runtime_calls(const Step& step);
  void device_events(const Step& step);
  void gpu_annotations(const Step& step);
  void footer();

 private:
  void open_event();
  void event_head(std::string_view category, std::string_view name, bool device, std::int64_t thread, std::int64_t ts,
                  std::int64_t dur);
  void close_event() { out_.text("\n    }\n  }"); }
  void time(std::int64_t ts);
  void duration(std::int64_t dur);
  void thread_id(bool device, std::int64_t thread);
  void field(std::string_view before, std::uint64_t value) {
    out_.text(before);
    out_.number(value);
  }
  void cpu_op(const CpuOp& op, const Step* annotated);
  void shapes(const CpuOp& op);
  void sequence(const CpuOp& op);
  [[nodiscard]] std::string_view cpu_category(const CpuOp& op, const Step* annotated) const;
  void python_call(const PythonCall& call);
  void runtime_arguments(const RuntimeCall& call, bool large);
  struct FlowName {
    std::string_view category, name;
  };
  void flow(const FlowName& what, char phase, std::uint64_t id, bool device, std::int64_t thread, std::int64_t ts);
  void gradient_ends(const CpuOp& op);
  [[nodiscard]] FlowName launch_flow() const { return old() ? FlowName{"async", "launch"} : FlowName{"ac2g", "ac2g"}; }
  [[nodiscard]] std::int64_t thread_number(int thread) const { return pid_ + std::int64_t{812} * thread; }
  void external_id(const DeviceEvent& event);
  void correlation(const DeviceEvent& event);
  void kernel_arguments(const DeviceEvent& event);
  void collective_arguments(const DeviceEvent& event);
  void memory_arguments(const DeviceEvent& event);
  void device_event(const DeviceEvent& event);
  void device_properties();
  void distributed_info();
  void metadata(std::string_view name, std::int64_t pid, bool device, std::int64_t thread, std::string_view key,
                std::string_view text);
  void name_processes();
  void name_threads();
  void closing_spans();
  [[nodiscard]] bool amd() const { return options_.vendor == Vendor::kAmd; }
  [[nodiscard]] bool old() const { return options_.dialect == Dialect::kOld; }

  const TraceOptions& options_;
  const TraceExtent& extent_;
  TextOutput& out_;
  std::int64_t pid_ = 0;
  bool first_ = true;
};

// "execute_context_N(T)_generation_M(K)" or "ProfilerStep#N".
std::string step_name(const TraceOptions& options, const Step& step);

// All parts in file order. `restart` must run the same schedule from its beginning, calling back for each step.
using StepVisitor = std::function<void(const Step&)>;
using StepRunner = std::function<void(const StepVisitor&)>;
void write_trace(const TraceOptions& options, const TraceExtent& extent, const StepRunner& run, TextOutput& out);

}  // namespace tracedb
