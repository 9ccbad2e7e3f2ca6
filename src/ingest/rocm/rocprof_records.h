// What rocprofv3 records, in its JSON files and in its databases alike, as records of an index: kernels, copies, calls,
// roctx ranges and marks. Both readers fill the structures below; unknown numbers are kUnknownValue.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/unknown.h"
#include "ingest/rows/row_sink.h"

namespace tracedb {

struct RocprofPlace {
  std::int64_t device = kUnknownValue;  // among the GPUs of the machine
  std::int64_t stream = kUnknownValue, queue = kUnknownValue;
  std::int64_t correlation = kUnknownValue;  // of the call that started it
  TrackKey process{};                        // that made this call
};

struct RocprofKernel {
  TimeSpan span{};
  RocprofPlace place;
  std::string_view name{};                                                         // empty: unknown
  std::array<std::int64_t, 3> items{kUnknownValue, kUnknownValue, kUnknownValue};  // work items in the grid
  std::array<std::int64_t, 3> group{kUnknownValue, kUnknownValue, kUnknownValue};  // work items in a group
  std::int64_t shared_memory = kUnknownValue;                                      // bytes
};

struct RocprofCopy {
  TimeSpan span{};
  RocprofPlace place;
  std::string_view operation{};  // "MEMORY_COPY_HOST_TO_DEVICE"
  std::int64_t bytes = kUnknownValue;
};

// Something that a thread of the host did.
struct RocprofRegion {
  TimeSpan span{};
  std::uint32_t thread = 0;      // of the sink
  std::string_view domain{};     // "HIP_RUNTIME_API", "MARKER_CORE_API", ...
  std::string_view operation{};  // "hipLaunchKernel", "roctxRangePushA"
  std::string_view message{};    // of a range or mark; empty: it has none
  std::int64_t correlation = kUnknownValue;
};

void add_rocprof_kernel(const RocprofKernel& kernel, RowSink& sink);
// Named as the PyTorch profiler names copies on ROCm.
void add_rocprof_copy(const RocprofCopy& copy, RowSink& sink);
// Calls of HIP and HSA: runtime calls; ranges: annotations; marks: instants; anything else: slices.
void add_rocprof_region(const RocprofRegion& region, RowSink& sink);

// One entry of the header's deviceProperties. `units`, `wave`: compute units and lanes of a wave.
void append_rocprof_device(std::int64_t number, std::string_view name, std::int64_t units, std::int64_t wave,
                           std::string& devices);

}  // namespace tracedb
