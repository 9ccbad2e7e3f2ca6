// Accelerators of a trace: the devices events ran on joined with those the trace's header describes.
#pragma once

#include <string>
#include <vector>

#include "ingest/read/trace_header.h"
#include "ingest/store/trace_store.h"

namespace tracedb {

struct DeviceRow {
  TrackKey key;  // profiler's device number (or text)
  bool used = false;
  std::string vendor;
  std::string properties = {};  // JSON object of the header; empty: not described
  std::string model = {};       // without properties: those of a device of the only model that the header lists
};

// The used devices come first, in the order of TraceStore::devices, so that their position + 1 is their id.
std::vector<DeviceRow> devices_of(const TraceStore& store, const TraceFacts& facts);

// nvidia, amd, intel, ascend or unknown: by the format, by the header's versions and device names, else by the names of
// runtime calls.
std::string vendor_of(const TraceStore& store, const TraceFacts& facts);

}  // namespace tracedb
