// From an index to the values the comparison works on. Errors are those of reading an index (sql/column_scan.h).
//
// Kernels with equal starts are in the order of the index: the longer one first, where that tool keeps the order of the
// file. Correlations that are no 64-bit integers count as none.
#pragma once

#include "compare/wafer/trace.h"
#include "index/index.h"

namespace tracedb::wafer {

Trace read_trace(const Index& index, Side side);

}  // namespace tracedb::wafer
