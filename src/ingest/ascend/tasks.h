// Ascend's device tasks and host calls: what their names say, and where those of Chrome traces belong.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ingest/store/trace_store.h"

namespace tracedb {

// As the profiler numbers the model of a task that belongs to none.
inline constexpr std::int64_t kNoModel = 0xffffffff;

// Copies and fills by the device's own engines: "MEMCPY_ASYNC", "MEMSET_ASYNC".
inline bool is_memset_task(std::string_view name) { return name.starts_with("MEMSET"); }
inline bool is_memory_task(std::string_view name) { return name.starts_with("MEMCPY") || is_memset_task(name); }

// The runtime's types of kernels: KERNEL_AICORE, KERNEL_AIVEC, KERNEL_MIX_AIC, KERNEL_MIX_AIV, KERNEL_AICPU.
inline bool is_kernel_type(std::string_view type) { return type.starts_with("KERNEL_"); }
// What a task of the device's track does, by its type and by its name. kNone: it orders, waits, signals or moves data,
// or the runtime named it by its type, which says nothing of its work.
enum class TaskWork : std::uint8_t { kCompute, kNone, kUnknown };
TaskWork work_of_task(std::string_view task_type, std::string_view name);

// The type of the operation where the name of its task tells it ("aclnnMul_MulAiCore_Mul", "trans_TransData_12",
// "Conv2D1" and "Conv2D1_MemSet"); else the name itself.
std::string_view operation_type(std::string_view task_name);

// The name of a host call as trace_view.json has it: "Node@launch" for call "launch" of level "node".
std::string cann_call_name(std::string_view level, std::string_view call);

// Parses the name of an Ascend collective: "hcom_allReduce__586_0_1" is the first (0) all-reduce of group 586.
struct HcomName {
  std::string_view type;       // "hcom_allReduce_", as in the profiler's column of types
  std::string_view operation;  // "allReduce"
  std::string_view group;      // "586": the last digits of the group's hash
  std::int64_t sequence = 0;   // within the group, from 0
};

// nullopt: no name of a collective's task.
std::optional<HcomName> parse_hcom_name(std::string_view name);
// Whether a type or task name is of a collective.
inline bool is_hcom(std::string_view name) { return name.starts_with("hcom_"); }

// The device and host tracks of Ascend's trace_view.json (framework profiler) and msprof_*.json (msprof). Their events
// have no category: the name of the process tells what an event is. Process names may come anywhere in the file, so
// events wait in TraceStore::tasks until the whole file has been read.
//
//   "Ascend Hardware"              kernels, memory operations, and slices for what only orders or waits
//   "HCCL", "Communication"        collectives (kernels too); their transfers and notifications: slices
//   "CANN"                         runtime calls of the process's own threads, tied to tasks by connection_id
//   any other                      slices
//
// Moves the store's tasks to where they belong; true if there were any of Ascend's processes. After
// TraceStore::finish().
bool place_tasks(TraceStore& store);

}  // namespace tracedb
