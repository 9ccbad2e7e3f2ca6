// What a trace without a kernel, copy or fill is instead, and what to record: JSON of another program is accepted like
// that of PyTorch's profiler, and would be silently empty. The table is schema/other_programs.rules.
#pragma once

#include <string_view>

#include "ingest/read/trace_facts.h"
#include "ingest/store/trace_store.h"

namespace tracedb {

// Of a trace that is read to its end. Where it has no device event, adds the issue kNoEvents, kNoDeviceEvents or, for
// JSON of a program whose device events are not read, kForeignFormat; its operators then become slices, and
// facts.format "chrome-json". `format`: the name in the table of formats.
void note_no_device_events(std::string_view format, TraceStore& store, TraceFacts& facts);

}  // namespace tracedb
