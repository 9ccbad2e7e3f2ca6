// From an index to the values the comparison works on. Errors are those of reading an index (sql/file/column_scan.h).
//
// Kernels with equal starts are in the order of the file, as in that tool. Annotations with equal starts are not: the
// longer one comes first. Correlations that are no 64-bit integers count as none, negative durations as 0. Python
// stacks are not looked up: a kernel without an operator of its external id has none.
#pragma once

#include "compare/wafer/trace.h"
#include "index/index.h"

namespace tracedb::wafer {

Trace read_trace(const Index& index, Side side);

// The platform and the device are read from what the trace lists first under deviceProperties, whatever device was
// used.

// AMD with a roctracer version, or warps of 64.
Platform platform_of(const Index& index);

Device read_device(const Index& index);

}  // namespace tracedb::wafer
