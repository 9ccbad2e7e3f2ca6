// Ascend's profilers write one run several times over: as a database, a Chrome trace and a table of kernels. Of what a
// search of folders finds, one source of each run is read.
//
// One run is what lies below one `*_ascend_pt`, `*_ascend_ms`, `ASCEND_PROFILER_OUTPUT` or `PROF_*` folder; elsewhere
// the files of one folder with the same text in front of the profiler's name for them (`rank0_trace_view.json`), if
// there is no more than one of each kind.
#pragma once

#include <filesystem>
#include <vector>

#include "ingest/trace_list.h"

namespace tracedb {

// Moves what holds the same run as a fuller source from list.traces to list.same_run, with what lies beside it and is
// no trace, and adds a line to list.choices for each run. Files that are among `named` stay, and choose nothing.
void keep_one_source_a_run(TraceList& list, const std::vector<std::filesystem::path>& named);

}  // namespace tracedb
