// Readers of what the profilers of JAX, TensorFlow and PyTorch/XLA write. Both tell the store to find the operators of
// device events by External ids, and count the rows of cpu_op that are no events of the trace.
#pragma once

#include <string>
#include <string_view>

#include "base/stream/byte_source.h"
#include "ingest/read/trace_header.h"
#include "ingest/rows/row_sink.h"
#include "ingest/xla/proto_file.h"

namespace tracedb {

// XSpace, a protobuf (*.xplane.pb): one message, without a length before it. tsl/profiler/protobuf/xplane.proto.
//
// A plane has its events before the names of them, so it is walked through twice. Memory grows with the names and with
// the kernels, not with the events.
//
// `name`: of the file, printable. Throws Error{kInput} where there is no plane in it.
void read_xspace(ProtoFile& file, const std::string& name, RowSink& sink, TraceFacts& facts);

// The JSON that XLA's profilers write beside an xplane.pb (NAME.trace.json.gz), and the copy of it for Perfetto: the
// same planes and lines as processes and threads, without programs, launch configurations and memory.
// tsl/profiler/convert/trace_events_to_json.cc of XLA. At most a million events, which go to a nameless file as large
// as the trace; memory grows as with an XSpace.
void read_xla_json(ByteSource& source, RowSink& sink, TraceFacts& facts);
// Whether JSON that begins like this is of XLA: planes are the names of its processes, and events have no category.
bool begins_as_xla_json(std::string_view head);

}  // namespace tracedb
