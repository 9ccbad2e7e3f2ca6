// What a format of traces (meta.format) can hold at all: advice asks for nothing else, and what one of two formats
// cannot hold is no difference between their traces.
#pragma once

#include <string_view>

namespace tracedb {

struct FormatHolds {
  bool graphs;    // PyTorch's own, whose replays --capture explains
  bool stacks;    // of Python
  bool launches;  // calls of the host, and operators and annotations around them
  bool copies;    // and fills, by the device's own engines
};

constexpr bool is_xla(std::string_view format) { return format == "xplane" || format == "xla-json"; }

constexpr FormatHolds format_holds(std::string_view format) {
  const bool ascend = format == "ascend-trace-view" || format == "ascend-db";
  const bool device_alone = format == "aie" || format == "ascend-kernel-csv";
  return {format == "kineto", format == "kineto" || ascend || is_xla(format), !device_alone, !device_alone};
}

// The stream of copies and collectives of a TPU that are in flight while its operations run or wait for them: their
// time is none in which the device is busy.
inline constexpr std::string_view kInFlightStream = "Async XLA Ops";

// Operations of a TPU are drawn as operators where they run: their time is none of the host.
constexpr bool operators_run_on_host(std::string_view vendor) { return vendor != "google"; }

// What to do so that the next recording has it, in words behind "...: "; "": nothing is said.
struct RecordingAdvice {
  std::string_view steps = {}, layers = {}, stacks = {}, memory = {}, shapes = {}, counters = {}, operators = {};
};

constexpr RecordingAdvice recording_advice(std::string_view format) {
  constexpr std::string_view kNone = "this format holds none";
  if (is_xla(format)) {
    return {"mark each with jax.profiler.StepTraceAnnotation",
            "name parts of the model with jax.named_scope",
            "profile with python_tracer_level=1",
            "a profile of XLA holds at most what allocators count (SQL: table counter)",
            "",
            "",
            "profile the CPU, too"};
  }
  if (format == "nsys-sqlite") {
    return {.stacks = kNone,
            .memory = "those of Nsight Systems (table CUDA_GPU_MEMORY_USAGE_EVENTS) are not read",
            .shapes = "record them by torch.autograd.profiler.emit_nvtx(record_shapes=True)",
            .operators = "record them by torch.autograd.profiler.emit_nvtx"};
  }
  if (format == "rocpd" || format == "rocprofv3-json")
    return {.stacks = kNone, .memory = "those of rocprofv3 are slices (category MEMORY_ALLOCATION)"};
  if (!format_holds(format).stacks && format != "chrome-json") return {.stacks = kNone, .memory = kNone};
  return {.stacks = "profile with with_stack=True, and ingest without --no-stacks",
          .memory = format == "ascend-db"
                        ? "those of a database of Ascend's profiler (tables OP_MEMORY, NPU_OP_MEM) are not read"
                        : "record them with profile_memory=True",
          .shapes = "record them with record_shapes=True",
          .counters =
              format == "kineto" ? "PyTorch's profiler writes them with _ExperimentalConfig(profiler_metrics=...)" : "",
          .operators = "profile the CPU, too"};
}

}  // namespace tracedb
