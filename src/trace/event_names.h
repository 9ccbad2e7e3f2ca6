// What the name of an event says by itself: the kind of a runtime call, whether a kernel communicates or copies, which
// way a copy goes, which file and line a python frame stands for. Facts of naming that ingest stores; operator classes
// are opinions and live in schema/rules.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tracedb {

// The kinds that ingest gives to kernels, runtime calls and memory operations, and their names in an index (columns
// `kind`). kUnknown stands for whatever else is in that column.

enum class KernelKind : std::uint32_t { kUnknown, kCompute, kComm, kCopyKernel, kCommCompute };
enum class CallKind : std::uint32_t { kUnknown, kLaunch, kGraphLaunch, kCopy, kSync, kOther };
enum class MemoryKind : std::uint32_t { kUnknown, kMemcpy, kMemset };

// By kind - 1.
inline constexpr std::array<std::string_view, 4> kKernelKindNames = {"compute", "comm", "copy_kernel", "comm_compute"};
inline constexpr std::array<std::string_view, 5> kCallKindNames = {"launch", "graph_launch", "copy", "sync", "other"};
inline constexpr std::array<std::string_view, 2> kMemoryKindNames = {"memcpy", "memset"};

// A kind as the cell of a row that is written: its position among the names. Not for kUnknown.
template <class Kind>
std::int64_t kind_cell(Kind kind) {
  return static_cast<std::int64_t>(kind) - 1;
}

// How a window of a trace begins that trace-query export wrote: it can be made again.
inline constexpr std::string_view kWindowMark = "{\"tracedb\":{";

// Names of CUDA runtime, CUDA driver, HIP and MTIA alike ("cudaLaunchKernel_v7000", "cuLaunchKernelEx",
// "hipGraphLaunch").
CallKind call_kind(std::string_view name);

// Of names: ROCm's kernels that only copy, and functions that compute besides what they communicate (a norm, a GEMM).
// Which kernels communicate at all is for the rules to say (passes/classify/kernel_kind.h).
bool is_copy_kernel(std::string_view name);
bool also_computes(std::string_view name);

// Ways a copy can go: "", "HtoD", "DtoH", ... The first one, empty, stands for "the name does not say".
std::span<const std::string_view> copy_directions();
// Position in copy_directions(), from Kineto names such as "Memcpy HtoD (Pinned -> Device)".
std::size_t copy_direction_index(std::string_view name);

// Demangled, without return type, template and argument lists: "at::native::vectorized_elementwise_kernel".
std::string short_name(std::string_view name);
std::string demangle(std::string_view name);  // the name itself where it is not mangled

struct FrameLabel {
  std::string_view function;  // whole name where there is no file
  std::string_view file;      // empty: none
  std::int64_t line = 0;
};
// "vllm/model.py(12): forward" -> {forward, vllm/model.py, 12}
FrameLabel frame_label(std::string_view name);

}  // namespace tracedb
