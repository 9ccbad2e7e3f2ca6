// Slices that a trace gives as two events, begin and end, to SliceRecords.
//
// Rules, those of the Chrome trace format. B and E pair on their thread; b and e by category, id and scope; S and F by
// category, id, scope and name. Events pair in the order of their times, at equal times in that of the file. An end
// closes the innermost open begin of its name; one without a name, which only S and F must have, the innermost of all.
// Events of tiles pair as TilePairs says.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ingest/store/records.h"
#include "trace/tile_events.h"

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

// Begins and ends of the events of AI Engine tiles to SliceRecords, and the marks of their cores to kernels.
//
// An event of a tile is on or off: it never nests. A begin that finds its event on has lost an end, an end that finds
// it off has lost its begin and becomes an instant, so that no pair reaches across what is lost. Kernels are what
// trace/tile_events.h finds between the begins of INSTR_EVENT_0 and the ends of INSTR_EVENT_1 of a core.
class TraceStore;

class TilePairs {
 public:
  explicit TilePairs(TraceStore& store) : store_(store) {}

  void add(const SliceEndpointRecord& edge);  // PairKind::kTile, in time order, one process after the other
  void finish();                              // behind the last edge of a process

 private:
  void keep_open(const SliceEndpointRecord& begin);
  void keep_end(const SliceEndpointRecord& end);
  void add_kernels();
  TileEvent event_of(std::uint32_t name);
  const std::string& label_of(std::uint32_t process);

  TraceStore& store_;
  std::map<std::uint64_t, SliceEndpointRecord> open_;  // by track and name
  std::vector<TileEvent> events_;                      // by name, as far as asked for
  std::vector<std::string> labels_;                    // of the tiles, by process
  std::vector<std::int64_t> starts_, ends_;            // of kernels
  std::uint32_t process_ = 0;                          // 0: no edge since the last finish()
  std::uint32_t start_name_ = 0, end_name_ = 0;
};

}  // namespace tracedb
