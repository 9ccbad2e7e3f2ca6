// The kinds that ingest gives to kernels, runtime calls and memory operations, and their names in an index (columns
// `kind`). kUnknown stands for whatever else is in that column.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tracedb {

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

}  // namespace tracedb
