// Facts about the whole run in a database of Ascend's profilers: its metadata, devices and rank.
#pragma once

#include "ingest/read/trace_facts.h"
#include "ingest/rows/source_rows.h"

namespace tracedb {

void describe_ascend_run(SourceTables& tables, TraceFacts& facts);

}  // namespace tracedb
