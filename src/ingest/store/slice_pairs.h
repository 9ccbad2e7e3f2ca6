// Slices that a trace gives as two events, begin and end, to SliceRecords.
//
// Rules, those of the Chrome trace format. B and E pair on their thread; b and e by category, id and scope; S and F by
// category, id, scope and name. Events pair in the order of their times, at equal times in that of the file. An end
// closes the innermost open begin of its name; one without a name, which only S and F must have, the innermost of all.
// Events of tiles pair as tile_pairs.h says.
#pragma once

#include "ingest/store/records.h"

namespace tracedb {

class TraceStore;

// Orders the events of one pair of phases that can belong together, then by time.
struct ByPair {
  bool operator()(const SliceEndpointRecord& a, const SliceEndpointRecord& b) const {
    if (group_before(a, b)) return true;
    return !group_before(b, a) && a.ts < b.ts;
  }
  static bool group_before(const SliceEndpointRecord& a, const SliceEndpointRecord& b);
};

// Reads store.endpoints to its end. Adds to the store's slices, issues and counts.
void pair_slices(TraceStore& store);

}  // namespace tracedb
