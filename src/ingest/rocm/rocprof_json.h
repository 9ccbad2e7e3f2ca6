// The JSON files of rocprofv3 (--output-format json), "rocprofiler-sdk-tool": one object for each process, of which are
// read
//
//   metadata, agents, kernel_symbols, strings   what the records name by number
//   buffer_records   kernel_dispatch: kernels; memory_copy: copies; hip_api, hsa_api: calls; marker_api: roctx ranges
//                    (annotations) and marks (instants); records of other lists that have times: slices
//
// Times are integer nanoseconds. Counters of kernels (callback_records) and samples of program counters have no place
// in an index: they are counted as skipped. In front of the records stand the names; a kernel without one is an issue.
#pragma once

#include "base/stream/byte_source.h"
#include "ingest/read/trace_header.h"
#include "ingest/rows/row_sink.h"

namespace tracedb {

// false: there are no lists of records in it.
bool read_rocprof_json(ByteSource& source, RowSink& sink, TraceFacts& facts);

}  // namespace tracedb
