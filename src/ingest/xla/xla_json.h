// Reader of the JSON that XLA's profilers write beside an xplane.pb (NAME.trace.json.gz), and of the copy of it for
// Perfetto: the same planes and lines as processes and threads, without programs, launch configurations and memory.
// tsl/profiler/convert/trace_events_to_json.cc of XLA. At most a million events; memory grows as with xplane.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "base/stream/byte_source.h"
#include "ingest/read/trace_header.h"
#include "ingest/rows/row_sink.h"

namespace tracedb {

// Whether JSON that begins like this is of XLA: planes are the names of its processes, and events have no category.
bool begins_as_xla_json(std::string_view head);

// Returns how many rows of cpu_op are no events of the trace.
// `directory`: for a file without a name, as large as the trace.
std::uint64_t read_xla_json(ByteSource& source, const std::filesystem::path& directory, RowSink& sink,
                            TraceFacts& facts);

}  // namespace tracedb
