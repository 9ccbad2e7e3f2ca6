// Reader of XSpace, the protobuf that the profilers of JAX, TensorFlow and PyTorch/XLA write (*.xplane.pb): one
// message, without a length before it. tsl/profiler/protobuf/xplane.proto.
//
// A plane has its events before the names of them, so it is walked through twice. Memory grows with the names and with
// the kernels, not with the events.
#pragma once

#include <string>

#include "ingest/read/trace_header.h"
#include "ingest/rows/row_sink.h"
#include "ingest/xla/proto_file.h"

namespace tracedb {

// Returns how many rows of cpu_op are no events of the trace. `name`: of the file, printable. Throws Error{kInput}
// where there is no plane in it.
std::uint64_t read_xspace(ProtoFile& file, const std::string& name, RowSink& sink, TraceFacts& facts);

}  // namespace tracedb
