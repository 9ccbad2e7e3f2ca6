// The device and host tracks of Ascend's trace_view.json (framework profiler) and msprof_*.json (msprof). Their events
// have no category: the name of the process tells what an event is. Process names may come anywhere in the file, so
// events wait in TraceStore::tasks until the whole file has been read.
//
//   "Ascend Hardware"              kernels, memory operations, and slices for what only orders or waits
//   "HCCL", "Communication"        collectives (kernels too); their transfers and notifications: slices
//   "CANN"                         runtime calls, tied to tasks by connection_id
//   any other                      slices
#pragma once

#include "ingest/store/trace_store.h"

namespace tracedb {

// Moves the store's tasks to where they belong; true if there were any of Ascend's processes. After
// TraceStore::finish().
bool place_tasks(TraceStore& store);

}  // namespace tracedb
